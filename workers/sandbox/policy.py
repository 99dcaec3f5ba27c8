"""Who may run here, and behind which walls."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engines.files import atomic_file
from workers.jobs import JobError
from workers.sandbox.enclosure import NoSandbox, Sandbox, find_tools
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.levels import LOCAL, SETTING, Level, SettingError, Verdict, needed_level

TRUST = "DUARENA_TRUST_UPLOADS"
"""``1``: strangers' programs are run without walls."""
VERDICT_FILE = "sandbox.json"
"""In the cache folder: what the last probe on this machine found."""


NOT_RUN = "uploaded bots are not run by this worker"
"""How the evidence of a void begins that says nothing but that."""


class Refused(Exception):
    """An engine is not run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Policy:
    """``sandbox`` goes around every engine, None is no walls; ``refusal`` says why strangers' do not run.

    The default is that of an author's own machine: every engine is his, and runs as it is.
    """

    sandbox: Sandbox | None = None
    refusal: str = ""

    @property
    def walls(self) -> str:
        """What a record says of them."""
        return "" if self.sandbox is None else self.sandbox.description

    def walls_for(self, *, trusted: bool) -> Sandbox | None:
        """The walls for an engine; ``trusted`` says that the site answers for it. Raises ``Refused``."""
        if self.refusal and not trusted:
            raise Refused(f"{NOT_RUN}: {self.refusal}")
        return self.sandbox


def make_policy(verdict: Verdict, sandbox: Sandbox | None, environment: Mapping[str, str]) -> Policy:
    """What a site's worker does with what the probe found."""
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
        sandbox, f"its sandbox is of level {verdict.level} and level {needed} is asked for; missing: {lacks}"
    )


def policy_of(walls: str) -> Policy:
    """Walls of a level that has been tried out already around every engine, or none for an empty word.

    Raises ``NoSandbox`` where they are not there after all.
    """
    if not walls:
        return Policy()
    parent = find_parent(os.environ.get(VARIABLE, "")) if walls == Level.A else None
    if walls == Level.A and parent is None:
        raise NoSandbox("the control group is gone")
    return Policy(Sandbox(find_tools(), parent))


def trusts_all(environment: Mapping[str, str]) -> bool:
    return is_on(environment, TRUST)


def is_on(environment: Mapping[str, str], name: str) -> bool:
    """Whether a switch of the environment is set."""
    return environment.get(name, "").lower() in {"1", "true", "yes", "on"}


def write_verdict(folder: Path, verdict: Verdict) -> None:
    """Store the result of a probe atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / VERDICT_FILE, mode=0o600) as file:
        file.write(json.dumps(verdict.to_json()).encode())


def read_verdict(folder: Path) -> Verdict | None:
    """What the last probe found; None where none has been, or its word cannot be read."""
    try:
        return Verdict.from_json(json.loads((folder / VERDICT_FILE).read_text()))
    except (OSError, ValueError, JobError):
        return None
