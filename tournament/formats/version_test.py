"""Version test: two versions of one bot play pairs until a sequential test is decided."""

from __future__ import annotations

from tournament.formats.base import TournamentFormat


class VersionTestFormat(TournamentFormat):
    """Pairs are made a few at a time; the test's verdict ends it. See ``services.version_tests``."""

    code = "version-test"
    label = "version test"
    page = "version-test"
    is_listed = False
    is_sequential = True
    has_places = False
