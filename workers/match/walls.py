"""The sandbox of a match, for ``-sandbox``: tried out once, before the first game."""

from __future__ import annotations

import sys
from pathlib import Path

from workers.match.options import Terms
from workers.match.words import OptionError
from workers.sandbox.enclosure import is_seen
from workers.sandbox.levels import Level, describe, format_want
from workers.sandbox.probe import probe


def find_walls(terms: Terms) -> str:
    """The level that this machine gives; B with a warning on standard error.

    Raises ``OptionError`` where it gives none, or where an engine would not be seen through the walls.
    """
    for entrant in terms.entrants:
        spec = entrant.spec
        if spec.directory is not None and not is_seen(spec.command, Path(spec.directory)):
            raise OptionError(
                f"-sandbox: {spec.command[0]} of {spec.name} would not be seen from inside: "
                f"it is neither below dir={spec.directory} nor below /usr"
            )
    verdict, sandbox = probe("match")
    if sandbox is None:
        lacks = "; ".join(map(format_want, verdict.wants))
        raise OptionError(f"-sandbox: this machine gives no walls. Missing: {lacks}")
    if verdict.level is not Level.A:
        print("\n".join(describe(verdict)), file=sys.stderr)
    return verdict.level
