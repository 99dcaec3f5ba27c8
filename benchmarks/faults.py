"""What a match makes of engines at fault: the verdict, how soon, and what is left of them.

One match of the project's own runner (``python -m workers match``), a gauntlet of a good engine against
one for each fault. Its slot goes from one to the next, so each finds what those before have left. Times
run from the fall of the flag, or from the misdeed where there is none (of a flood: the limit), by the
engine's own clock, to the match's word on it and to the next ``go`` in that slot. The exit code is 1 if a
target was missed.

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

from benchmarks.gauge import forget_highest, highest_mib, resident_mib
from tests.support.jobs import plan_of, processes_with
from tests.support.matches import engine, slots_of, start_match

MS: Final = 1_000_000
TARGET_MS: Final = 75
"""From the flag to the verdict."""
USABLE_MS: Final = 300
"""From the flag to the next search in the same slot."""
PEAK_MIB: Final = 32
"""What a slot may need for a moment beside what it needs anyway; an engine may say 1 MiB a move."""
KEPT_MIB: Final = 2
"""What a slot may have grown by between the first round and the last."""

SHORT: Final = "0.2/move"
SHORT_MS: Final = 250
"""With the margin."""
READY_MS: Final = 10_000
ANSWER: Final = r"bestmove\x20{move}"


@dataclass(frozen=True, slots=True)
class Fault:
    """``plan`` is that of ``tests.support.bad_engines``; ``flag_ms`` runs from hearing ``word``."""

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
"""How games end in which nobody is at fault."""


@dataclass(slots=True)
class Seen:
    """What came of one fault, the worst of its games. Times are in milliseconds from the flag."""

    verdicts: set[str] = field(default_factory=set)
    verdict_ms: float = 0.0
    usable_ms: float = 0.0
    peak_mib: float = 0.0
    orphans: int = 0

    def meets(self, fault: Fault, slack: float = 1.0) -> bool:
        """Whether it is as it is to be, times and memory up to ``slack`` times the target."""
        return (
            self.verdicts == {fault.verdict}
            and self.verdict_ms <= slack * TARGET_MS
            and self.usable_ms <= slack * USABLE_MS
            and self.peak_mib <= slack * PEAK_MIB
            and not self.orphans
        )


@dataclass(frozen=True, slots=True)
class Event:
    """The whole match: what came of each fault by its name, and how the match itself fared."""

    seen: dict[str, Seen]
    games: int
    exit_code: int
    kept_mib: float
    """By how much its processes had grown when it ended, since the end of its first round."""


def run_event(folder: Path, rounds: int = 1, faults: Sequence[Fault] = FAULTS) -> Event:
    """Play the match in ``folder``, which is empty."""
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
    """The match's, after ``python -m workers match``; see docs/match.md."""
    yield from engine("Good", "start", "fuse", "3600", "go", "note", f"Good {notes.path}", mark=mark)
    for number, fault in enumerate(faults):
        plan = (fault.word, "note", f"{number} {notes.path}", *plan_of(fault.plan))
        yield from engine(fault.name, *plan, mark=f"{mark}-{number}", keys=[f"tc={fault.time_control}"])
    yield from "-tournament gauntlet -game dogon-kulei -tc 20+0 -plylimit 6 -openings none -json".split()


class Notes:
    """What engines have noted: who and when, in nanoseconds of the monotonic clock."""

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
    """Looks at a match from outside, game by game."""

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
        self._deed: tuple[Fault, int] | None = None
        """The last fault, and when its engine noted it."""

    def take(self, game: dict[str, Any], at_ns: int) -> None:
        """A game has ended, and the match said so at this moment."""
        fault = next(fault for fault in self._faults if fault.name in (game["white"], game["black"]))
        seen = self._seen[fault.name]
        self.games += 1
        self._settle(fault)
        self._weigh(seen)
        seen.verdicts.add(game["termination"])
        if fault.verdict != HARMLESS:
            deed_ns = self._notes.last(str(self._faults.index(fault)))
            seen.verdict_ms = max(seen.verdict_ms, (at_ns - deed_ns) / MS - fault.flag_ms)
            self._deed = (fault, deed_ns)

    def finish(self) -> dict[str, Seen]:
        """The match has ended."""
        for number, fault in enumerate(self._faults):
            self._seen[fault.name].orphans += len(processes_with(f"{self._mark}-{number}"))
        return self._seen

    def _settle(self, now: Fault) -> None:
        """See what came after the last fault, now that a game after it has ended.

        The next note after the deed is the next game's: nobody else is asked for a move until the flag falls.
        It may fall earlier than the engine thinks, which was asked a moment before it noted so.
        """
        if self._deed is None:
            return
        (fault, deed_ns), self._deed = self._deed, None
        seen = self._seen[fault.name]
        again_ns = self._notes.first_after(deed_ns)
        assert again_ns is not None, "a game was played in which nobody was asked for a move"
        seen.usable_ms = max(seen.usable_ms, (again_ns - deed_ns) / MS - fault.flag_ms)
        if fault is not now:
            seen.orphans += len(processes_with(f"{self._mark}-{self._faults.index(fault)}"))

    def _weigh(self, seen: Seen) -> None:
        """How far the slot's memory rose in this game, and how much all have when a round ends."""
        if self._slot is None:
            (self._slot,) = slots_of(self._match)
        else:
            seen.peak_mib = max(seen.peak_mib, highest_mib(self._slot) - self._before_mib)
        forget_highest(self._slot)
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
