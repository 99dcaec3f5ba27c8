"""The values of a replay's chart."""

from __future__ import annotations

import pytest

from engines.protocol import Score
from engines.records import MoveNote, RecordMove
from engines.rules.base import Side
from engines.rules.registry import find_game
from tournament.views.games.chart import chart_values, hundredths
from tournament.views.games.replay import Replay, build_replay

NOTES = [
    None,
    MoveNote(Score(centipawns=0), 3, 250, 10),
    MoveNote(Score(mate=5), None, None, None),
    MoveNote(None, None, 1500, None),
]


def some_replay() -> Replay:
    """Four plies, the first of them given."""
    rules = find_game("dogon-kulei")
    position, moves = rules.position.initial(), []
    for note in NOTES:
        token = next(position.legal_moves())
        moves.append(RecordMove(token, note, book=note is None))
        position = position.play(token)
    return build_replay(rules, "", moves)


def test_each_ply_has_what_its_engine_reported_and_gaps_elsewhere() -> None:
    assert chart_values(some_replay()) == {
        "since": 0,
        "first": "white",
        "score": [None, 50, 100, None],
        "nodes": [None, 10, None, None],
    }


def test_the_first_player_is_the_side_to_move_at_the_start() -> None:
    assert chart_values(build_replay(find_game("dualma"), "", []))["first"] == "black"


def test_nodes_have_two_digits() -> None:
    rules = find_game("dogon-kulei")
    token = next(rules.position.initial().legal_moves())
    note = MoveNote(None, None, 12345, 7654321)
    values = chart_values(build_replay(rules, "", [RecordMove(token, note)]))
    assert values["nodes"] == [7700000]


def test_a_live_game_gets_the_values_after_the_ply_it_has() -> None:
    values = chart_values(some_replay(), since=3)
    assert values == {"since": 3, "first": "white", "score": [None], "nodes": [None]}


@pytest.mark.parametrize(
    ("score", "side", "points"),
    [
        (None, Side.WHITE, None),
        (Score(mate=23), Side.WHITE, 100),
        (Score(mate=23), Side.BLACK, 0),
        (Score(mate=-4), Side.BLACK, 100),
        (Score(centipawns=0), Side.BLACK, 50),
        (Score(centipawns=450), Side.WHITE, 73),
        (Score(centipawns=450), Side.BLACK, 27),
        (Score(centipawns=10**15), Side.WHITE, 100),
    ],
)
def test_a_score_becomes_hundredths_of_what_white_can_expect(
    score: Score | None, side: Side, points: int | None
) -> None:
    assert hundredths(score, side, 450) == points
