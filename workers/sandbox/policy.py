"""Which engines a worker runs, and in which sandbox."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from engines.files import atomic_file
from workers.jobs import NOT_RUN
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.levels import LOCAL, SETTING, Level, SettingError, Verdict, Want, needed_level
from workers.sandbox.sandbox import NoSandbox, Sandbox, find_tools

TRUST = "DUARENA_TRUST_UPLOADS"
"""``1``: uploaded bots run without a sandbox."""
VERDICT_FILE = "sandbox.json"
"""The file in the cache folder with the result of the last probe on this machine."""


class Refused(Exception):
    """The policy does not run an engine; the text says why."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Every engine runs in ``sandbox``; None runs engines without one.

    ``refusal`` says why uploaded bots are not run; empty if they are. ``strangers`` is a sandbox of engines
    that are not trusted, where the others run without one. The default is for an author's own machine: it
    runs every engine, without a sandbox.
    """

    sandbox: Sandbox | None = None
    refusal: str = ""
    strangers: Sandbox | None = None

    @property
    def sandbox_description(self) -> str:
        """The description of the sandbox in records; empty without one."""
        return "" if self.sandbox is None else self.sandbox.description

    def sandbox_for(self, *, trusted: bool) -> Sandbox | None:
        """The sandbox for an engine, None for none; raises ``Refused``.

        ``trusted``: the engine comes from the site, not from an upload.
        """
        if self.refusal and not trusted:
            raise Refused(f"{NOT_RUN}: {self.refusal}")
        return self.sandbox if trusted else self.strangers or self.sandbox


def make_policy(verdict: Verdict, sandbox: Sandbox | None, environment: Mapping[str, str]) -> Policy:
    """The policy of a site's worker, from the result of its probe and its environment."""
    if trusts_all(environment):
        return Policy()
    try:
        needed = needed_level(environment.get(SETTING, ""), is_local=is_on(environment, LOCAL))
    except SettingError as error:
        return Policy(sandbox, str(error))
    if verdict.admits(needed):
        return Policy(sandbox)
    lacks = "; ".join(want.lack for want in verdict.wants)
    return Policy(
        sandbox, f"its sandbox is at level {verdict.level}, but level {needed} is needed; missing: {lacks}"
    )


def policy_for_level(level: str, *, is_for_all: bool = True) -> Policy:
    """The policy that runs every engine, or all that are not trusted, in a sandbox of ``level``.

    An empty level is without a sandbox. The caller has probed the level already. Raises ``NoSandbox`` if it
    is no longer available.
    """
    if not level:
        return Policy()
    parent = find_parent(os.environ.get(VARIABLE, "")) if level == Level.A else None
    if level == Level.A and parent is None:
        raise NoSandbox("the control group is gone")
    sandbox = Sandbox(find_tools(), parent)
    return Policy(sandbox) if is_for_all else Policy(strangers=sandbox)


def trusts_all(environment: Mapping[str, str]) -> bool:
    return is_on(environment, TRUST)


def is_on(environment: Mapping[str, str], name: str) -> bool:
    """Whether an environment variable is set to 1, true, yes or on."""
    return environment.get(name, "").lower() in {"1", "true", "yes", "on"}


def write_verdict(folder: Path, verdict: Verdict) -> None:
    """Store the result of a probe in ``folder``, atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / VERDICT_FILE, mode=0o600) as file:
        file.write(json.dumps(asdict(verdict)).encode())


def read_verdict(folder: Path) -> Verdict | None:
    """The result of the last probe; None if there is none, or it cannot be read."""
    try:
        found = json.loads((folder / VERDICT_FILE).read_text())
        level, wants = Level(found["level"]), tuple(Want(**want) for want in found["wants"])
        return Verdict(**found | {"level": level, "wants": wants})
    except (OSError, ValueError, TypeError, KeyError):
        return None
