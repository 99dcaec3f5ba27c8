"""A soak test: does a site record every game once while processes are killed and requests repeated?

The services of ``./arena up``, with several game workers, play a round robin, a Swiss and a knock-out,
and games of the ladders until each kind of fault was caused. Every few seconds a process of a worker or a
whole worker is ended by ``kill -9``; less often the record keeper, beat, the site or one of its
processes, the checks of uploads, the sender of webhooks and Redis are killed or stopped, Redis is
emptied, the database, the record keeper, the site and Redis are away, and a worker is cut off. Requests
of workers come twice; some of the site's answers are lost after they took effect; some reports arrive
after their lease has expired; the clocks of two workers are wrong by an hour. Games are annulled, and
these annulments are taken back. At the end each game must have one result, ladders must be numbered
without gaps, rebuilt ratings must be equal to the bit, no game may have been without progress for two
minutes, and no process may be left. The bots search a fixed number of nodes, so all runs must have the
same tournaments: games, standings and ratings. The exit code is 1 if anything is wrong. All runs play at
the same time.

    python -m benchmarks.soak --games 1000 --database sqlite --database postgresql --calm
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.measuring import describe_machine, head, parser_of, row
from benchmarks.soak.run import Outcome, run_soak
from benchmarks.soak.site import POSTGRESQL, SQLITE, Terms


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("soak", __doc__)
    parser.add_argument("--games", type=int, default=1000, help="of tournaments, about (%(default)s)")
    parser.add_argument(
        "--database", choices=(SQLITE, POSTGRESQL), action="append", help=f"once or twice (default: {SQLITE})"
    )
    parser.add_argument(
        "--calm", action="store_true", help="also play without faults, with one slot and with eight"
    )
    parser.add_argument("--lease", type=int, default=30, help="lease of a game, in seconds (%(default)s)")
    parser.add_argument("--most", type=float, default=3600.0, help="time limit, in seconds (%(default)s)")
    runs = list(_runs(parser.parse_args(arguments)))
    print(*describe_machine(), sep="\n")
    outcomes = []
    # A process for each run: Django cannot change its database.
    with ProcessPoolExecutor(len(runs), multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        for outcome in pool.map(run_soak, runs):
            outcomes.append(outcome)
            print(*format_outcome(outcome), sep="\n", flush=True)
    differences = list(compare(outcomes))
    if len(outcomes) > 1:
        print(*(differences or ["All runs: the same games, standings and ratings of the tournaments."]))
    return 1 if differences or any(outcome.wrong for outcome in outcomes) else 0


def _runs(options: argparse.Namespace) -> Iterator[Terms]:
    common = {"lease_s": options.lease, "most_s": options.most}
    for database in options.database or [SQLITE]:
        yield Terms(options.games, database, **common)
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
    yield f"Tournaments: games {outcome.games}, tables {outcome.tables}"


def compare(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The differences between runs, which should have played the same tournaments."""
    for other in outcomes[1:]:
        for what in ("games", "tables"):
            if getattr(other, what) != getattr(outcomes[0], what):
                yield f"{other.terms.title}: other {what} than with {outcomes[0].terms.title}"


if __name__ == "__main__":
    sys.exit(main())
