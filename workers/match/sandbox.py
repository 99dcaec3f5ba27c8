"""The sandbox of a match, for ``-sandbox``: probed once, before the first game."""

from __future__ import annotations

import sys
from pathlib import Path

from workers.engine.sandbox_probe import probe
from workers.match.options.options import MatchTerms
from workers.match.options.words import MatchOptionError
from workers.sandbox.levels import Level, describe, format_want
from workers.sandbox.sandbox import is_visible_inside


def find_sandbox_level(terms: MatchTerms) -> str:
    """The sandbox level of this machine; prints a warning on standard error if it is B.

    Raises ``MatchOptionError`` if there is no sandbox, or if an engine's program would not exist in it.
    """
    for entrant in terms.entrants:
        spec = entrant.spec
        if spec.directory is not None and not is_visible_inside(spec.command, Path(spec.directory)):
            raise MatchOptionError(
                f"-sandbox: {spec.command[0]} of {spec.name} would not be visible in the sandbox: "
                f"it is neither below dir={spec.directory} nor below /usr"
            )
    verdict, sandbox = probe("match")
    if sandbox is None:
        lacks = "; ".join(map(format_want, verdict.wants))
        raise MatchOptionError(f"-sandbox: this machine has no sandbox. Missing: {lacks}")
    if verdict.level is not Level.A:
        print("\n".join(describe(verdict)), file=sys.stderr)
    return verdict.level
