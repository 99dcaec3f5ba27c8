"""Validation: a new version plays itself once on every ladder it claims, before it may meet others."""

from __future__ import annotations

from tournament.formats.base import TournamentFormat
from workers.jobs import Work


class Validation(TournamentFormat):
    """Made for each upload that has passed its compliance check. It ends with a verdict on the version."""

    code = "validation"
    work = Work.CHECKS
    is_listed = False
    is_public = False
    has_news = False
    ends_with_its_games = True
    counts_forfeits = False
    keeps_logs = True
    has_places = False
