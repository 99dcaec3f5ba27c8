"""The referee, with players that answer from a script: the winner, the reason, and the fault."""

from __future__ import annotations

from typing import Any

import pytest

from engines.protocol import Go, Score
from engines.records import Fault, MoveNote, Termination, format_record, verify_record
from engines.rules.base import IllegalMove, Reason, Result
from tests.support.players import FirstMovePlayer, ScriptedPlayer, answer, record_of_played, search, setup_of
from workers.game.charges import Charge
from workers.game.referee import (
    EngineMove,
    Forfeit,
    GameSetup,
    GameState,
    MoveRequest,
    PlayedGame,
    Void,
    play_game,
)
from workers.jobs import BOTH_UNABLE

MS = 1_000_000
CYCLE_START = "0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0"
CYCLE = "pass f2- e1+ pass f1- pass d1- pass c1- pass b1- pass a1- b2+ pass a2- pass c2- pass d2- pass e2-"
DECIDED = "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1"
PLACED = "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"
"""DuAlma, past its placements; White to move."""
CRASH = Forfeit(Termination.CRASH, "the process ended with exit code 1")
STALL = Forfeit(Termination.STALL, "no ugiok within 10 seconds")


def script(*steps: str | EngineMove | Exception) -> ScriptedPlayer:
    return ScriptedPlayer(steps)


def play(setup: GameSetup, white: ScriptedPlayer, black: ScriptedPlayer) -> PlayedGame:
    return play_game(setup, white, black)


def tokens(played: PlayedGame) -> str:
    return " ".join(move.token for move in played.moves)


def assert_true_record(played: PlayedGame, code: str = "dogon-kulei", **more: Any) -> None:
    record = record_of_played(played, code, **more)
    assert verify_record(record) == []
    assert format_record(record)


# How a game ends on the board


@pytest.mark.parametrize("code", ["duovallis", "dogon-kulei", "dogon-gagara"])
def test_a_game_is_played_to_its_end(code: str) -> None:
    white, black = FirstMovePlayer(), FirstMovePlayer()
    played = play(setup_of(code), white, black)
    assert played.termination in (Termination.RULES, Termination.REPETITION, Termination.PLY_LIMIT)
    assert (played.fault, played.evidence) == (Fault.NONE, "")
    assert_true_record(played, code)


def test_the_rules_end_a_game_with_their_reason_and_scores() -> None:
    fen = "0,0,0,0,0,1/0,0,0,0,0,2 w 20 25 - - 0"
    played = play(setup_of(fen=fen), FirstMovePlayer(), FirstMovePlayer())
    assert played.termination is Termination.RULES
    assert played.reason in (Reason.SEEDS, Reason.CANNOT_PAY)
    assert (played.white_score or 0) + (played.black_score or 0) == 48
    assert_true_record(played, fen=fen)


def test_a_third_occurrence_ends_the_game_without_a_reason_beside_it() -> None:
    moves = (CYCLE + " " + CYCLE).split()
    played = play(setup_of(fen=CYCLE_START), script(*moves[0::2]), script(*moves[1::2]))
    assert len(played.moves) == 44
    assert (played.termination, played.reason, played.fault) == (
        Termination.REPETITION,
        Reason.NONE,
        Fault.NONE,
    )
    assert (played.white_score, played.black_score) == (19, 29)
    assert played.result is Result.BLACK_WINS
    assert_true_record(played, fen=CYCLE_START)


def test_the_ply_limit_ends_the_game() -> None:
    played = play(setup_of(ply_limit=6), FirstMovePlayer(), FirstMovePlayer())
    assert len(played.moves) == 6
    assert (played.termination, played.reason) == (Termination.PLY_LIMIT, Reason.NONE)
    assert_true_record(played, ply_limit=6)


def test_a_decided_start_is_judged_without_asking_a_player() -> None:
    white, black = script(), script()
    played = play(setup_of(fen=DECIDED), white, black)
    assert (played.result, played.termination, played.reason) == (Result.DRAW, Termination.RULES, "seeds")
    assert (played.white_score, played.black_score) == (24, 24)
    assert (white.prepared, black.prepared) == (0, 0)
    assert_true_record(played, fen=DECIDED)


def test_an_opening_that_ends_the_game_is_the_whole_game() -> None:
    white, black = script(), script()
    played = play(setup_of(opening="c1+ c2+", ply_limit=2), white, black)
    assert tokens(played) == "c1+ c2+"
    assert all(move.book for move in played.moves)
    assert played.termination is Termination.PLY_LIMIT
    assert white.turns == black.turns == []
    assert_true_record(played, ply_limit=2)


