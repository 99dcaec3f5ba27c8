"""Checks whether a long match grows in memory, processes or descriptors.

First it plays many games between engines that answer at once; then games with engines that crash, hang and
flood, with a new process in each. The match (``python -m workers match``) and its slots are measured from
outside. The exit code is 1 if they grew.

    python -m benchmarks.endurance --games 100000 --faulty 1000
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
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.gauge import Load, weigh
from benchmarks.machine import describe_machine
from benchmarks.runs import Bench, compile_engine
from engines.rules.registry import find_game
from tests.support.jobs import plan_of, processes_with, wait_until
from tests.support.matches import engine, slots_of, start_match
from workers.sandbox.tree import descendants

LADDER: Final = "dogon-kulei"
"""The quickest of them."""
PLIES: Final = 20
"""The length of a game between good engines."""
DEATH_SECONDS: Final = 10.0
"""The time limit for engines to end after the match, ten times the expected one."""
SAMPLES: Final = 20
GROWTH_MIB: Final = 2.0
"""The allowed growth of all processes together after the first quarter of the games."""
SLACK: Final = 12
"""Descriptors or processes that depend on the games under way."""
FAULTS: Final = {
    "Crashes": ("go:2 die SIGSEGV", "20+0"),
    "Hangs": ("go:2 resist -", "0.05/move"),
    "Floods": (r"go:2 flood 1\x20info\x20string\x20x\n", "20+0"),
    "Complains": (r"go:2 flood 2\x20x\n", "20+0"),
}
"""By name: the plan for ``tests.support.bad_engines``, and the time control."""


@dataclass(frozen=True, slots=True)
class Sample:
    """After ``games``: the load of the match and its slots, and the number of all processes."""

    games: int
    load: Load
    processes: int


@dataclass(frozen=True, slots=True)
class Run:
    """The measurements of a match; ``left`` are processes and files that it did not remove."""

    samples: tuple[Sample, ...]
    seconds: float
    exit_code: int
    left: tuple[str, ...]

    @property
    def settled(self) -> Sample:
        """The first sample after a quarter of the games, when a slot has met every fault."""
        return self.samples[len(self.samples) // 4]

    @property
    def grown_mib(self) -> float:
        return self.samples[-1].load.mib - self.settled.load.mib

    def wrong(self, games: int) -> Iterator[str]:
        """Yields a sentence for each missed target; ``games`` should have been played."""
        first, last = self.settled, self.samples[-1]
        if self.exit_code or last.games != games:
            yield f"{last.games} of {games} games, exit code {self.exit_code}"
        if self.grown_mib > GROWTH_MIB:
            yield f"memory grew by {self.grown_mib:.1f} MiB"
        if last.load.files > first.load.files + SLACK:
            yield f"open descriptors grew from {first.load.files} to {last.load.files}"
        if last.processes > first.processes + SLACK:
            yield f"processes grew from {first.processes} to {last.processes}"
        yield from self.left


def play_good(folder: Path, games: int, slots: int) -> Run:
    """Play games of engines that answer at once."""
    bench = Bench(find_game(LADDER), compile_engine(folder), folder)
    command, line = bench.command()
    words = [word for name in "AB" for word in ("-engine", f"name={name}", f"cmd={command}", f"arg={line}")]
    terms = ["-tc", "10+0.1", "-plylimit", str(PLIES), "-pairs", str(games // 2)]
    return _watch(folder, [*words, *terms], games, slots, mark=line)


def play_faulty(folder: Path, games: int, slots: int) -> Run:
    """Play games against faulty engines, one of which is ended in each."""
    mark = f"mark-{uuid.uuid4()}"
    words = engine("Good", "start", "limit", "3600", mark=mark)
    for name, (plan, control) in FAULTS.items():
        words += engine(name, *plan_of(plan), mark=mark, keys=[f"tc={control}"])
    rounds = str(games // (2 * len(FAULTS)))
    terms = ["-tournament", "gauntlet", "-tc", "20+0", "-plylimit", "6", "-rounds", rounds]
    return _watch(folder, [*words, *terms], games, slots, mark=mark)


def _watch(folder: Path, words: Sequence[str], games: int, slots: int, mark: str) -> Run:
    scratch = folder / "scratch"
    scratch.mkdir()
    common = ["-game", LADDER, "-openings", "none", "-concurrency", str(slots), "-json"]
    began = time.monotonic()
    match = start_match(folder, *words, *common, TMPDIR=str(scratch))
    try:
        samples = tuple(_samples(match, max(1, games // SAMPLES)))
    finally:
        match.communicate()
    left = [f"{path.name} is left in the folder for scratch" for path in scratch.iterdir()]
    wait_until(lambda: not processes_with(mark), DEATH_SECONDS)
    left += [f"process {pid} is left" for pid in processes_with(mark)]
    return Run(samples, time.monotonic() - began, match.returncode, tuple(left))


def _samples(match: subprocess.Popen[str], every: int) -> Iterator[Sample]:
    assert match.stdout is not None
    played = 0
    for line in match.stdout:
        if json.loads(line)["event"] == "game":
            played += 1
            if played % every == 0:
                yield Sample(played, weigh([match.pid, *slots_of(match)]), len(list(descendants(match.pid))))


def format_run(run: Run) -> Iterator[str]:
    yield "| games | MiB | descriptors | processes |"
    yield "| ---: | ---: | ---: | ---: |"
    for sample in run.samples:
        load = sample.load
        yield f"| {sample.games:,} | {load.mib:.1f} | {load.files} | {sample.processes} |"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.endurance", description="Play for a long time.")
    parser.add_argument("--games", type=int, default=100_000, help="of good engines (default %(default)s)")
    parser.add_argument("--faulty", type=int, default=1_000, help="of engines at fault (default %(default)s)")
    parser.add_argument("--slots", type=int, default=2, help="games at a time (default %(default)s)")
    asked = parser.parse_args(arguments)
    print("\n".join(describe_machine()))
    wrong: list[str] = []
    for title, play, games in (
        ("Engines that answer at once", play_good, asked.games),
        ("Engines that crash, hang and flood", play_faulty, asked.faulty),
    ):
        with tempfile.TemporaryDirectory() as folder:
            run = play(Path(folder), games, asked.slots)
        print(f"\n{title}: {games:,} games in {run.seconds:.0f} s, {run.grown_mib:+.1f} MiB\n")
        print("\n".join(format_run(run)), flush=True)
        wrong += run.wrong(games)
    print("\n" + ("\n".join(wrong) or "nothing grew, nothing is left"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
