"""The sandbox of this machine for commands: where one is asked for, and for bots of a site."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from engines.console import complain
from workers.engine.sandbox_probe import require_sandbox
from workers.jobs import EngineSpec
from workers.match.options.options import Entrant, MatchOptionError
from workers.sandbox.levels import Level, describe
from workers.sandbox.sandbox import NoSandbox, Sandbox, is_visible_inside


def find_sandbox_level(engines: Sequence[Entrant], *, is_asked: bool) -> str:
    """The sandbox level in which these engines are run; empty for no sandbox, see ``find_sandbox``.

    Raises ``MatchOptionError``.
    """
    strangers = [engine.name for engine in engines if engine.site]
    try:
        found = find_sandbox(engines, strangers, is_asked=is_asked)
    except NoSandbox as error:
        raise MatchOptionError(f"-sandbox: {error}") from None
    return found[0] if found else ""


def find_sandbox(
    engines: Sequence[EngineSpec], strangers: Collection[str], *, is_asked: bool
) -> tuple[Level, Sandbox] | None:
    """The sandbox of this machine and its level, if it is asked for or there are ``strangers`` of a site.

    Prints a warning if the level is B, and if strangers are run without a sandbox because there is none.
    Raises ``NoSandbox`` if it is asked for and there is none, or the program of an engine would not exist in
    it.
    """
    if not (is_asked or strangers):
        return None
    try:
        verdict, sandbox = require_sandbox("match")
    except NoSandbox as error:
        if is_asked:
            raise
        complain(
            f"warning: {', '.join(strangers)}: a stranger's program is run without a sandbox, with all the "
            f"rights that you have here: {error}"
        )
        return None
    for spec in engines if is_asked else ():
        if spec.directory is not None and not is_visible_inside(spec.command, Path(spec.directory)):
            raise NoSandbox(
                f"{spec.command[0]} of {spec.name} would not be visible in the sandbox: "
                f"it is neither below dir={spec.directory} nor below /usr"
            )
    if verdict.level is not Level.A:
        print("\n".join(describe(verdict)), file=sys.stderr)
    return verdict.level, sandbox
