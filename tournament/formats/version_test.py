"""Version test: two versions of one bot play pairs until a sequential test is decided."""

from __future__ import annotations

from tournament.formats.base import TournamentFormat


class VersionTestFormat(TournamentFormat):
    """Pairs are made a few at a time. See ``services.version_tests.progress`` for what ends it.

    That is the verdict, the last pair, a version that is no longer valid, many pairs that cannot be played,
    its owner, or the deactivation of the account.
    """

    code = "version-test"
    label = "version test"
    page = "version-test"
    is_listed = False
    is_sequential = True