def test_an_opening_that_cannot_be_played_raises() -> None:
    with pytest.raises(IllegalMove, match="'c1x'"):
        play(setup_of(opening="c1+ c1x"), script(), script())


def test_given_moves_are_marked_and_the_game_continues_after_them() -> None:
    played = play(setup_of(opening="c1+", ply_limit=3), script("d1+"), script("c2+"))
    assert [(move.token, move.book) for move in played.moves] == [
        ("c1+", True),
        ("c2+", False),
        ("d1+", False),
    ]
    assert_true_record(played, ply_limit=3)


def test_the_search_info_of_a_move_is_kept() -> None:
    note = MoveNote(Score(35), 12, 104)
    played = play(setup_of(ply_limit=1), script(answer("c1+", 104, note)), script())
    assert played.moves[0].note == note


# Forfeits

FORFEITS = [
    Forfeit(Termination.UNSOLICITED, "a bestmove was waiting"),
    Forfeit(Termination.TIME, "no answer within 1050 ms"),
    CRASH,
    Forfeit(Termination.FLOOD, "a line of output was over 64 KiB"),
    *(
        Forfeit(limit, "over its limit")
        for limit in (Termination.MEMORY, Termination.PROCESS, Termination.CPU, Termination.FILE)
    ),
]


@pytest.mark.parametrize("forfeit", FORFEITS, ids=lambda forfeit: forfeit.termination)
@pytest.mark.parametrize("loser", ["white", "black"])
def test_a_fault_while_choosing_loses_the_game(forfeit: Forfeit, loser: str) -> None:
    if loser == "white":
        played = play(setup_of(), script("c1+", forfeit), script("c2+"))
    else:
        played = play(setup_of(), script("c1+"), script(forfeit))
    assert played.result == {"white": "0-1", "black": "1-0"}[loser]
    assert (played.termination, played.fault) == (forfeit.termination, loser)
    assert (played.evidence, played.reason) == (str(forfeit), Reason.NONE)
    assert tokens(played) == {"white": "c1+ c2+", "black": "c1+"}[loser]
    assert_true_record(played)


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("c2+", "illegal move 'c2+' in position '4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0'"),
        ("C1+", "illegal move 'C1+'"),
        ("(none)", "illegal move '(none)'"),
        ("\x1b[31mc1+", r"illegal move '\x1b[31mc1+'"),
        ("", "the bestmove line named no move"),
        ("x" * 61440, f"unreadable move '{'x' * 80}…' of 61440 characters"),
    ],
)
def test_an_illegal_move_loses_and_is_not_recorded(token: str, sentence: str) -> None:
    played = play(setup_of(), script(token), script())
    assert (played.result, played.termination, played.fault) == ("0-1", Termination.ILLEGAL_MOVE, Fault.WHITE)
    assert played.evidence.startswith(sentence)
    assert played.moves == ()
    assert_true_record(played)


@pytest.mark.parametrize("loser", ["white", "black"])
@pytest.mark.parametrize("fault", [CRASH, STALL], ids=lambda fault: fault.termination)
def test_one_engine_unable_to_start_loses(fault: Forfeit, loser: str) -> None:
    white = ScriptedPlayer(unable=fault if loser == "white" else None)
    black = ScriptedPlayer(unable=fault if loser == "black" else None)
    played = play(setup_of(opening="c1+"), white, black)
    assert (played.termination, played.fault, played.evidence) == (fault.termination, loser, str(fault))
    assert tokens(played) == "c1+"
    assert_true_record(played)


def test_resigning_loses_and_is_no_fault() -> None:
    played = play(setup_of(), script("c1+"), script("resign"))
    assert (played.result, played.termination, played.fault) == ("1-0", Termination.RESIGNATION, Fault.NONE)
    assert_true_record(played)


# Voids


def test_both_engines_unable_to_start_is_a_void_that_says_so_first() -> None:
    played = play(setup_of(), ScriptedPlayer(unable=STALL), ScriptedPlayer(unable=CRASH))
    assert (played.result, played.termination, played.fault) == ("*", Termination.VOID, Fault.INFRASTRUCTURE)
    assert played.evidence == (
        "both engines unable to start: white: no ugiok within 10 seconds; "
        "black: the process ended with exit code 1"
    )
    assert played.evidence.startswith(BOTH_UNABLE)
    assert_true_record(played)


