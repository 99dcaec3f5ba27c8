"""Moves as rows."""

from __future__ import annotations

from itertools import islice

from engines.protocol.messages import Score
from engines.records import MoveNote, RecordMove
from engines.rules.registry import GAMES
from engines.timecontrol import parse_time_control
from tournament.views.games.replay import Replay, build_replay
from tournament.views.games.rows import played_moves

LADDER = "dogon-kulei"


def replay_with(*notes: MoveNote | None) -> Replay:
    """A game whose moves have these notes; those without one are of the opening."""
    position, moves = GAMES[LADDER].position.initial(), []
    for note in notes:
        token = next(iter(position.legal_moves()))
        moves.append(RecordMove(token, note, book=note is None))
        position = position.play(token)
    return build_replay(GAMES[LADDER], "", moves)


def test_moves_have_their_notes_and_the_clocks_after_them() -> None:
    told = MoveNote(score=Score(centipawns=42), depth=7, ms=1500, nodes=900, pv=("a", "b"))
    replay = replay_with(None, told, MoveNote(ms=70_000), MoveNote(score=Score(mate=-3), ms=250))
    rows = list(played_moves(replay, parse_time_control("60+1")))
    assert [row.ply for row in rows] == [1, 2, 3, 4]
    assert [row.side for row in rows] == [move.side.name.lower() for move in replay.moves]
    assert [row.position for row in rows] == [str(position) for position in replay.positions[1:]]
    opening, scored, late, lost = rows
    assert (opening.book, opening.score, opening.ms, opening.white_ms, opening.black_ms) == (
        (True, None, None, 60_000, 60_000)
    )  # fmt: skip
    assert (scored.score, scored.mate, scored.depth, scored.nodes, scored.pv) == (
        42,
        None,
        7,
        900,
        ("a", "b"),
    )
    clocks = {"white": [60_000], "black": [60_000]}
    for row, used in ((scored, 1500), (late, 70_000), (lost, 250)):
        clocks[row.side].append(max(0, clocks[row.side][-1] - used) + 1000)
        assert (row.white_ms, row.black_ms) == (clocks["white"][-1], clocks["black"][-1])
    assert (lost.score, lost.mate) == (None, -3)


def test_only_later_moves_are_given_and_a_game_without_clocks_has_none() -> None:
    replay = replay_with(*[MoveNote(ms=10)] * 3)
    (row,) = islice(played_moves(replay, parse_time_control("0.1/move"), after=2), 5)
    assert (row.ply, row.white_ms, row.black_ms) == (3, None, None)
