"""A soak test: does a site record every game once while processes are killed and messages repeated?

A site like that of ``./arena up`` plays a round robin, a Swiss and a knock-out while its processes are
ended by ``kill -9``: every few seconds a process of a game worker or a whole worker, less often the
record keeper, beat and Redis, whose data are kept or lost. Every message is delivered twice; some reports
arrive after their lease has expired; the clocks of two of three workers are wrong by an hour. One game in
eight is annulled while the site plays, and half of these annulments are taken back. At the end each game
must have one result, ladders must be numbered without gaps, rebuilt ratings must be equal to the bit, no
game may have been without progress for two minutes, and no process may be left. The bots search a fixed
number of nodes, so all runs must have the same games, standings and tournament ratings. The exit code is 1
if anything is wrong. With ``--ladders`` there are no tournaments: the ladders' matchmakers keep the
workers busy until the given number of games is recorded and each kind of process has been killed.

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
    options = parser.parse_args(arguments)
    if options.hosts and (inside := command_inside(sys.argv[1:] if arguments is None else arguments)):
        return subprocess.run(inside, check=False).returncode
    if options.ladders and options.calm:
        parser.error("--calm compares games, and runs with --ladders never play the same games")
    runs = list(_runs(options))
    print(*describe_machine(), sep="\n")
    outcomes = []
    # A process for each run: Django cannot change its database.
    with ProcessPoolExecutor(
        len(runs) if options.at_once else 1, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for outcome in pool.map(run_soak, runs):
            outcomes.append(outcome)
            print(*format_outcome(outcome), sep="\n", flush=True)
    # The pairs of a ladder depend on the results known when a worker is idle, so runs of ladders differ.
    differences = [] if options.ladders else list(compare(outcomes))
    if len(outcomes) > 1 and not options.ladders:
        print(
            *(differences or ["All runs: the same games, the same standings, the same tournament ratings."])
        )
    return 1 if differences or any(outcome.wrong for outcome in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--games", type=int, default=1000, help="approximate number in each run (%(default)s)"
    )
    parser.add_argument(
        "--database", choices=(SQLITE, POSTGRESQL), action="append", help=f"once or twice (default: {SQLITE})"
    )
    parser.add_argument(
        "--calm", action="store_true", help="also play without faults, with one slot and with eight"
    )
    parser.add_argument("--at-once", action="store_true", help="all runs at the same time")
    parser.add_argument(
        "--hosts",
        action="store_true",
        help="run each worker on a host of its own, and disconnect one",
    )
    parser.add_argument(
        "--ladders", action="store_true", help="no tournaments: the ladders play this number of games"
    )
    parser.add_argument("--workers", type=int, default=3, help="game workers (%(default)s)")
    parser.add_argument("--slots", type=int, default=1, help="games at a time in each worker (%(default)s)")
    parser.add_argument(
        "--pace", type=float, default=1.0, help="factor for the number of kills (%(default)s)"
    )
    parser.add_argument("--lease", type=int, default=30, help="lease of a game, in seconds (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of games and kills (%(default)s)")
    parser.add_argument(
        "--most", type=float, default=3600.0, help="time limit of a run, in seconds (%(default)s)"
    )
    parser.add_argument("--logs", default="", help="a folder for the logs if anything is wrong")
    return parser


def _runs(options: argparse.Namespace) -> Iterator[Terms]:
    common = {
        "seed": options.seed,
        "lease_s": options.lease,
        "most_s": options.most,
        "keep_logs": options.logs,
    }
    for database in options.database or [SQLITE]:
        yield Terms(
            options.games,
            database,
            hosts=options.hosts,
            ladders=options.ladders,
            workers=options.workers,
            slots=options.slots,
            pace=options.pace,
            **common,
        )
    if options.calm:
        yield Terms(options.games, calm=True, workers=1, slots=1, **common)
        yield Terms(options.games, calm=True, workers=4, slots=2, **common)


def format_outcome(outcome: Outcome) -> Iterator[str]:
    """A table of the faults and their effects, and what is wrong."""
    yield f"\n{outcome.terms.title}: {outcome.seconds:.0f} s\n"
    yield "| what | how often |"
    yield "| --- | ---: |"
    for what, count in outcome.done.items():
        yield f"| {what} | {count:,} |"
    for what, seconds in outcome.longest.items():
        yield f"| longest with {what} (at most {STUCK_S:.0f} s) | {seconds:.0f} s |"
    yield ""
    yield from outcome.wrong or ["All games are recorded once; numbers, ratings and processes are correct."]
    yield f"Games {outcome.games}, tables {outcome.tables}"


def compare(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The differences between runs that should have played the same games."""
    for other in outcomes[1:]:
        for what in ("games", "tables"):
            if getattr(other, what) != getattr(outcomes[0], what):
                yield f"{other.terms.title}: other {what} than with {outcomes[0].terms.title}"


if __name__ == "__main__":
    sys.exit(main())