@pytest.mark.parametrize("when", ["prepare", "choose"])
def test_a_fault_of_ours_is_a_void_with_the_moves_so_far(when: str) -> None:
    void = Void("the bundle of A is not available")
    black = ScriptedPlayer(unable=void) if when == "prepare" else script(void)
    played = play(setup_of(), script("c1+"), black)
    assert (played.result, played.termination, played.fault) == ("*", Termination.VOID, Fault.INFRASTRUCTURE)
    assert played.evidence == "the bundle of A is not available"
    assert tokens(played) == {"prepare": "", "choose": "c1+"}[when]
    assert_true_record(played)


def test_a_void_outweighs_the_other_sides_fault() -> None:
    played = play(setup_of(), ScriptedPlayer(unable=CRASH), ScriptedPlayer(unable=Void("no disk")))
    assert (played.termination, played.evidence) == (Termination.VOID, "no disk")


def test_an_exception_of_ours_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        play(setup_of(), script(ZeroDivisionError()), script())


# The order of checks


@pytest.mark.parametrize("token", ["c1+", "c2+", "resign", ""])
def test_a_late_answer_loses_on_time_whatever_it_is(token: str) -> None:
    played = play(setup_of(control="1+0"), script(answer(token, 1050.000001)), script())
    assert (played.termination, played.fault) == (Termination.TIME, Fault.WHITE)
    assert played.evidence == "the answer came after 1050 ms, with 1000 ms left and a margin of 50 ms"
    assert_true_record(played, control="1+0")


def test_an_answer_at_the_last_nanosecond_is_in_time() -> None:
    setup = setup_of(control="1+0", ply_limit=1)
    assert play(setup, script(answer("c1+", 1050)), script()).termination is Termination.PLY_LIMIT


def test_time_that_the_machine_withheld_is_neither_charged_nor_late() -> None:
    charge = Charge(1400 * MS, 700 * MS, 50 * MS, 10_000 * MS)
    white = script(EngineMove("d1+", charge.used_ns, None, charge), "a1-")
    played = play(setup_of(control="1+0", ply_limit=3), white, script("d2-"))
    assert (played.termination, white.turns[1].allowance_ns) == (Termination.PLY_LIMIT, 350 * MS)


def test_the_evidence_of_a_late_answer_names_wall_time_charged_time_and_what_was_withheld() -> None:
    charge = Charge(1400 * MS, 300 * MS, 50 * MS, 10_000 * MS)
    played = play(setup_of(control="1+0"), script(EngineMove("d1+", charge.used_ns, None, charge)), script())
    assert (played.termination, played.fault) == (Termination.TIME, Fault.WHITE)
    assert played.evidence == (
        "the answer came after 1400 ms, with 1000 ms left and a margin of 50 ms "
        "(wall time 1400 ms, withheld by the machine 300 ms, charged 1100 ms)"
    )


def test_a_move_that_ends_the_game_too_late_does_not_end_it() -> None:
    played = play(setup_of(control="1+0", ply_limit=1), script(answer("c1+", 1051)), script())
    assert (played.termination, played.moves) == (Termination.TIME, ())


def test_without_a_clock_no_answer_is_late() -> None:
    setup = setup_of(control="nodes=100", ply_limit=1)
    white = script(answer("c1+", 10**7))
    assert play(setup, white, script()).termination is Termination.PLY_LIMIT
    assert white.turns[0].allowance_ns is None
    assert search(white.turns[0]) == Go(nodes=100)


# Clocks


def clocks_asked(player: ScriptedPlayer) -> list[tuple[int | None, int | None]]:
    return [(go.p1_time_ms, go.p2_time_ms) for go in map(search, player.turns)]


def test_each_player_pays_for_his_own_moves() -> None:
    white = script(answer("c1+", 300), answer("d1+", 2000))
    black = script(answer("c2+", 50), answer("d2+", 0))
    play(setup_of(control="1+0.1", ply_limit=4), white, black)
    assert clocks_asked(white) == [(1000, 1000), (800, 1050)]
    played_late = white.turns[1]
    assert played_late.allowance_ns == 850_000_000
    assert clocks_asked(black) == [(800, 1000)]


