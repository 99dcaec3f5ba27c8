"""Checks of an engine's behaviour outside its searches, on its first ladder only.

Each raises ``CheckFailed``, or returns if the engine passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from engines.protocol import (
    BestMove,
    Go,
    OptionType,
    ReadyOk,
    SetOption,
    UgiOk,
    format_message,
    parse_engine_line,
)
from engines.rules.registry import Variant
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import CheckedProcess, CheckFailed, FaultKind
from workers.check.situations import start_of
from workers.check.verdicts import judge_introduction, judge_options
from workers.engine.players import READY_SECONDS
from workers.engine.processor_time import NS

ANSWER_SECONDS = 5.0
"""The time limit for an answer without a clock, or with a much shorter one."""
EXIT_SECONDS = 2.0
"""The time limit for the exit of the engine; a server kills it after half a second."""
EXTRA_SECONDS = 0.2
"""How long a second ``readyok`` is awaited."""
IDLE_SECONDS = 0.5
"""How long the idle engine is observed."""
IDLE_PERIODS = 3
"""So many times in a row: a virtual machine may still compile what the search before has used."""
FLUSH_SECONDS = 2.0
FLUSH_STARTS = 5.0
"""Times its usual start that an engine has to answer without ``PYTHONUNBUFFERED``."""
BUSY_SHARE = 0.2
"""The share of a core that an idle engine may use: more is thinking in the opponent's time, or a busy loop.
A busy machine may give a busy loop no more."""

SHORT_SEARCH = Go(p1_time_ms=5000, p2_time_ms=5000, p1_inc_ms=0, p2_inc_ms=0)
"""A search for which a normal engine takes a fraction of a second."""
LONG_SEARCH = Go(movetime_ms=8000)

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


def introduces_itself(engine: CheckedEngine, game: Variant) -> None:
    fail_if(judge_introduction(engine.restart().introduction))


def declares_options(engine: CheckedEngine, game: Variant) -> None:
    """The declarations are valid, and the engine accepts each default value."""
    process = engine.running()
    fail_if(judge_options(process.introduction))
    defaults = [
        SetOption(option.name, option.default)
        for option in process.declared.values()
        if option.type is not OptionType.BUTTON and option.default is not None
    ]
    if defaults:
        process.send(*map(format_message, defaults))
    engine.configure()
    process.synchronize()


def is_ready_each_time(engine: CheckedEngine, game: Variant) -> None:
    process = engine.running()
    process.send("isready", "isready", "isready")
    for count in ("first", "second", "third"):
        process.expect(ReadyOk, READY_SECONDS, f"{count} of three readyok")
    for line in process.read_for(EXTRA_SECONDS):
        if isinstance(parse_engine_line(line), ReadyOk):
            raise CheckFailed("it sent more readyok than it got isready", FaultKind.HARMLESS)


def ignores_strange_lines(engine: CheckedEngine, game: Variant) -> None:
    process = engine.running()
    process.send(*_STRANGE_LINES)
    process.synchronize()
    process.begin_game(game)
    process.search(start_of(game), SHORT_SEARCH, ANSWER_SECONDS)


def understands_windows_lines(engine: CheckedEngine, game: Variant) -> None:
    process = engine.begin_game(game)
    process.send("isready", end="\r\n")
    process.expect(ReadyOk, READY_SECONDS, "readyok to a line that ends in \\r\\n")
    process.search(start_of(game), SHORT_SEARCH, ANSWER_SECONDS, end="\r\n")


def answers_once(engine: CheckedEngine, game: Variant) -> None:
    """It sends no second ``bestmove``, also not to a late ``stop``."""
    process = engine.begin_game(game)
    process.search(start_of(game), SHORT_SEARCH, ANSWER_SECONDS)
    process.send("stop", "gameover draw adjudication")
    for line in process.read_for(IDLE_SECONDS):
        if isinstance(parse_engine_line(line), BestMove):
            sentence = f"after its answer it also sent {line!r}, which loses a game"
            raise CheckFailed(sentence, FaultKind.UNSOLICITED)
    process.synchronize()


def is_idle_between_searches(engine: CheckedEngine, game: Variant) -> None:
    """It uses no processor time while the opponent thinks."""
    process = engine.begin_game(game)
    process.search(start_of(game), SHORT_SEARCH, ANSWER_SECONDS)
    for _ in range(IDLE_PERIODS):
        before_ns = process.account.cpu_ns()
        process.read_for(IDLE_SECONDS)
        used = (process.account.cpu_ns() - before_ns) / NS
        if used <= BUSY_SHARE * IDLE_SECONDS:
            return
    raise CheckFailed(f"while idle it used {used:.2f} s of processor time in {IDLE_SECONDS} s")


def flushes_its_output(engine: CheckedEngine, game: Variant) -> None:
    """Its output arrives also where Python buffers it, as on its author's machine.

    Fails only if ``ugiok`` arrives at the end of its input, and not in several times its usual time before.
    """
    engine.restart()
    usual = engine.start_seconds
    process = engine.restart_buffered()
    if process is None:
        return
    try:
        process.send("ugi")
        if process.read_until(UgiOk, max(FLUSH_SECONDS, FLUSH_STARTS * usual)) is not None:
            engine.clear()  # this process has not been set up for further checks
            return
        process.close_input()
        arrives_at_end = process.read_until(UgiOk, EXIT_SECONDS) is not None
    except CheckFailed:
        engine.clear()
        return  # other checks report it
    if arrives_at_end:
        raise CheckFailed("without PYTHONUNBUFFERED its answer to 'ugi' arrives only when it ends")


def quits(engine: CheckedEngine, game: Variant) -> None:
    _check_end(engine, game, "quit", lambda process: process.send("quit"))


def ends_with_its_input(engine: CheckedEngine, game: Variant) -> None:
    """Its server may end at any time."""
    _check_end(engine, game, "the end of its input", CheckedProcess.close_input)


def _check_end(
    engine: CheckedEngine, game: Variant, cause: str, end: Callable[[CheckedProcess], None]
) -> None:
    """Check that ``end`` ends the engine when it is idle, and during a search."""
    for moment in ("", " during a search"):
        process = engine.restart()
        process.begin_game(game)
        if moment:
            process.search(start_of(game), Go(nodes=50), ANSWER_SECONDS)  # the first one may take longer
            process.start_search(start_of(game), LONG_SEARCH)
        end(process)
        started, before_ns = time.monotonic(), process.account.cpu_ns()
        if not process.exits_within(EXIT_SECONDS):
            used = (process.account.cpu_ns() - before_ns) / NS
            busy = used > BUSY_SHARE * (time.monotonic() - started)
            cpu_use = f", using {used:.1f} s of processor time" if busy else ""
            raise CheckFailed(f"{EXIT_SECONDS:g} seconds after {cause}{moment} it was still running{cpu_use}")


def fail_if(sentence: str | None) -> None:
    """Raise ``CheckFailed`` with the sentence of a verdict; None passes."""
    if sentence is not None:
        raise CheckFailed(sentence)
