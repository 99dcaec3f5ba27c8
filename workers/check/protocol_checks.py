"""Protocol checks: what an engine says and does around its searches, on its first ladder alone.

Each raises ``Misconduct``, or returns if all is well.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from engines.protocol import BestMove, Go, OptionType, ReadyOk, SetOption, format_message, parse_engine_line
from engines.rules.registry import Variant
from workers.check.bench import CheckedEngines
from workers.check.situations import start_of
from workers.check.subject import Misconduct, Subject
from workers.check.verdicts import judge_introduction, judge_options
from workers.engine.players import READY_SECONDS

PATIENCE_SECONDS = 5.0
"""For an answer to a search that no clock limits, or far less than this."""
EXIT_SECONDS = 2.0
"""For ending by itself; a server waits half a second and then kills."""
IDLE_SECONDS = 0.5
"""How long an engine that has nothing to do is watched."""
BUSY_SHARE = 0.2
"""Of a core: more than this while idle is thinking in the opponent's time, or spinning. A machine with
other work may give a spinning engine no more."""

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_SESSION, _USER, _SYSTEM = 3, 11, 12
"""Places in ``/proc/PID/stat`` after the name, which is in parentheses."""

LIGHT = Go(p1_time_ms=5000, p2_time_ms=5000, p1_inc_ms=0, p2_inc_ms=0)
"""A search that costs an engine of sense a fraction of a second."""
LONG = Go(movetime_ms=8000)

_STRANGE_LINES = (
    "",
    "   ",
    "\t",
    "joho",
    "debug on",
    "setoption name No Such Option value 12",
    "register later",
    "ponderhit now and then",
)


def introduces_itself(bench: CheckedEngines, game: Variant) -> None:
    judge(judge_introduction(bench.fresh().introduction))


def declares_options(bench: CheckedEngines, game: Variant) -> None:
    """And takes each at its own default."""
    subject = bench.take()
    judge(judge_options(subject.introduction))
    defaults = [
        SetOption(option.name, option.default)
        for option in subject.declared.values()
        if option.type is not OptionType.BUTTON and option.default is not None
    ]
    if defaults:
        subject.send(*map(format_message, defaults))
    bench.configure()
    subject.settle()


def is_ready_each_time(bench: CheckedEngines, game: Variant) -> None:
    subject = bench.take()
    subject.send("isready", "isready", "isready")
    for count in ("first", "second", "third"):
        subject.expect(ReadyOk, READY_SECONDS, f"{count} of three readyok")


def ignores_strange_lines(bench: CheckedEngines, game: Variant) -> None:
    subject = bench.take()
    subject.send(*_STRANGE_LINES)
    subject.settle()
    subject.begin_game(game)
    subject.search(start_of(game), LIGHT, PATIENCE_SECONDS)


def understands_windows_lines(bench: CheckedEngines, game: Variant) -> None:
    subject = bench.take()
    subject.begin_game(game)
    subject.send("isready", end="\r\n")
    subject.expect(ReadyOk, READY_SECONDS, "readyok to a line that ends in \\r\\n")
    subject.search(start_of(game), LIGHT, PATIENCE_SECONDS, end="\r\n")


def answers_once(bench: CheckedEngines, game: Variant) -> None:
    """Not again later, nor to a ``stop`` that comes too late."""
    subject = bench.take()
    subject.begin_game(game)
    subject.search(start_of(game), LIGHT, PATIENCE_SECONDS)
    subject.send("stop", "gameover draw adjudication")
    for line in subject.listen(IDLE_SECONDS):
        if isinstance(parse_engine_line(line), BestMove):
            raise Misconduct(f"after its answer it said {line!r} as well, which loses a game")
    subject.settle()


def rests_when_idle(bench: CheckedEngines, game: Variant) -> None:
    """Also in the opponent's time, which is not its own."""
    subject = bench.take()
    subject.begin_game(game)
    subject.search(start_of(game), LIGHT, PATIENCE_SECONDS)
    before = session_cpu_seconds(subject.session)
    subject.listen(IDLE_SECONDS)
    used = session_cpu_seconds(subject.session) - before
    if used > BUSY_SHARE * IDLE_SECONDS:
        raise Misconduct(f"with nothing to do it used {used:.2f} s of processor time in {IDLE_SECONDS} s")


def quits(bench: CheckedEngines, game: Variant) -> None:
    """When idle, and in the middle of a search."""
    for is_searching in (False, True):
        subject = _engaged(bench, game, is_searching)
        subject.send("quit")
        _expect_end(subject, "quit", is_searching)


def ends_with_its_input(bench: CheckedEngines, game: Variant) -> None:
    """When idle, and in the middle of a search: its server may be gone at any time."""
    for is_searching in (False, True):
        subject = _engaged(bench, game, is_searching)
        subject.close_input()
        _expect_end(subject, "the end of its input", is_searching)


def _engaged(bench: CheckedEngines, game: Variant, is_searching: bool) -> Subject:
    subject = bench.fresh()
    subject.begin_game(game)
    if is_searching:
        subject.ask(start_of(game), LONG)
    return subject


def _expect_end(subject: Subject, cause: str, is_searching: bool) -> None:
    started, before = time.monotonic(), session_cpu_seconds(subject.session)
    if subject.exits_within(EXIT_SECONDS):
        return
    moment = " in the middle of a search" if is_searching else ""
    used = session_cpu_seconds(subject.session) - before
    busy = used > BUSY_SHARE * (time.monotonic() - started)
    burning = f", using {used:.1f} s of processor time" if busy else ""
    raise Misconduct(f"{EXIT_SECONDS:g} seconds after {cause}{moment} it was still running{burning}")


def judge(sentence: str | None) -> None:
    """Make a verdict's sentence misconduct; None is all well."""
    if sentence is not None:
        raise Misconduct(sentence)


def session_cpu_seconds(session: int) -> float:
    """Processor time of the living processes of a session, exact to a hundredth of a second."""
    ticks = sum(_ticks(entry, session) for entry in os.listdir("/proc") if entry.isdigit())
    return ticks / _TICKS_A_SECOND


def _ticks(process: str, session: int) -> int:
    """Of one process, 0 if it is another session's or gone."""
    try:
        fields = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[_USER]) + int(fields[_SYSTEM]) if int(fields[_SESSION]) == session else 0
