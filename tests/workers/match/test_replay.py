"""A recorded game played again: the same game, or the first different move."""

from __future__ import annotations

import pytest

from engines.protocol import Go
from engines.records import Record, Termination
from engines.records.seeds import SEED_LIMIT, derive_seed, seed_header, seed_of
from engines.rules.base import Result
from tests.support.players import ScriptedPlayer, record_of_played, search, setup_of
from tests.support.records import record_of, with_headers
from workers.game.referee import Forfeit, play_game
from workers.match.replay import Difference, ReplayError, replay_game

MOVES = tuple("d1+ c2+ c1+ d2+ b1+ b2+".split())
WHITE, BLACK = MOVES[::2], MOVES[1::2]


def recorded(white: list[str | Exception], black: list[str | Exception], **more: object) -> Record:
    """The record of a game of six plies, or of fewer where a player does something else than move."""
    setup = setup_of(ply_limit=6, **more)  # type: ignore[arg-type]
    played = play_game(setup, ScriptedPlayer(white), ScriptedPlayer(black))
    return record_of_played(played, ply_limit=6)


def replayed(
    record: Record, white: list[str | Exception] | None = None, black: list[str | Exception] | None = None
) -> Difference | None:
    return replay_game(
        record,
        ScriptedPlayer(list(WHITE) if white is None else white),
        ScriptedPlayer(list(BLACK) if black is None else black),
    )


def fields_of(difference: Difference | None) -> tuple[int, str, str]:
    assert difference is not None
    return difference.ply, difference.recorded, difference.played


GAME = recorded([*WHITE], [*BLACK])


def test_the_same_choices_are_the_same_game() -> None:
    assert GAME.header("Termination") == Termination.PLY_LIMIT
    assert replayed(GAME) is None


def test_the_first_other_move_is_the_difference() -> None:
    difference = replayed(GAME, black=["c2+", "a2-", "b2+"])
    assert fields_of(difference) == (4, "d2+", "a2-")
    assert difference is not None
    assert str(difference.position).endswith(" b 0 0 - - 3")


def test_given_moves_are_given_again() -> None:
    record = recorded(["c1+", "b1+"], ["d2+", "b2+"], opening="d1+ c2+")
    assert replayed(record, ["c1+", "b1+"], ["d2+", "b2+"]) is None


@pytest.mark.parametrize(
    ("end", "name"),
    [
        ("resign", "resignation"),
        ("a1+-", "illegal move"),
        (Forfeit(Termination.CRASH, "the process ended with exit code 3"), "crash"),
    ],
)
def test_an_end_outside_the_rules_must_be_repeated(end: str | Exception, name: str) -> None:
    record = recorded(["d1+", end], [*BLACK])
    assert replayed(record, ["d1+", end]) is None
    assert fields_of(replayed(record, ["d1+", "c1+"])) == (3, f"{name}, 0-1", "c1+")
    again = Forfeit(Termination.TIME, "no answer")
    assert fields_of(replayed(record, ["d1+", again])) == (3, f"{name}, 0-1", "time forfeit, 0-1")


def test_an_end_before_the_record_s_is_a_difference() -> None:
    crash = Forfeit(Termination.CRASH, "the process ended with exit code 3")
    assert fields_of(replayed(GAME, ["d1+", crash])) == (3, "c1+", "crash, 0-1")
    assert fields_of(replayed(GAME, black=["resign"])) == (2, "c2+", "resign")


def test_an_adjudicated_game_is_the_same_once_its_moves_are() -> None:
    record = record_of("dogon-kulei", MOVES[:2], result=Result.DRAW, termination=Termination.ADJUDICATION)
    assert replayed(record) is None
    assert fields_of(replayed(record, ["c1+"])) == (1, "d1+", "c1+")


def test_players_that_cannot_begin_are_no_difference() -> None:
    unable = Forfeit(Termination.STALL, "no ugiok")
    with pytest.raises(ReplayError, match="both engines unable to start: white: no ugiok"):
        replay_game(GAME, ScriptedPlayer(unable=unable), ScriptedPlayer(unable=unable))


def test_a_wrong_record_is_not_replayed() -> None:
    with pytest.raises(ReplayError, match="the record is wrong: header PlyCount"):
        replayed(with_headers(GAME, {"PlyCount": "7"}))


def test_a_void_game_is_not_replayed() -> None:
    void = record_of("dogon-kulei", MOVES[:2], result=Result.UNDECIDED, termination=Termination.VOID)
    with pytest.raises(ReplayError, match="the game is void"):
        replayed(with_headers(void, {"Fault": "infrastructure"}))


def test_the_seed_in_a_record_is_the_game_s_own() -> None:
    name, value = seed_header(7, "spring/1/1/1")
    assert seed_of(with_headers(GAME, {name: value})) == derive_seed(7, "spring/1/1/1")


@pytest.mark.parametrize("value", ["", "x", "-1", str(SEED_LIMIT), "²"])
def test_an_invalid_seed_is_none(value: str) -> None:
    assert seed_of(with_headers(GAME, {"Seed": value})) is None


def test_each_player_has_the_time_control_it_had() -> None:
    odds = with_headers(GAME, {"WhiteTimeControl": "nodes=7", "BlackTimeControl": "depth=2"})
    white, black = ScriptedPlayer(list(WHITE)), ScriptedPlayer(list(BLACK))
    assert replay_game(odds, white, black) is None
    assert [search(player.turns[0]) for player in (white, black)] == [Go(nodes=7), Go(depth=2)]


def test_an_invalid_time_control_is_reported() -> None:
    with pytest.raises(ReplayError, match="the record is wrong: cannot read 'soon'"):
        replayed(with_headers(GAME, {"WhiteTimeControl": "soon"}))
