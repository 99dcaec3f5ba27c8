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
from tests.workers.play.test_bad_engines import ANSWER, FAULTS, HARMLESS, LONG, SHORT
from workers.engine import process
from workers.engine.players import UgiPlayer
from workers.game import fastpath
from workers.game.fastpath import moves
from workers.game.fastpath.moves import Pending
from workers.game.referee import EngineMove, GameState, MoveRequest, Player
from workers.jobs import GameReport
from workers.play import runner


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A move of the tests' engines is quick also on a busy machine."""
    monkeypatch.setattr(process, "QUICK_NS", 100_000_000)


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
    """The report without its times, and without what an engine could write in its time."""
    evidence = re.sub(r"\d+ (ms|lines|bytes)|x+(?='$)", r"some \1", report.evidence)
    lines = [
        re.sub(r"\d+\.\d{3}|p[12]time \d+|process \d+", "", side.lines)
        for side in (report.white, report.black)
    ]
    moves = [(token, re.sub(r"\d+\.\d{3}s", "", comment)) for token, comment in report.moves]
    return (report.fault, report.result, report.termination, moves, evidence, lines)


SEARCH = r"info\x20depth\x2012\x20score\x20cp\x20-31\x20nodes\x20900\x20time\x203\x20pv\x20d1+\x20d2-"
"""A line of ``info`` as engines send it, without its end."""

INFOS = [
    ("sends a search", rf"go also {SEARCH}\n", LONG),
    ("sends a search and ponders", rf"go only {SEARCH}\n{ANSWER}\x20ponder\x20d2-\n", LONG),
    ("sends a search as Windows does", rf"go only {SEARCH}\r\n{ANSWER}\r\n", LONG),
    ("sends a search in parts", rf"go also {SEARCH}\ninfo\x20depth\x2013\ninfo\x20string\x20done\n", LONG),
    ("sends many searches", rf"go many 100\x20{SEARCH}", LONG),
    ("sends a wide line", rf"go wide 12000 go also {SEARCH}\n", LONG),
    ("sends a huge line", rf"go wide 60000 go also {SEARCH}\n", LONG),
    ("sends an oversized line", rf"go:2 also {SEARCH}\n go:2 wide 70000", LONG),
    ("sends much in one move", rf"go many 9999\x20{SEARCH}", LONG),
    ("sends too much in one move", rf"go:2 many 19999\x20{SEARCH}", LONG),
    (
        "sends invalid values",
        r"go also info\x20depth\x20x\x20score\x20cp\ninfo\x20nodes\x20-5\x20pv\n\n",
        LONG,
    ),
    ("sends invalid moves", r"go also info\x20depth\x203\x20pv\x20d1+\x20]\x20d2-\n", LONG),
    ("sends bytes", rf"go also {SEARCH}\ninfo\x20pv\x20\xff\x00\xfe\x1b[31m\n\x00\n", LONG),
    (
        "sends other messages",
        rf"go also readyok\n{SEARCH}\nid\x20name\x20Y\njoho\x20info\x20depth\x209\n",
        LONG,
    ),
    ("sends lines in pieces", rf"go pieces info\x20dep|th\x205\x20score\x20cp|\x201\n{SEARCH}\n|", LONG),
    ("sends the answer in pieces", rf"go pieces {SEARCH}\nbest|move\x20{{move}} go only \n", LONG),
    ("sends a search afterwards", rf"go only {ANSWER}\n{SEARCH}\n", LONG),
    ("sends a part afterwards", rf"go only {SEARCH}\n{ANSWER}\ninfo\x20str", LONG),
    ("ends no search", rf"go:2 also {SEARCH}", SHORT),
    ("ends no search and hangs", rf"go:2 only {SEARCH}", SHORT),
    ("sends a search and hangs", rf"go:2 only {SEARCH}\n", SHORT),
    ("sends a search and is gone", rf"go:2 also {SEARCH}\n go:2 leave 3", LONG),
    ("answers twice after a search", rf"go:2 only {SEARCH}\n{ANSWER}\n{ANSWER}\n", LONG),
    ("answers within a search", rf"go only info\x20pv\x20bestmove\x20z9\n{ANSWER}\n", LONG),
    ("names no move after a search", rf"go:2 only {SEARCH}\nbestmove\n", LONG),
    ("plays illegally after a search", rf"go:2 only {SEARCH}\nbestmove\x20z9\n", LONG),
    ("resigns after a search", rf"go:2 only {SEARCH}\nbestmove\x20resign\n", LONG),
    ("complains during a search", rf"go also {SEARCH}\n go complain 200000 go also {SEARCH}\n", LONG),
    ("floods its error output in a search", rf"go:2 also {SEARCH}\n go:2 flood 2\x20x\n", LONG),
    ("floods after a search", rf"go:2 also {SEARCH}\n go:2 flood 1\x20info\x20string\x20x\n", LONG),
    ("closes its standard error in a search", rf"go:2 also {SEARCH}\n go:2 shut 2", LONG),
]
"""Engines that send ``info`` lines: what they do, the plan, and the time control."""

