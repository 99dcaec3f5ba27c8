"""A worker that plays one game of a hostile engine against a good one and prints what it observed.

    python -m tests.support.hostile.trial FOLDER ATTACK LEVEL [open]

``open`` removes the attack's protections first: use it only in an outer sandbox.
The last line printed is an ``Observation``.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.hostile import programs
from tests.support.hostile.attack import Attack
from tests.support.hostile.attacks import ATTACKS
from tests.support.hostile.observation import Observation, report_fields
from tests.support.hostile.removals import remove_protections
from tests.support.hostile.scene import Scene, digest, scene_in, survivors
from tests.support.jobs import job_of, play_job
from tests.support.sandboxes import bad_engine_in
from tests.support.unpack_archive import peak_kib
from workers.engine.child import REAPER
from workers.jobs import EngineSpec, GameReport
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.levels import Level
from workers.sandbox.policy import Policy
from workers.sandbox.sandbox import Sandbox, find_tools

TIMEOUT_SECONDS = 60
DEATH_SECONDS = 10.0
"""Engines end within a second of the game's end; this allows ten times as much."""
UNPROTECTED_DEATH_SECONDS = 3.0
"""Shorter, since without a protection a process may stay for good."""
SECRET = "DUARENA_DECOY"
"""The environment variable of this process with the secret that no engine may read."""


def main(arguments: list[str]) -> None:
    faulthandler.dump_traceback_later(TIMEOUT_SECONDS, exit=True)
    folder, name, level, *more = arguments
    attack = next(attack for attack in ATTACKS if attack.name == name)
    parent = find_parent(os.environ.get(VARIABLE, "")) if level == Level.A else None
    sandbox = Sandbox(find_tools(), parent)
    sandbox = replace(sandbox, limits=replace(sandbox.limits, **attack.limits))
    if more:
        sandbox = remove_protections(attack.protections, sandbox, Path(folder))
    with scene_in(Path(folder), os.environ[SECRET]) as scene:
        seen = play(attack, sandbox, scene, UNPROTECTED_DEATH_SECONDS if more else DEATH_SECONDS)
        print(seen.to_line(), flush=True)


def play(attack: Attack, sandbox: Sandbox, scene: Scene, death_seconds: float) -> Observation:
    one = engine(scene.folder / "one", attack.plan, scene.facts)
    public = {name: fact for name, fact in scene.facts.items() if name != "number"}
    two = engine(scene.folder / "two", attack.opponent, public)
    before, nice = digest(scene.folder / "one"), os.nice(0)
    [report] = play_job(job_of(one, two, time_control=attack.time_control), policy=Policy(sandbox)).reports
    REAPER.close()
    return Observation(
        **report_fields(report),
        contacts=scene.contacts(),
        terminal=scene.terminal_text(),
        changed=digest(scene.folder / "one") != before,
        survivors=survivors(death_seconds),
        groups=len(list(_groups(sandbox))),
        most_processes=scene.most_processes,
        worker_bytes=peak_kib() * 1024,
        worker_limit=resource.getrlimit(resource.RLIMIT_MSGQUEUE)[0],
        worker_nice_increase=os.nice(0) - nice,
        has_controls=any(map(_has_controls, _texts(report))),
        number=scene.facts["number"],
        alive=True,
    )


def engine(folder: Path, plan: tuple[str, ...], facts: dict[str, Any]) -> EngineSpec:
    """A bad engine with the hostile programs beside it."""
    shutil.copytree(
        Path(programs.__file__).parent, folder / "programs", ignore=shutil.ignore_patterns("__pycache__")
    )
    words = [word.replace("{facts}", json.dumps(facts)) for word in plan]
    return bad_engine_in(folder, *words, name=folder.name, mark=str(folder))


def _groups(sandbox: Sandbox) -> Iterator[Path]:
    if sandbox.parent is not None:
        for folder in sandbox.parent.folders.values():
            yield from Path(folder).glob(f"engine-{os.getpid()}-*")


def _texts(report: GameReport) -> Iterator[str]:
    """The texts of a game that people read, except the logs, which have an engine's lines unchanged."""
    yield from (report.evidence, report.termination, report.reason)
    for move, comment in report.moves:
        yield from (move, comment)


def _has_controls(text: str) -> bool:
    return any(not letter.isprintable() for letter in text)


if __name__ == "__main__":
    main(sys.argv[1:])
