"""Checks how a match handles faulty engines: the verdict, its delay, and remaining processes and memory.

The benchmark plays one match of the project's own runner (``python -m workers match``), a gauntlet of a good
engine against one for each fault, all in one slot. Times run from the fall of the flag, or without one from
the fault (of a flood: from the limit), by the engine's own clock, to the verdict of the match and to the
next ``go`` in that slot. The exit code is 1 if a target was missed.

    python -m benchmarks.faults --rounds 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.gauge import peak_mib, reset_peak_memory, resident_mib
from tests.support.jobs import plan_of, processes_with
from tests.support.matches import engine, slots_of, start_match

MS: Final = 1_000_000
TARGET_MS: Final = 75
"""The time from the flag to the verdict."""
USABLE_MS: Final = 300
"""The time from the flag to the next search in the same slot."""
PEAK_MIB: Final = 32
"""The allowed peak of a slot's additional memory; an engine may write 1 MiB a move."""
KEPT_MIB: Final = 2
"""The allowed growth of a slot between the first round and the last."""

SHORT: Final = "0.2/move"
SHORT_MS: Final = 250
"""Including the margin."""
READY_MS: Final = 10_000
ANSWER: Final = r"bestmove\x20{move}"


@dataclass(frozen=True, slots=True)
class Fault:
    """A faulty engine by its plan for ``tests.support.bad_engines``; ``flag_ms`` runs from ``word``."""

    name: str
    plan: str
    verdict: str
    flag_ms: int = 0
    word: str = "go:2"

    @property
    def time_control(self) -> str:
        return SHORT if self.flag_ms == SHORT_MS else "20+0"


FAULTS: Final = (
    Fault("prints info for ever", r"go:2 drip info\x20depth\x201\n", "time forfeit", SHORT_MS),
    Fault("prints half a line for ever", "go:2 drip x", "time forfeit", SHORT_MS),
    Fault("prints info as fast as it can", r"go:2 flood 1\x20info\x20x\n", "flood"),
    Fault("prints empty lines as fast as it can", r"go:2 flood 1\x20\n", "flood"),
    Fault("prints a line without end", r"go:2 flood 1\x20x", "flood"),
    Fault("floods standard error", r"go:2 flood 2\x20x\n", "flood"),
    Fault("floods when it is met", r"ugi flood 1\x20option\n", "flood", word="ugi"),
    Fault("floods before a game", r"isready flood 1\x20info\n", "flood", word="isready"),
    Fault("floods after its answer", rf"go:2 also {ANSWER}\n go:2 flood 1\x20info\x20x\n", "flood"),
    Fault("hangs", "go:2 hang -", "time forfeit", SHORT_MS),
    Fault("hangs, deaf to signals", "go:2 resist -", "time forfeit", SHORT_MS),
    Fault("stops itself", "go:2 stop -", "time forfeit", SHORT_MS),
    Fault("hangs beside a child", "go:2 multiply - go:2 hang -", "time forfeit", SHORT_MS),
    Fault("closes its output", "go:2 close 1", "time forfeit", SHORT_MS),
    Fault("closes its input", "go:2 close 0", "time forfeit", SHORT_MS),
    Fault("exits", "go:2 leave 0", "crash"),
    Fault("exits beside a child", "go:2 multiply - go:2 leave 1", "crash"),
    Fault("dies of a signal", "go:2 die SIGSEGV", "crash"),
    Fault("is gone after its answer", rf"go:2 also {ANSWER}\n go:2 leave 1", "crash"),
    Fault("plays an illegal move", r"go:2 only bestmove\x20a1+-\n", "illegal move"),
    Fault("says a bare bestmove", r"go:2 only bestmove\n", "illegal move"),
    Fault("answers twice", rf"go:2 only {ANSWER}\n{ANSWER}\n", "unsolicited answer"),
    Fault("names a move to ponder", rf"go only {ANSWER}\x20ponder\x20c1+\n", "ply limit"),
    Fault("ends lines as Windows does", rf"go only {ANSWER}\r\n", "ply limit"),
    Fault("never says readyok", "isready only nothing", "stall", READY_MS, "isready"),
)