ENGINES = [
    *((name, plan, control) for name, plan, control, *_ in FAULTS),
    *((name, plan, LONG) for name, plan in HARMLESS),
    *INFOS,
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
    monkeypatch.setattr(UgiPlayer, "fast_channel", lambda self: None)
    without_it = [essence(report) for report in play(plan, control, games=2)]
    if re.search("flood|many|wide|drip|uginewgame|close 0", plan):  # how much was read or sent is chance
        with_it, without_it = ([one[:-1] for one in games] for games in (with_it, without_it))
    assert with_it == without_it


def test_engines_without_faults_never_leave_the_fast_path(choices: list[MoveRequest]) -> None:
    (report,) = play("", LONG)
    assert [token for token, _ in report.moves] == LINE[:6]
    assert choices == []


@pytest.mark.parametrize(
    "plan",
    [
        rf"go also {SEARCH}\n",
        rf"go many 10\x20{SEARCH}",
        rf"go only {SEARCH}\n\n{ANSWER}\x20ponder\x20d2-\n",
        rf"go only {SEARCH}\r\n{ANSWER}\r\n",
        rf"go pieces info\x20dep|th\x205\n{SEARCH}\n|",
    ],
)
def test_search_infos_do_not_leave_the_fast_path_and_are_recorded(
    plan: str, choices: list[MoveRequest]
) -> None:
    (report,) = play(plan, LONG)
    assert choices == []
    for token, comment in report.moves[::2]:
        assert re.fullmatch(r"-0\.31/12 \d\.\d{3}s 900n pv d1\+ d2-", comment), (token, comment)
    assert report.white.lines.count("< info depth 12 score cp -31 nodes 900 time 3 pv d1+ d2-") >= 3


@pytest.mark.parametrize(("plan", "left"), [("start shut 2", 0), ("go:1 shut 2", 1)])
def test_an_engine_that_closes_its_standard_error_stays_on_the_fast_path(
    plan: str, left: int, choices: list[MoveRequest]
) -> None:
    (report,) = play(plan, LONG)
    assert [token for token, _ in report.moves] == LINE[:6]
    assert len(choices) <= left


def test_an_unusual_answer_leaves_the_fast_path_for_one_move(choices: list[MoveRequest]) -> None:
    (report,) = play(rf"go:2 also {SEARCH}\n go:2 only joho\x20{ANSWER}\n", LONG)
    assert [token for token, _ in report.moves] == LINE[:6]
    assert len(choices) == 1
    assert choices[0].asked is not None
    assert choices[0].asked.question.count(b"\n") == 2
    assert "/12 " in report.moves[2][1], "the search info of the engine is recorded"


def test_the_log_has_the_time_of_each_line_also_where_the_fast_path_is_left() -> None:
    (report,) = play(rf"go:2 pieces {SEARCH}\n|{SEARCH}\n|joho\x20", LONG)
    first, second, answer = re.findall(r"([\d.]+) < (?:info depth|joho)", report.white.lines)
    assert float(first) <= float(second) <= float(answer)


def test_a_position_is_sent_once_even_if_the_move_leaves_the_fast_path(choices: list[MoveRequest]) -> None:
    (report,) = play(rf"go:2 only joho\x20{ANSWER}\n go:3 late 0.6", "2+0")
    assert report.termination == "ply limit"
    assert report.white.lines.count("> go ") == 3
    assert len(choices) == 2


def test_heartbeats_continue_on_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(process, "QUICK_NS", 1_000)
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