def test_a_clock_never_shows_less_than_nothing() -> None:
    white = script(answer("c1+", 1040), answer("d1+", 10))
    play(setup_of(control="1+0", ply_limit=3), white, script("c2+"))
    assert clocks_asked(white) == [(1000, 1000), (0, 1000)]


@pytest.mark.parametrize(
    ("code", "fen", "first"),
    [
        ("dogon-kulei", None, "white"),
        ("dogon-kulei", "4,4,5,5,5,5/4,4,4,0,4,4 b 0 0 - - 1", "black"),
        ("dualma", None, "black"),
        ("dualma", PLACED, "white"),
    ],
)
def test_p1_is_the_side_that_moves_first_in_the_game_from_any_start(
    code: str, fen: str | None, first: str
) -> None:
    """After each move its player's clock shows 100 ms less."""
    sides = {"white": FirstMoveAfter(100), "black": FirstMoveAfter(100)}
    setup = setup_of(code, fen=fen, control="1+0", ply_limit=1000)
    starter, other = sides[first], sides["black" if first == "white" else "white"]
    with pytest.raises(StopIteration):
        play_game(setup, sides["white"], sides["black"])
    assert len(starter.turns) == len(other.turns) == 1
    starter_is_p1 = (first == "white") == (setup.game.first == 0)
    assert clocks_asked(starter) == [(1000, 1000)]
    assert clocks_asked(other) == [(900, 1000) if starter_is_p1 else (1000, 900)]


class FirstMoveAfter(ScriptedPlayer):
    """Plays the first legal move once, after ``ms``; raises StopIteration when asked for another."""

    def __init__(self, ms: float) -> None:
        super().__init__()
        self.ms = ms

    def choose(self, turn: object) -> EngineMove:
        if self.turns:
            raise StopIteration
        self.turns.append(turn)  # type: ignore[arg-type]
        return answer(next(turn.history.position.legal_moves()), self.ms)  # type: ignore[attr-defined]


# Messages to the players


def test_the_end_is_sent_to_both_players_once_in_the_protocol_s_words() -> None:
    white, black = script("c1+"), script("resign")
    play(setup_of(), white, black)
    assert white.told == black.told == ["p1win resignation"]


@pytest.mark.parametrize(
    ("code", "loser", "winner"), [("dualma", "black", "p2win"), ("duovallis", "white", "p2win")]
)
def test_the_winner_is_sent_as_p1_or_p2_of_the_game(code: str, loser: str, winner: str) -> None:
    white = ScriptedPlayer(unable=CRASH if loser == "white" else None)
    black = ScriptedPlayer(unable=CRASH if loser == "black" else None)
    play(setup_of(code), white, black)
    assert white.told == [f"{winner} crash"]


def test_the_reason_of_the_rules_is_sent() -> None:
    white = script()
    play(setup_of(fen=DECIDED), white, script())
    assert white.told == ["draw seeds"]


def test_the_state_is_given_out_at_the_start_and_follows_the_game() -> None:
    states: list[GameState] = []
    seen: list[tuple[int, int | None]] = []

    class Looking(ScriptedPlayer):
        def choose(self, turn: MoveRequest) -> EngineMove:
            seen.append((len(states[0].kept), states[0].clocks[0].left_ms))
            return super().choose(turn)

    setup = setup_of(opening="c1+ c2+", ply_limit=4, control="1+0")
    play_game(setup, Looking([answer("d1+", 200)]), Looking(["d2+"]), on_start=states.append)
    assert seen == [(2, 1000), (3, 800)]
    assert len(states[0].kept) == 4


def test_each_player_has_its_own_time_control() -> None:
    white, black = script(answer("d1+", ms=400)), script(answer("d2+", ms=100))
    setup = setup_of(control="10+0.5", black_control="2+0.1;nodes=7", ply_limit=2)
    play(setup, white, black)
    assert search(white.turns[0]) == Go(10_000, 2_000, 500, 100)
    assert search(black.turns[0]) == Go(10_100, 2_000, 500, 100, nodes=7)
    allowances = [player.turns[0].allowance_ns for player in (white, black)]
    assert allowances == [10_050_000_000, 2_050_000_000]


def test_in_dualma_black_is_the_first_player_and_has_his_own_time_control() -> None:
    black = ScriptedPlayer([Forfeit(Termination.CRASH, "gone")])
    play(setup_of("dualma", control="9+0", black_control="1+0.2"), FirstMovePlayer(), black)
    assert search(black.turns[0]) == Go(1_000, 9_000, 200, 0)
