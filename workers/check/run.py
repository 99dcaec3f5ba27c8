"""The list of all checks, and the function that runs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from engines.protocol import VARIANT_OPTION
from engines.rules.registry import GAMES, Variant
from workers.check import playing, protocol_checks, rule_checks
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import (
    Budget,
    CannotCheck,
    CheckedProcess,
    CheckFailed,
    CheckTimedOut,
    FaultKind,
)
from workers.check.report import CheckReport
from workers.check.verdicts import explain_exception, find_exception
from workers.engine.launch import Launch
from workers.jobs import Finding

DEFAULT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Check:
    """One check: ``run`` raises ``CheckFailed`` if the engine fails it.

    ``advice`` is for the author; a Python exception on standard error replaces it, because it explains more.
    A fault that is not grave loses no game and disturbs nobody: a site accepts such an engine.
    """

    name: str
    run: Callable[[CheckedEngine, Variant], None]
    advice: str
    on_each_ladder: bool = False
    is_grave: bool = True
    is_ordinary: bool = True
    """Whether it sends only what a server sends: then a crash or an illegal move is always grave."""


RELEASE = "limit the size of tables, and release what was needed for one move only, also threads and files"

KINDS = {
    FaultKind.CRASH: "look at the lines and at its standard error below: what it got last ended it",
    FaultKind.FLOOD: "write less: at most 1 MiB of output in a move, and 16 MiB to standard error in a game",
    FaultKind.ILLEGAL_MOVE: "set up exactly the position of the last 'position' line; python3 -m engines "
    "moves and play show the legal moves there, and the position after each move",
    FaultKind.UNSOLICITED: "send 'bestmove' once for each 'go', and only then",
    FaultKind.GROWTH: RELEASE,
    FaultKind.MEMORY: RELEASE,
}
"""Advice for kinds of faults that may happen in any check."""
MILD = (FaultKind.GROWTH, FaultKind.HARMLESS)
"""Kinds of faults that are never grave."""
HANDSHAKE = Check(
    "handshake",
    protocol_checks.introduces_itself,
    "answer 'ugi' with 'id name …', 'id author …', your options and 'ugiok', and flush after every line",
)
CHECKS = (
    Check(
        "options",
        protocol_checks.declares_options,
        "declare 'option name N type T default D', a spin with min and max, a combo with its vars, "
        "and accept every value that you declare",
    ),
    Check(
        "isready",
        protocol_checks.is_ready_each_time,
        "answer every 'isready' with one 'readyok', at any time",
    ),
    Check(
        "one answer",
        protocol_checks.answers_once,
        "send 'bestmove' once for each 'go', and do not answer a 'stop' when you are not searching",
    ),
    Check(
        "unknown words",
        protocol_checks.ignores_strange_lines,
        "ignore empty lines and lines that begin with an unknown word, and do not answer them",
    ),
    Check(
        "line ends",
        protocol_checks.understands_windows_lines,
        "accept \\r\\n as a line end as well: strip white space before you split a line into words",
        is_grave=False,
        is_ordinary=False,
    ),
    Check(
        "idle",
        protocol_checks.is_idle_between_searches,
        "wait for input in a blocking read, and do not think while the other side is to move",
    ),
    Check(
        "first move",
        playing.answers_its_first_move,
        "load and prepare what you need before 'readyok': from 'go' on your clock runs",
        True,
    ),
    Check(
        "legal moves",
        playing.plays_legally,
        "read the whole 'position' line and set up exactly this position",
        True,
    ),
    Check(
        "rare rules",
        rule_checks.knows_rare_rules,
        "answer quickly when nodes, depth and time are small",
        True,
    ),
    Check(
        "info lines",
        playing.writes_readable_info,
        "write 'info depth 3 score cp 12 nodes 500 pv m1 m2', with moves that can be played in that order, "
        "the first of which is your bestmove",
        True,
        is_grave=False,
    ),
    Check(
        "scores",
        playing.scores_from_its_own_side,
        "give every 'score' from the side of the player who is to move",
        True,
        is_grave=False,
    ),
    Check(
        "end of game",
        playing.knows_the_end,
        "look for the end of the game before each move of your search: no move follows it, and a win counts",
        True,
        is_grave=False,
        is_ordinary=False,
    ),
    Check(
        "time control",
        playing.obeys_time_controls,
        "use your own clock (p1 moves first in a game), answer before it runs out, keep time for the moves "
        "that follow, and obey 'nodes' and 'depth' if they are given",
        True,
    ),
    Check(
        "short times",
        playing.obeys_short_times,
        "take less time than 'movetime' says, also if it is short, and look at the clock while you search",
        True,
        is_grave=False,
    ),
    Check(
        "stop",
        playing.answers_stop,
        "read your input while you search, and answer 'stop' at once",
        True,
        is_grave=False,
        is_ordinary=False,
    ),
    Check(
        "long game",
        playing.follows_long_games,
        "read lines of any length, and set up positions after hundreds of moves in a fraction of a second",
        True,
    ),
    Check(
        "whole game",
        playing.plays_a_game,
        "see the last lines below; write less to standard error if that was too much",
        True,
    ),
    Check(
        "same seed",
        playing.is_repeatable,
        "derive all random numbers from UGI_Seed, and use no order that differs between processes",
        True,
        is_grave=False,
    ),
    Check(
        "new game",
        playing.forgets_earlier_games,
        "clear tables and histories at 'uginewgame'",
        True,
        is_grave=False,
    ),
    Check(
        "flush",
        protocol_checks.flushes_its_output,
        "flush after every line, as print(…, flush=True) does: elsewhere nothing else makes it arrive",
        is_grave=False,
        is_ordinary=False,
    ),
    Check(
        "quit",
        protocol_checks.quits,
        "exit at 'quit', also during a search",
        is_grave=False,
        is_ordinary=False,
    ),
    Check(
        "end of input",
        protocol_checks.ends_with_its_input,
        "exit when the input has ended, also during a search",
        is_grave=False,
        is_ordinary=False,
    ),
)


def check_engine(
    plan: Callable[[], Launch],
    *,
    ladders: Sequence[Variant] = (),
    options: Sequence[tuple[str, str]] = (),
    seconds: float = DEFAULT_SECONDS,
    on_finding: Callable[[Finding], None] = lambda finding: None,
    on_wait: Callable[[], None] = lambda: None,
) -> CheckReport:
    """Run all checks on ``ladders``, or on all that the engine declares in UGI_Variant, within ``seconds``.

    ``plan`` is called for each start of the engine; ``options`` are set after each start. ``on_finding`` gets
    every finding at once; ``on_wait`` is called at least every half second of waiting for the engine. An
    exception from either aborts the check. Raises ``CannotCheck``.
    """
    started = time.monotonic()
    engine = CheckedEngine(plan, Budget(seconds), options, on_wait)
    findings = []
    try:
        for finding in _findings(engine, ladders):
            findings.append(finding)
            on_finding(finding)
    finally:
        engine.clear()
    return CheckReport(engine.name, tuple(findings), time.monotonic() - started)


def declared_ladders(plan: Callable[[], Launch], seconds: float = DEFAULT_SECONDS) -> list[str]:
    """The codes of the ladders that an engine declares in UGI_Variant; raises ``CannotCheck`` for none."""
    engine = CheckedEngine(plan, Budget(seconds), ())
    try:
        handshake = try_check(engine, HANDSHAKE, next(iter(GAMES.values())))
        if handshake.fault:
            raise CannotCheck(f"the engine does not introduce itself: {handshake.fault}")
        return [game.code for game in _ladders_to_check(engine.running(), ())]
    finally:
        engine.clear()


def _findings(engine: CheckedEngine, ladders: Sequence[Variant]) -> Iterator[Finding]:
    """The findings of all checks; only the first one if the handshake fails."""
    first = next(iter(GAMES.values()))
    handshake = try_check(engine, HANDSHAKE, first)
    yield handshake
    if handshake.fault or not handshake.was_tried:
        return
    played = _ladders_to_check(engine.running(), ladders)
    known: dict[str, str] = {}
    for check in CHECKS:
        for game in played if check.on_each_ladder else played[:1]:
            yield _fold(try_check(engine, check, game), known)


def try_check(engine: CheckedEngine, check: Check, game: Variant) -> Finding:
    """Run one check; after a fault the process is killed."""
    ladder = game.code if check.on_each_ladder else ""
    try:
        engine.begin_check()
    except CheckTimedOut:
        return Finding(check.name, ladder, was_tried=False)
    try:
        check.run(engine, game)
    except CheckTimedOut:
        return Finding(check.name, ladder, lines=engine.logs()[0], was_tried=False)
    except CheckFailed as failure:
        lines, stderr = engine.logs()
        engine.clear()
        return _fault(check, ladder, failure, lines, stderr)
    return Finding(check.name, ladder)


def _fault(check: Check, ladder: str, failure: CheckFailed, lines: str, stderr: str) -> Finding:
    """The finding of a fault: advice and gravity depend on its kind, and otherwise on the check."""
    exception = find_exception(stderr)
    sentence = str(failure)
    if exception is not None and failure.kind is FaultKind.CRASH:
        sentence = f"{exception}: {sentence}"
    advice = explain_exception(stderr) or KINDS.get(failure.kind, check.advice)
    is_grave = check.is_grave or (check.is_ordinary and failure.kind is not FaultKind.OTHER)
    is_grave = is_grave and failure.kind not in MILD
    return Finding(check.name, ladder, sentence, advice, lines, stderr, is_grave=is_grave)


def _fold(finding: Finding, known: dict[str, str]) -> Finding:
    """A fault with the exception or the sentence of an earlier one refers to that, which ``known`` names."""
    if not finding.fault:
        return finding
    reason = find_exception(finding.stderr) or finding.fault
    name = f"'{finding.check}'" + (f" ({finding.ladder})" if finding.ladder else "")
    first = known.setdefault(reason, name)
    return finding if first == name else replace(finding, lines="", stderr="", same_as=first)


def _ladders_to_check(process: CheckedProcess, named: Sequence[Variant]) -> tuple[Variant, ...]:
    """``named``, else the ladders that the engine declares; raises ``CannotCheck`` if there are none."""
    variants = process.declared.get(VARIANT_OPTION)
    declared = [] if variants is None else [GAMES[code] for code in variants.choices if code in GAMES]
    if variants is not None:
        for game in named:
            if game not in declared:
                raise CannotCheck(f"the engine does not declare {game.code!r} in {VARIANT_OPTION}")
    if not named and not declared:
        raise CannotCheck(f"the engine declares no ladder in {VARIANT_OPTION}: name one with --game")
    return tuple(named or declared)
