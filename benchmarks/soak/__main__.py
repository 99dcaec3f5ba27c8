"""A soak test: does a site record every game once while processes are killed and requests repeated?

The services of ``./arena up``, with several game workers, play a round robin, a Swiss and a knock-out.
Every few seconds a process of a worker or a whole worker is ended by ``kill -9``; less often the record
keeper, beat, the site or one of its processes, the checks of uploads, and Redis, whose data are kept, lost
or flooded; the database, the record keeper, the site and Redis are away, and a worker is cut off from the
site. Requests of workers come twice; some of the site's answers are lost after they took effect; some reports
arrive after their lease has expired; the clocks of two workers are wrong by an hour. One game in eight is
annulled, and half of these annulments are taken back. At the end each game must have one result, ladders must
be numbered without gaps, rebuilt ratings must be equal to the bit, no game may have been without progress for
two minutes, and no process may be left. The bots search a fixed number of nodes, so all runs must have the
same games, standings and tournament ratings. The exit code is 1 if anything is wrong. All runs play at the
same time.

    python -m benchmarks.soak --games 1000 --database sqlite --database postgresql --calm
    python -m benchmarks.soak --games 1000 --ladders
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.machine import describe_machine
from benchmarks.output import head, parser_of, row
from benchmarks.soak.run import Outcome, run_soak
from benchmarks.soak.site import POSTGRESQL, SQLITE, Terms


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.ladders and options.calm:
        parser.error("--calm compares games, and runs with --ladders never play the same games")
    runs = list(_runs(options))
    print(*describe_machine(), sep="\n")
    outcomes = []
    # A process for each run: Django cannot change its database.
    with ProcessPoolExecutor(len(runs), multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
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
    parser = parser_of("soak", __doc__)
    parser.add_argument(
        "--games", type=int, default=1000, help="approximate number in each run (%(default)s)"
    )
    parser.add_argument(
        "--database", choices=(SQLITE, POSTGRESQL), action="append", help=f"once or twice (default: {SQLITE})"
    )
    parser.add_argument(
        "--calm", action="store_true", help="also play without faults, with one slot and with eight"
    )
    parser.add_argument("--ladders", action="store_true", help="no tournaments: the ladders play this number")
    parser.add_argument(
        "--hang", action="store_true", help="stop processes by SIGSTOP instead of killing them"
    )
    parser.add_argument(
        "--pace", type=float, default=1.0, help="factor for the number of kills (%(default)s)"
    )
    parser.add_argument("--lease", type=int, default=30, help="lease of a game, in seconds (%(default)s)")
    parser.add_argument(
        "--away", type=float, default=0.0, help="seconds without keeper, site or Redis (default: 1.5 leases)"
    )
    parser.add_argument("--most", type=float, default=3600.0, help="time limit, in seconds (%(default)s)")
    return parser


def _runs(options: argparse.Namespace) -> Iterator[Terms]:
    common = {"lease_s": options.lease, "most_s": options.most}
    for database in options.database or [SQLITE]:
        yield Terms(
            options.games,
            database,
            hang=options.hang,
            ladders=options.ladders,
            pace=options.pace,
            away_s=options.away,
            **common,
        )
    if options.calm:
        yield Terms(options.games, calm=True, workers=1, slots=1, **common)
        yield Terms(options.games, calm=True, workers=4, slots=2, **common)


def format_outcome(outcome: Outcome) -> Iterator[str]:
    """A table of the faults and their effects, and what is wrong."""
    yield f"\n{outcome.terms.title}: {outcome.seconds:.0f} s\n"
    yield head("what", "how often")
    for what, count in outcome.done.items():
        yield row(what, f"{count:,}")
    for what, seconds in outcome.longest.items():
        yield row(f"longest with {what}", f"{seconds:.0f} s")
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
