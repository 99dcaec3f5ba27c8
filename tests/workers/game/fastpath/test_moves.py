"""The fast path changes only the speed: every game is the same with and without it."""

from __future__ import annotations

import itertools
import re
import uuid

import pytest

from engines import compiled
from engines.records import parse_note
from tests.support.bad_engines import LINE
from tests.support.jobs import bad_engine, job_of, plan_of, play_job, processes_with
from tests.workers.play.test_bad_engines import ANSWER, FAULTS, HARMLESS, LONG
from workers.engine import process
from workers.engine.players import UgiPlayer
from workers.game import fastpath
from workers.game.fastpath import moves
from workers.game.fastpath.moves import Pending
from workers.game.referee import EngineMove, GameState, MoveRequest, Player
from workers.jobs import GameReport
from workers.play import runner


@pytest.fixture
def choices(monkeypatch: pytest.MonkeyPatch) -> list[MoveRequest]:
    """The move requests that leave the fast path from now on."""
    asked: list[MoveRequest] = []
    choose = UgiPlayer.choose

    def noted(self: UgiPlayer, turn: MoveRequest) -> EngineMove:
        asked.append(turn)
        return choose(self, turn)

    monkeypatch.setattr(UgiPlayer, "choose", noted)
    return asked


def play(plan: str, control: str, games: int = 1) -> list[GameReport]:
    bad = bad_engine(*plan_of(plan), control=control)
    return play_job(job_of(bad, bad_engine(), games=games, time_control=LONG)).reports


def essence(report: GameReport) -> tuple[object, ...]:
    """The report without its times."""
    evidence = re.sub(r"\d+ ms", "some ms", report.evidence)
    lines = [
        re.sub(r"\d+\.\d{3}|p[12]time \d+|process \d+", "", side.lines)
        for side in (report.white, report.black)
    ]
    return (
        report.fault,
        report.result,
        report.termination,
        [token for token, _ in report.moves],
        evidence,
        lines,
    )


ENGINES = [(name, plan, control) for name, plan, control, *_ in FAULTS] + [
    (name, plan, LONG) for name, plan in HARMLESS
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "control"),
    [
        pytest.param(plan, control, id=name, marks=() if plan.startswith("go") else pytest.mark.thorough)
        for name, plan, control in ENGINES
    ],
)
def test_a_game_ends_the_same_without_the_fast_path_against_an_engine_that(
    plan: str, control: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plans that act before the first move, when the fast path is not in use yet, are marked ``thorough``."""
    with_it = [essence(report) for report in play(plan, control, games=2)]
    monkeypatch.setattr(UgiPlayer, "line", lambda self: None)
    without_it = [essence(report) for report in play(plan, control, games=2)]
    if re.search("flood|many|drip|uginewgame", plan):  # how much was read of it is chance
        with_it, without_it = ([one[:-1] for one in games] for games in (with_it, without_it))
    assert with_it == without_it


def test_engines_without_faults_never_leave_the_fast_path(choices: list[MoveRequest]) -> None:
    (report,) = play("", LONG)
    assert [token for token, _ in report.moves] == LINE[:6]
    assert choices == []


def test_an_unusual_answer_leaves_the_fast_path_for_one_move(
    choices: list[MoveRequest],
) -> None:
    (report,) = play(r"go:2 also info\x20depth\x201\n", LONG)
    assert [token for token, _ in report.moves] == LINE[:6]
    assert len(choices) == 1
    assert choices[0].asked is not None
    assert choices[0].asked.question.count(b"\n") == 2
    assert "/1 " in report.moves[2][1], "the search info of the engine is recorded"


def test_a_position_is_sent_once_even_if_the_move_leaves_the_fast_path(choices: list[MoveRequest]) -> None:
    (report,) = play(r"go:2 also info\x20depth\x201\n go:3 late 0.6", "2+0")
    assert report.termination == "ply limit"
    assert report.white.lines.count("> go ") == 3
    assert len(choices) == 2


def test_heartbeats_continue_on_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(process, "WAIT_NS", 1_000)
    beats = itertools.count()
    monkeypatch.setattr(runner.GameRunner, "_check_in", lambda self: next(beats) and None)
    play("", LONG)
    assert next(beats) > 6


def test_a_stop_ends_the_fast_path(choices: list[MoveRequest], monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[GameState] = []
    play_plainly = GameState.play_plainly

    def noted(self: GameState, players: tuple[Player, Player]) -> Pending | None:
        begun.append(self)
        return play_plainly(self, players)

    monkeypatch.setattr(GameState, "play_plainly", noted)
    mark = f"mark-{uuid.uuid4()}"
    done = play_job(job_of(bad_engine(mark=mark), bad_engine(mark=mark)), is_stopping=lambda: bool(begun))
    assert (len(done.reports), len(done.returned), len(begun), choices) == (0, 1, 1, [])
    assert processes_with(mark) == []


def test_output_out_of_turn_costs_the_opponent_no_time() -> None:
    """The output ends the wait early, and the move is still awaited."""
    chatty = bad_engine(*plan_of(rf"go:1 only {ANSWER}\ninfo\x20string\x20late\n"))
    (report,) = play_job(job_of(chatty, bad_engine(*plan_of("go:1 late 0.2")))).reports
    assert [token for token, _ in report.moves] == LINE[:6]
    note = parse_note(report.moves[1][1])
    assert note is not None
    assert note.ms is not None
    assert note.ms >= 200


def test_the_fast_path_is_compiled_if_the_rules_are() -> None:
    is_plain_python = bool(compiled.FINDER.why_plain)
    assert (moves.__file__ or "").endswith(".py") == is_plain_python
    assert fastpath.__doc__
    assert (moves.__doc__ or "").startswith("The fast path")
