"""Rebuilds the ratings from a site's published records, in a process of its own, for ``./arena demo``.

Run as ``python -m tournament.embedded.rebuild FILE.pgn...`` with ``DATABASE_URL`` naming a copy of
the site's database. It empties the copy's rating tables, rebuilds them from the files alone and
prints their new contents.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import django


def main(files: list[str]) -> int:
    django.setup()
    from tournament.models import LadderRating, PairOutcome, PairScore, RatingEvent

    for table in (RatingEvent, LadderRating, PairScore, PairOutcome):
        table.objects.all().delete()
    for name in files:
        _rebuild(Path(name))
    print(dump_ratings())
    return 0


def _rebuild(path: Path) -> None:
    """Rebuild from one ladder's file, which is named after its code."""
    from engines.records import read_records
    from tournament.services.results.rebuilding import rebuild_from_records

    with path.open(encoding="utf-8") as file:
        rebuild_from_records(path.stem, read_records(file, path.name))


def dump_ratings() -> str:
    """Every rating event and rating of every ladder, numbers to the last bit."""
    from tournament.models import LadderRating, RatingEvent

    events = RatingEvent.objects.order_by("ladder_id", "sequence", "version_id").values_list(
        "ladder_id",
        "sequence",
        "game__key",
        "version_id",
        "mu_before",
        "sigma_before",
        "mu_after",
        "sigma_after",
    )
    ratings = LadderRating.objects.order_by("ladder_id", "version_id").values_list(
        "ladder_id", "version_id", "mu", "sigma", "conservative", "games", "wins", "draws", "losses"
    )
    return json.dumps({"events": _exact(events), "ratings": _exact(ratings)})


def _exact(rows: object) -> list[list[object]]:
    return [[value.hex() if isinstance(value, float) else value for value in row] for row in rows]  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
