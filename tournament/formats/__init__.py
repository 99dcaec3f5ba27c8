"""The formats of tournaments: one class each. Begin with ``base``.

Everybody asks ``Tournament.format``; nobody outside this package asks for the kind of a tournament. Each
module of this package is loaded, and each class in it with a ``code`` is a format.

A validation and a version test are tournaments too: they share the schedule, the jobs, the records and the
pages of their games. What only they have, the upload and the sequential test, is not in ``Tournament``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from tournament.formats.base import REGISTERED, TournamentFormat

__all__ = ["FORMATS", "PARAMETERS", "TournamentFormat", "kinds", "labels"]

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)

FORMATS: dict[str, TournamentFormat] = {
    one.code: one for one in sorted(REGISTERED, key=lambda one: one.sort_key)
}
"""The formats by ``Tournament.kind``; those that users choose come first, in the order of the form."""


PARAMETERS = [own.name for one in FORMATS.values() for own in one.parameters]
"""The columns of ``Tournament`` that only some formats use."""


def kinds(are: Callable[[TournamentFormat], object]) -> list[str]:
    """The kinds of tournaments whose format fulfils a condition, for a filter by ``Tournament.kind``."""
    return [code for code, one in FORMATS.items() if are(one)]


def labels() -> list[tuple[str, str]]:
    """The choices of ``Tournament.kind``: each code with the name of the format within a sentence."""
    return [(code, one.label) for code, one in FORMATS.items()]
