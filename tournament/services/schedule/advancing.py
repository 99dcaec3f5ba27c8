"""Takes the steps that are due in several tournaments, each in a transaction of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db.models import QuerySet

from tournament.models import Tournament

log = logging.getLogger("tournament.advancing")


def take_steps(due: QuerySet[Tournament], advance: Callable[[int], bool]) -> int:
    """Call ``advance`` with the id of each tournament, the oldest first; returns how many took a step.

    A tournament that raises is logged and does not stop the others.
    """
    taken = 0
    for pk in due.order_by("id").values_list("id", flat=True):
        try:
            taken += advance(pk)
        except Exception:
            log.exception("tournament %d cannot continue", pk)
    return taken
