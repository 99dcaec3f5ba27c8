"""Measures the making of the evidence of a large tournament, and of dumps: their size, and what it costs.

It makes a SQLite database in a temporary folder with a round robin of 100 bots of generated games, in which
each two meet ``--pairs`` times with both colours, and its archive as the record keeper does. With ``--dumps``
it makes the dumps of a site that ``benchmarks.pages --folder FOLDER`` has filled, as if its months were over.

    python -m benchmarks.evidence --pairs 10
    python -m benchmarks.evidence --dumps FOLDER
"""

from __future__ import annotations

import datetime
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Final

from benchmarks.measuring import describe_machine, head, opened_site, parser_of, row

LADDER: Final = "duploline"
BOTS: Final = 100


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("evidence", __doc__)
    parser.add_argument("--pairs", type=int, default=10, help="of each two bots (default %(default)s)")
    parser.add_argument("--dumps", metavar="FOLDER", default="", help="instead: of the site in this folder")
    options = parser.parse_args(arguments)
    print(*describe_machine(), "", head("what", "value"), sep="\n", flush=True)
    with opened_site(folder=options.dumps):
        if options.dumps:
            _measure_dumps()
        else:
            _measure(options.pairs)
    return 0


def _measure(pairs: int) -> None:
    from zipfile import ZipFile

    from benchmarks.large_site import LargeSite
    from tournament.models import Evidence
    from tournament.services import stepwise
    from tournament.services.evidence.making import EvidenceMaker

    site = LargeSite(BOTS * (BOTS - 1) * pairs, bots=BOTS, versions=1, ladders=[LADDER])
    site.make_bots()
    site.play_event({"kind": "round-robin", "bots": BOTS, "pairs": pairs})
    stepwise.QUIET_SECONDS = 0.0
    maker, steps, before = EvidenceMaker(), [], _peak_mb()
    begun, is_left = time.process_time(), True
    while is_left:
        step_begun, spent_before = time.monotonic(), time.process_time()
        is_left = maker.step()
        steps.append((time.monotonic() - step_begun, time.process_time() - spent_before))
    spent = time.process_time() - begun
    made = Evidence.objects.get()
    with ZipFile(made.path) as archive:
        sizes = {one.filename: (one.file_size, one.compress_size) for one in archive.infolist()}
    print(row("games", f"{made.games:,}"))
    print(row("processor time, s", f"{spent:.1f}"))
    print(row(f"steps of {stepwise.STEP_SECONDS} s", f"{len(steps)}"))
    print(row("longest step, s", f"{max(took for took, _ in steps):.2f}"))
    print(row("most processor time of a step, s", f"{max(spent for _, spent in steps):.2f}"))
    print(row("peak memory before and after, MB", f"{before:.0f}, {_peak_mb():.0f}"))
    print(row("archive, MB", f"{made.size / 1e6:.1f}"))
    for name, (size, packed) in sizes.items():
        if size > 1_000_000:
            print(row(f"{name}, MB, and packed", f"{size / 1e6:.1f}, {packed / 1e6:.1f}"))


def _measure_dumps() -> None:
    from django.utils import timezone

    from tournament.models import Dump
    from tournament.services.dumps.making import due_months, make

    now, before, chunks = timezone.now() + datetime.timedelta(days=31), _peak_mb(), []
    known = set(Dump.objects.values_list("pk", flat=True))
    begun = time.process_time()
    while months := [month for month in due_months(now) if month.final is None]:
        for month in months:
            steps, step_begun = make(month, now), time.process_time()
            for _ in steps:
                chunks.append(time.process_time() - step_begun)
                step_begun = time.process_time()
    spent = time.process_time() - begun
    made = list(Dump.objects.exclude(pk__in=known))
    games = sum(one.games for one in made)
    print(row("games, and dumps", f"{games:,}, {len(made)}"))
    print(row("processor time, s", f"{spent:.1f}"))
    print(row("longest chunk, and the median, s", f"{max(chunks):.3f}, {statistics.median(chunks):.3f}"))
    print(row("peak memory before and after, MB", f"{before:.0f}, {_peak_mb():.0f}"))
    for ending in (".pgn.gz", "-games.csv.gz", "-ratings.csv"):
        size = sum(one.files[f"{one.name}{ending}"]["size"] for one in made)
        print(row(f"{ending}, MB, and bytes a game", f"{size / 1e6:.1f}, {size / games:.0f}"))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