HARMLESS: Final = "ply limit"
"""The terminations of games without a fault."""


@dataclass(slots=True)
class Seen:
    """The measurements of one fault: the worst of its games, times in milliseconds from the flag."""

    verdicts: set[str] = field(default_factory=set)
    verdict_ms: float = 0.0
    usable_ms: float = 0.0
    peak_mib: float = 0.0
    orphans: int = 0

    def meets(self, fault: Fault, slack: float = 1.0) -> bool:
        """Whether the verdict is right, and times and memory are at most ``slack`` times the target."""
        return (
            self.verdicts == {fault.verdict}
            and self.verdict_ms <= slack * TARGET_MS
            and self.usable_ms <= slack * USABLE_MS
            and self.peak_mib <= slack * PEAK_MIB
            and not self.orphans
        )


@dataclass(frozen=True, slots=True)
class Event:
    """The measurements of the match: of each fault by its name, and of the match itself."""

    seen: dict[str, Seen]
    games: int
    exit_code: int
    kept_mib: float
    """The growth of its processes from the end of the first round to the end of the match."""


def run_event(folder: Path, rounds: int = 1, faults: Sequence[Fault] = FAULTS) -> Event:
    """Play the match in ``folder``, which must be empty."""
    notes, mark = Notes(folder / "notes"), f"mark-{uuid.uuid4()}"
    match = start_match(folder, *_words(notes, mark, faults), "-rounds", str(rounds))
    watch = Watch(match, notes, mark, faults)
    assert match.stdout is not None
    try:
        for line in match.stdout:
            event, at_ns = json.loads(line), time.monotonic_ns()
            if event["event"] == "game":
                watch.take(event, at_ns)
    finally:
        match.kill()
        match.communicate()
    return Event(watch.finish(), watch.games, match.returncode, watch.kept_mib)


def _words(notes: Notes, mark: str, faults: Sequence[Fault]) -> Iterator[str]:
    """The arguments of ``python -m workers match``; see docs/match.md."""
    yield from engine("Good", "start", "limit", "3600", "go", "note", f"Good {notes.path}", mark=mark)
    for number, fault in enumerate(faults):
        plan = (fault.word, "note", f"{number} {notes.path}", *plan_of(fault.plan))
        yield from engine(fault.name, *plan, mark=f"{mark}-{number}", keys=[f"tc={fault.time_control}"])
    yield from "-tournament gauntlet -game dogon-kulei -tc 20+0 -plylimit 6 -openings none -json".split()


