"""The formats of tournaments: one class each. Begin with ``base``.

Everybody asks ``Tournament.format``; nobody outside this package asks for the kind of a tournament.
"""

from __future__ import annotations

from collections.abc import Callable

from tournament.formats.base import TournamentFormat
from tournament.formats.gauntlet import Gauntlet
from tournament.formats.knock_out import KnockOut
from tournament.formats.ladder import LadderFormat
from tournament.formats.round_robin import RoundRobin
from tournament.formats.swiss import Swiss
from tournament.formats.validation import Validation
from tournament.formats.version_test import VersionTestFormat

__all__ = ["FORMATS", "TournamentFormat", "kinds"]

FORMATS: dict[str, TournamentFormat] = {
    one.code: one
    for one in (
        RoundRobin(),
        Gauntlet(),
        Swiss(),
        KnockOut(),
        Validation(),
        LadderFormat(),
        VersionTestFormat(),
    )
}
"""By ``Tournament.kind``; those that users choose come first, in the order of the form."""


def kinds(are: Callable[[TournamentFormat], object]) -> list[str]:
    """The kinds of tournaments whose format fulfils a condition, for a filter by ``Tournament.kind``."""
    return [code for code, one in FORMATS.items() if are(one)]
