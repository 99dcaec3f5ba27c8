"""The sandbox of a match, for ``-sandbox``: tried out once, before the first game.

A module of its own: without ``-sandbox`` a match needs neither the probe nor a sandbox.
"""

from __future__ import annotations

import sys
from pathlib import Path

from workers.engine.sandbox_probe import probe
from workers.match.options.options import MatchTerms
from workers.match.options.words import MatchOptionError
from workers.sandbox.enclosure import is_seen
from workers.sandbox.levels import Level, describe, format_want


def find_walls(terms: MatchTerms) -> str:
    """The level that this machine gives; B with a warning on standard error.

    Raises ``MatchOptionError`` where it gives none, or where an engine would not be seen through the walls.
    """
    for entrant in terms.entrants:
        spec = entrant.spec
        if spec.directory is not None and not is_seen(spec.command, Path(spec.directory)):
            raise MatchOptionError(
                f"-sandbox: {spec.command[0]} of {spec.name} would not be seen from inside: "
                f"it is neither below dir={spec.directory} nor below /usr"
            )
    verdict, sandbox = probe("match")
    if sandbox is None:
        lacks = "; ".join(map(format_want, verdict.wants))
        raise MatchOptionError(f"-sandbox: this machine gives no walls. Missing: {lacks}")
    if verdict.level is not Level.A:
        print("\n".join(describe(verdict)), file=sys.stderr)
    return verdict.level
