"""Takes the steps that are due for several rows, each in a transaction of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

log = logging.getLogger("tournament.advancing")


def take_steps(due: QuerySet[Any], advance: Callable[[int], bool]) -> int:
    """Call ``advance`` with the id of each row, in their order; returns how many took a step.

    One that raises is logged and does not stop the others.
    """
    taken = 0
    for pk in due.values_list("id", flat=True):
        try:
            taken += advance(pk)
        except Exception:
            log.exception("%s %d cannot continue", due.model._meta.verbose_name, pk)
    return taken
