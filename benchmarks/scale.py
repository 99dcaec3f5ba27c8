"""Computes whether record keepers would keep up with ten thousand games a second.

It measures what a game costs the record keeper: its verification, which no other game matters for, and its
storing together with others, a ladder's in one order. Then it simulates a keeper for each ladder that stores
what its verifiers have passed on, and prints how long a report waits. Games arrive at random.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks.measuring import describe_machine, head, opened_site, parser_of, row

SIZES: Final = (1, 5, 20, 50, 100)
"""Games that are stored together, of which the costs are measured."""
SECONDS: Final = 20.0
LADDERS: Final = 5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("scale", __doc__)
    parser.add_argument("--rate", type=int, default=10_000, help="games a second (default %(default)s)")
    options = parser.parse_args(arguments)
    print(*describe_machine(), sep="\n", flush=True)
    with opened_site():
        verifying, at_once, each = measure()
    print(
        f"- verifying {verifying:.3f} ms a game, storing {at_once:.2f} ms and {each:.3f} ms a game",
        flush=True,
    )
    columns = ("verifiers a ladder", "storing, of today's", "median wait, s", "99 %, s", "left over")
    print("", head(*columns), sep="\n", flush=True)
    for verifiers in (1, 2):
        for share in (1.0, 0.5, 0.25):
            waits, left = simulate(
                options.rate / LADDERS, verifying / 1e3, verifiers, share * at_once / 1e3, share * each / 1e3
            )
            median, late = statistics.median(waits), statistics.quantiles(waits, n=100)[98]
            print(row(verifiers, f"{share:.0%}", f"{median:.3f}", f"{late:.3f}", f"{left:,}"), flush=True)
    return 0


def measure() -> tuple[float, float, float]:
    """Milliseconds of processor time: verifying a game, and storing some together, of all and of each."""
    from tests.support.schedule import make_event, make_version, make_worker, play_all, take_jobs
    from tournament.models import Ladder
    from tournament.services.results import keeper
    from tournament.services.schedule.pairings import make_games

    Ladder.objects.ensure()
    make_worker(64)
    versions = [make_version(f"Bot {number}") for number in range(8)]
    event = make_event("round-robin", versions=versions, pairs=10)
    while make_games(event):
        pass
    reports = [report for job in take_jobs() for report in play_all(job)]
    verifying = 0.0

    def timed(look_at: Callable[..., Any], *given: Any) -> Any:
        nonlocal verifying
        begun = time.process_time()
        found = look_at(*given)
        verifying += time.process_time() - begun
        return found

    look_at = keeper._look_at
    keeper._look_at = lambda *given: timed(look_at, *given)
    costs: list[tuple[int, float]] = []
    keeper.record_all([reports.pop()])  # loads what it needs
    verifying, total = 0.0, len(reports)
    while reports:
        for size in SIZES:
            some, reports = reports[:size], reports[size:]
            before, begun = verifying, time.process_time()
            keeper.record_all(some)
            costs.append((len(some), time.process_time() - begun - (verifying - before)))
    keeper._look_at = look_at
    slope, intercept = statistics.linear_regression(*zip(*costs, strict=True))
    return 1e3 * verifying / total, 1e3 * intercept, 1e3 * slope


def simulate(
    rate: float, verifying_s: float, verifiers: int, at_once_s: float, each_s: float, seed: int = 1
) -> tuple[list[float], int]:
    """The seconds from a report to its rating on one ladder, and how many were not stored in the end.

    Each report takes the verifier that is free first; the keeper stores all that are verified.
    """
    source, now = random.Random(seed), 0.0
    free_at = [0.0] * verifiers
    verified: list[tuple[float, float]] = []
    while (now := now + source.expovariate(rate)) < SECONDS:
        first = free_at.index(min(free_at))
        free_at[first] = max(now, free_at[first]) + source.expovariate(1 / verifying_s)
        verified.append((free_at[first], now))
    waiting, waits, now = deque(sorted(verified)), list[float](), 0.0
    while waiting and now < SECONDS:
        now = max(now, waiting[0][0])
        batch = list[float]()
        while waiting and waiting[0][0] <= now:
            batch.append(waiting.popleft()[1])
        now += at_once_s + each_s * len(batch)
        waits += [now - arrived for arrived in batch]
    return waits, len(waiting)


if __name__ == "__main__":
    sys.exit(main())
