"""The published list of games that count otherwise than their records say: annulled games, above all.

Staff annuls games (``services.annulments``); here the list is written and read. With the records it is enough
to rebuild the ratings without the site's database.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tournament.models import Correction

Effect = Correction.Effect
Corrections = Mapping[str, Effect]
"""The effect on each game, by the ``GameId`` of its record."""

COLUMNS = ("number", "GameId", "ladder", "effect", "reason", "time")
"""The columns of the CSV, and the keys of each entry of the JSON."""
LIST = "games"
"""The name of the list in the JSON."""


class RebuildError(ValueError):
    """Records or corrections that do not fit the site's tables; the text is one sentence."""


def published_corrections(after: int = 0) -> Iterator[tuple[Any, ...]]:
    """The entries after a number, with the columns of ``COLUMNS``, in the order of the games' numbers."""
    rows = (
        Correction.objects.filter(pk__gt=after)
        .order_by("pk")
        .values_list("pk", "game__key", "game__ladder", "effect", "reason", "at")
    )
    for *values, at in rows.iterator(2000):
        yield *values, at.isoformat()


def read_corrections(text: str, source: str) -> dict[str, Effect]:
    """Read a published list, CSV or JSON; raises ``RebuildError`` with the name of the source."""
    try:
        is_json = text.lstrip()[:1] == "{"
        entries = json.loads(text)[LIST] if is_json else csv.DictReader(io.StringIO(text))
        return {str(entry["GameId"]): Effect(entry["effect"]) for entry in entries}
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise RebuildError(f"{source} is not a list of annulled games: {error}") from None


def compare_corrections(ladder: str, given: Corrections) -> None:
    """Raise ``RebuildError`` unless the site has exactly these corrections for the ladder's games."""
    rows = Correction.objects.filter(game__ladder=ladder).values_list("game__key", "effect")
    stored = {key: Effect(effect) for key, effect in rows}
    for key, effect in stored.items():
        if given.get(key) != effect:
            raise RebuildError(
                f"game {key!r} is {effect.label} on the site, but not in the list of annulled games"
                " (option --annulled); nothing is changed"
            )
    known = Correction.objects.values_list("game__key", flat=True)
    if len(given) > len(stored) and (unknown := sorted(given.keys() - set(known))):
        raise RebuildError(
            f"game {unknown[0]!r} is {given[unknown[0]].label} in the list of annulled games, but not on the"
            " site; nothing is changed"
        )
