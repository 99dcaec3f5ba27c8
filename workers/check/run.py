"""All checks in their order, and one run through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engines.protocol import VARIANT_OPTION
from engines.rules.registry import GAMES, Variant
from workers.check import playing, protocol_checks
from workers.check.bench import CheckedEngines
from workers.check.report import CheckReport, Finding
from workers.check.subject import Budget, CannotCheck, CheckTimedOut, Misconduct, Subject
from workers.check.verdicts import explain_exception
from workers.engine.launch import Launch

DEFAULT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is tried: ``run`` raises ``Misconduct`` if it goes wrong.

    ``advice`` helps then, unless standard error shows a Python exception, which explains more.
    A fault that is not grave loses no game and takes nothing from anybody: a site lets such an engine play.
    """

    name: str
    run: Callable[[CheckedEngines, Variant], None]
    advice: str
    on_each_ladder: bool = False
    is_grave: bool = True


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
        "and take every value you declare",
    ),
    Check(
        "isready",
        protocol_checks.is_ready_each_time,
        "answer every 'isready' with one 'readyok', at any time",
    ),
    Check(
        "one answer",
        protocol_checks.answers_once,
        "say 'bestmove' once for each 'go', and nothing to a 'stop' when you are not searching",
    ),
    Check(
        "unknown words",
        protocol_checks.ignores_strange_lines,
        "ignore lines that are empty or begin with a word you do not know, and say nothing to them",
    ),
    Check(
        "line ends",
        protocol_checks.understands_windows_lines,
        "take \\r\\n for an end of line as well: strip white space before you part a line into words",
        is_grave=False,
    ),
    Check(
        "idle",
        protocol_checks.rests_when_idle,
        "wait for input in a read that blocks, and do not think while the other side is to move",
    ),
    Check("legal moves", playing.plays_legally, "take the position from the line as it is, all of it", True),
    Check(
        "info lines",
        playing.tells_readable_lines,
        "write 'info depth 3 score cp 12 nodes 500 pv m1 m2', with moves that can be played in that order",
        True,
        is_grave=False,
    ),
    Check(
        "time control",
        playing.keeps_its_time,
        "find your own clock (p1 is who moves first in a game), answer before it runs out, "
        "and obey 'nodes' and 'depth' where they are given",
        True,
    ),
    Check(
        "stop",
        playing.stops_when_told,
        "read your input while you search, and answer 'stop' at once",
        True,
        is_grave=False,
    ),
    Check(
        "long game",
        playing.follows_long_games,
        "read lines of any length, and play hundreds of moves in a small part of a second",
        True,
    ),
    Check(
        "whole game",
        playing.plays_a_game,
        "look at the last lines below; write less to standard error if that was too much",
        True,
    ),
    Check(
        "same seed",
        playing.repeats_itself,
        "draw every chance from UGI_Seed, and iterate over nothing whose order changes between processes",
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
    Check("quit", protocol_checks.quits, "exit at 'quit', also in the middle of a search", is_grave=False),
    Check(
        "end of input",
        protocol_checks.ends_with_its_input,
        "exit when reading says that the input has ended, also in the middle of a search",
        is_grave=False,
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
    """Try everything on ``ladders``, or on all that the engine claims by UGI_Variant, within ``seconds``.

    ``plan`` is asked for each start of the engine, ``options`` are set each time, and ``on_finding`` sees
    every finding as it comes. ``on_wait`` is called now and then while the engine is waited for; what it or
    ``on_finding`` raises breaks the check off. Raises ``CannotCheck``.
    """
    started = time.monotonic()
    bench = CheckedEngines(plan, Budget(seconds), options, on_wait)
    findings = []
    try:
        for finding in _findings(bench, ladders):
            findings.append(finding)
            on_finding(finding)
    finally:
        bench.clear()
    return CheckReport(bench.name, tuple(findings), time.monotonic() - started)


def _findings(bench: CheckedEngines, ladders: Sequence[Variant]) -> Iterator[Finding]:
    """Without a handshake nothing else can be tried."""
    first = next(iter(GAMES.values()))
    handshake = try_check(bench, HANDSHAKE, first)
    yield handshake
    if handshake.fault or not handshake.was_tried:
        return
    played = _ladders_totry_check(bench.take(), ladders)
    for check in CHECKS:
        for game in played if check.on_each_ladder else played[:1]:
            yield try_check(bench, check, game)


def try_check(bench: CheckedEngines, check: Check, game: Variant) -> Finding:
    """How one check goes; after a fault the bench is clear."""
    ladder = game.code if check.on_each_ladder else ""
    try:
        bench.begin_check()
    except CheckTimedOut:
        return Finding(check.name, ladder, was_tried=False)
    try:
        check.run(bench, game)
    except CheckTimedOut:
        return Finding(check.name, ladder, lines=bench.logs()[0], was_tried=False)
    except Misconduct as misconduct:
        lines, stderr = bench.logs()
        bench.clear()
        advice = explain_exception(stderr) or check.advice
        return Finding(check.name, ladder, str(misconduct), advice, lines, stderr, is_grave=check.is_grave)
    return Finding(check.name, ladder)


def _ladders_totry_check(subject: Subject, named: Sequence[Variant]) -> tuple[Variant, ...]:
    """Those that were named, else those the engine claims; raises ``CannotCheck`` when there are none."""
    variants = subject.declared.get(VARIANT_OPTION)
    claimed = [] if variants is None else [GAMES[code] for code in variants.choices if code in GAMES]
    if variants is not None:
        for game in named:
            if game not in claimed:
                raise CannotCheck(f"the engine does not have {game.code!r} among its {VARIANT_OPTION}")
    if not named and not claimed:
        raise CannotCheck(f"the engine claims no ladder by {VARIANT_OPTION}: name one with --game")
    return tuple(named or claimed)
