"""Whatever is killed, lost, late or said twice: is every game of a site played, and recorded once?

A site as ``./arena up`` starts it plays a round robin, a Swiss and a knock-out while its processes are
ended by ``kill -9``: every few seconds a process of a game worker or a whole worker, less often the
record keeper, beat and Redis, whose data are kept or lost. Every message arrives twice; some reports
come after their lease has run out; the clocks of two of three workers are an hour off. At the end each
game must have one result, ladders be numbered without gaps, ratings made anew be the same to the bit, no
game have waited for two minutes without a sign of life, and nothing be left running. The bots search a
number of nodes, so all runs must have played the same games, and have the same standings and tournament
ratings. The exit code is 1 if anything is wrong. With ``--ladders`` there are no tournaments: the
ladders' matchmakers keep the workers busy until so many games are recorded, and until each kind of process
was killed at least once.

    python -m benchmarks.soak --games 1000 --database sqlite --database postgresql --calm
    python -m benchmarks.soak --games 1000 --ladders
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.machine import describe_machine
from benchmarks.soak.network import command_inside
from benchmarks.soak.run import run_soak
from benchmarks.soak.terms import POSTGRESQL, SQLITE, STUCK_S, Outcome, Terms


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.hosts and (inside := command_inside(sys.argv[1:] if arguments is None else arguments)):
        return subprocess.run(inside, check=False).returncode
    if asked.ladders and asked.calm:
        parser.error("ladders never play the same games twice: --calm has nothing to compare")
    runs = list(_runs(asked))
    print(*describe_machine(), sep="\n")
    outcomes = []
    # A process for each: a Django has its database for life.
    with ProcessPoolExecutor(
        len(runs) if asked.at_once else 1, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for outcome in pool.map(run_soak, runs):
            outcomes.append(outcome)
            print(*format_outcome(outcome), sep="\n", flush=True)
    # Whom a ladder pairs hangs on what is known when a worker is idle, so no two runs of them are the same.
    differences = [] if asked.ladders else list(compare(outcomes))
    if len(outcomes) > 1 and not asked.ladders:
        print(
            *(differences or ["All runs: the same games, the same standings, the same tournament ratings."])
        )
    return 1 if differences or any(outcome.wrong for outcome in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--games", type=int, default=1000, help="about as many in each run (%(default)s)")
    parser.add_argument(
        "--database", choices=(SQLITE, POSTGRESQL), action="append", help=f"once or twice (default: {SQLITE})"
    )
    parser.add_argument(
        "--calm", action="store_true", help="play them undisturbed as well, with one slot and with eight"
    )
    parser.add_argument("--at-once", action="store_true", help="all runs at the same time")
    parser.add_argument(
        "--hosts",
        action="store_true",
        help="each worker on a host of its own, and one cut off",
    )
    parser.add_argument(
        "--ladders", action="store_true", help="no tournaments: the ladders play so many games"
    )
    parser.add_argument("--workers", type=int, default=3, help="game workers (%(default)s)")
    parser.add_argument("--slots", type=int, default=1, help="games at a time in each (%(default)s)")
    parser.add_argument("--pace", type=float, default=1.0, help="times as many kills (%(default)s)")
    parser.add_argument("--lease", type=int, default=30, help="of a game, in seconds (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of games and kills (%(default)s)")
    parser.add_argument("--most", type=float, default=3600.0, help="seconds for a run (%(default)s)")
    parser.add_argument("--logs", default="", help="a folder for logs, should anything be wrong")
    return parser


def _runs(asked: argparse.Namespace) -> Iterator[Terms]:
    common = {"seed": asked.seed, "lease_s": asked.lease, "most_s": asked.most, "keep_logs": asked.logs}
    for database in asked.database or [SQLITE]:
        yield Terms(
            asked.games,
            database,
            hosts=asked.hosts,
            ladders=asked.ladders,
            workers=asked.workers,
            slots=asked.slots,
            pace=asked.pace,
            **common,
        )
    if asked.calm:
        yield Terms(asked.games, calm=True, workers=1, slots=1, **common)
        yield Terms(asked.games, calm=True, workers=4, slots=2, **common)


def format_outcome(outcome: Outcome) -> Iterator[str]:
    """A table of what was done, and the verdicts."""
    yield f"\n{outcome.terms.title}: {outcome.seconds:.0f} s\n"
    yield "| what | how often |"
    yield "| --- | ---: |"
    for what, count in outcome.done.items():
        yield f"| {what} | {count:,} |"
    for what, seconds in outcome.longest.items():
        yield f"| longest with {what} (at most {STUCK_S:.0f} s) | {seconds:.0f} s |"
    yield ""
    yield from outcome.wrong or [
        "All played, each recorded once; numbers, ratings and processes as they must be."
    ]
    yield f"Games {outcome.games}, tables {outcome.tables}"


def compare(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Where runs that were to play the same did not."""
    for other in outcomes[1:]:
        for what in ("games", "tables"):
            if getattr(other, what) != getattr(outcomes[0], what):
                yield f"{other.terms.title}: other {what} than with {outcomes[0].terms.title}"


if __name__ == "__main__":
    sys.exit(main())