class Notes:
    """The notes of engines: the engine and the time, in nanoseconds of the monotonic clock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: list[tuple[str, int]] = []

    def all(self) -> list[tuple[str, int]]:
        lines = self.path.read_text().splitlines()
        new = (line.split() for line in lines[len(self._read) :])
        self._read += [(name, int(at_ns)) for name, at_ns in new]
        return self._read

    def last(self, name: str) -> int:
        return max(at_ns for who, at_ns in self.all() if who == name)

    def first_after(self, moment_ns: int) -> int | None:
        return min((at_ns for _, at_ns in self.all() if at_ns > moment_ns), default=None)


class Watch:
    """Measures a match from outside, game by game."""

    def __init__(
        self, match: subprocess.Popen[str], notes: Notes, mark: str, faults: Sequence[Fault]
    ) -> None:
        self.games = 0
        self.kept_mib = 0.0
        self._match = match
        self._notes = notes
        self._mark = mark
        self._faults = faults
        self._seen = {fault.name: Seen() for fault in faults}
        self._slot: int | None = None
        self._before_mib = 0.0
        self._first_round_mib: float | None = None
        self._last_fault: tuple[Fault, int] | None = None
        """The last fault, and the time that its engine noted."""

    def take(self, game: dict[str, Any], at_ns: int) -> None:
        """Process the end of a game, which the match reported at this moment."""
        fault = next(fault for fault in self._faults if fault.name in (game["white"], game["black"]))
        seen = self._seen[fault.name]
        self.games += 1
        self._settle(fault)
        self._weigh(seen)
        seen.verdicts.add(game["termination"])
        if fault.verdict != HARMLESS:
            deed_ns = self._notes.last(str(self._faults.index(fault)))
            seen.verdict_ms = max(seen.verdict_ms, (at_ns - deed_ns) / MS - fault.flag_ms)
            self._last_fault = (fault, deed_ns)

    def finish(self) -> dict[str, Seen]:
        """Process the end of the match."""
        for number, fault in enumerate(self._faults):
            self._seen[fault.name].orphans += len(processes_with(f"{self._mark}-{number}"))
        return self._seen

    def _settle(self, now: Fault) -> None:
        """Measure the last fault, now that the game after it has ended.

        The next note after the fault is that of the next game: no other engine gets ``go`` before the flag
        falls. It may fall earlier than the engine's note suggests, which is written after reading ``go``.
        """
        if self._last_fault is None:
            return
        (fault, deed_ns), self._last_fault = self._last_fault, None
        seen = self._seen[fault.name]
        again_ns = self._notes.first_after(deed_ns)
        assert again_ns is not None, "a game was played without any go"
        seen.usable_ms = max(seen.usable_ms, (again_ns - deed_ns) / MS - fault.flag_ms)
        if fault is not now:
            seen.orphans += len(processes_with(f"{self._mark}-{self._faults.index(fault)}"))

    def _weigh(self, seen: Seen) -> None:
        """Measure the rise of the slot's memory in this game, and of all processes at the end of a round."""
        if self._slot is None:
            (self._slot,) = slots_of(self._match)
        else:
            seen.peak_mib = max(seen.peak_mib, peak_mib(self._slot) - self._before_mib)
        reset_peak_memory(self._slot)
        self._before_mib = resident_mib(self._slot)
        if self.games % (2 * len(self._faults)) == 0:
            all_mib = self._before_mib + resident_mib(self._match.pid)
            if self._first_round_mib is None:
                self._first_round_mib = all_mib
            self.kept_mib = all_mib - self._first_round_mib


HEAD: Final = (
    "| the engine | verdict | ms after the flag | to the next search | MiB for a moment | orphans |\n"
    "| --- | --- | ---: | ---: | ---: | ---: |"
)


def format_row(fault: Fault, seen: Seen) -> str:
    times = ("", "") if fault.verdict == HARMLESS else (f"{seen.verdict_ms:.1f}", f"{seen.usable_ms:.0f}")
    verdicts = ", ".join(sorted(seen.verdicts))
    cells = (fault.name, verdicts, *times, f"{seen.peak_mib:.1f}", seen.orphans)
    return f"| {' | '.join(map(str, cells))} |"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.faults", description="Measure engines at fault.")
    parser.add_argument("--rounds", type=int, default=3, help="two games a fault in each (default 3)")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        event = run_event(Path(folder), asked.rounds)
    print(HEAD)
    for fault in FAULTS:
        print(format_row(fault, event.seen[fault.name]))
    print(
        f"\n{event.games} games, exit code {event.exit_code}; "
        f"the match and its slot grew by {event.kept_mib:+.1f} MiB after the first round."
    )
    missed = [fault.name for fault in FAULTS if not event.seen[fault.name].meets(fault)]
    if event.exit_code or event.kept_mib > KEPT_MIB or event.games != 2 * asked.rounds * len(FAULTS):
        missed.append("the match itself")
    if missed:
        print(f"Targets missed: {', '.join(missed)}.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
