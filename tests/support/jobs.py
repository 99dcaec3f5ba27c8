"""Plays jobs with bad engines in this process, and finds processes that they leave."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engines.bundles.store import pack_bundle, store_bundle
from tests.support import bad_engines
from workers.engine.child import PARENT
from workers.jobs import EngineSpec, GameJob, GameReport, JobGame, Progress
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext
from workers.sandbox.policy import Policy

PATIENCE_SECONDS = 30.0
"""The longest wait; only a failing test or a busy machine reaches it."""
NO_SANDBOX = Policy()
MANIFEST = b'[bot]\nname = "Bad"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = ["dogon-kulei"]\n'


def bad_engine(
    *plan: str,
    name: str = "Bad",
    mark: str = "mark",
    options: tuple[tuple[str, str], ...] = (),
    control: str | None = None,
) -> EngineSpec:
    """``plan`` is WHEN, WHAT and DETAIL as ``bad_engines`` has them, as often as wanted. Needs no sandbox.

    ``control`` is a time control of its own.
    """
    command = ("python3", "-S", bad_engines.__file__, mark, *plan)
    return EngineSpec(name, "1", command, options=options, trusted=True, time_control=control)


def pack_bad_engine(*plan: str, mark: str = "mark") -> bytes:
    """It as a bundle, whose command is ``python3 -S main.py MARK`` and the plan."""
    command = ["python3", "-S", "main.py", mark, *plan]
    manifest = (
        f'[bot]\nname = "Bad"\nversion = "1"\ncommand = {json.dumps(command)}\ngames = ["dogon-kulei"]\n'
    )
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": Path(bad_engines.__file__).read_bytes()})


@dataclass(frozen=True)
class BadBundles:
    """Makes bad engines as bundles in a store folder: the only engines that a site's worker runs."""

    store: Path
    mark: str = "mark"

    def __call__(self, *plan: str, name: str = "Bad") -> EngineSpec:
        """The command of its manifest starts it, not the command of the job."""
        bundle = store_bundle(self.store, pack_bad_engine(*plan, mark=self.mark))
        return EngineSpec(name, "1", ("sh", "-c", "exit 9"), bundle=bundle)


def plan_of(text: str) -> tuple[str, ...]:
    """The words of a plan given as one text; a space inside a detail is written ``\\x20``."""
    return tuple(word.replace(r"\x20", " ") for word in text.split(" ") if word)


def job_of(one: EngineSpec, two: EngineSpec, *, games: int = 1, **more: Any) -> GameJob:
    """Games of six plies, colours alternating from ``one`` as White."""
    fields: dict[str, Any] = {
        "job": str(uuid.uuid4()),
        "game": "dogon-kulei",
        "engines": (one, two),
        "games": tuple(JobGame(f"spring/1/1/{n + 1}", f"attempt-{n + 1}", n % 2) for n in range(games)),
        "time_control": "5+0",
        "ply_limit": 6,
    }
    return GameJob(**{**fields, **more})


@dataclass
class Played:
    """The reports of a job, in their order."""

    reports: list[GameReport] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    returned: tuple[JobGame, ...] = ()


def play_job(
    job: GameJob,
    *,
    is_stopping: Callable[[], bool] = lambda: False,
    is_watched: Callable[[], bool] = lambda: False,
    folder: Path = Path("/nowhere"),
    policy: Policy = NO_SANDBOX,
) -> Played:
    played = Played()
    line = Callbacks(played.reports.append, played.progress.append, is_stopping, is_watched=is_watched)
    played.returned = play_batch(
        [job], WorkerContext("tester", folder / "store", folder / "cache", policy), line
    )
    return played


def processes_with(mark: str, *, parents: bool = False) -> list[int]:
    """Running processes with ``mark`` in their arguments; with the parents of engines if asked for."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            words = Path("/proc", entry, "cmdline").read_bytes().split(b"\0") if entry.isdigit() else []
        except OSError:
            continue
        if mark.encode() in words and (parents or PARENT.encode() not in words):
            found.append(int(entry))
    return found


def wait_until(
    is_so: Callable[[], object], seconds: float = PATIENCE_SECONDS, *, pause: float = 0.01
) -> bool:
    """Whether the condition became true in time; it is checked every ``pause`` seconds."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def engine_of(lines: str) -> set[tuple[int, int]]:
    """The processes, and the numbers of their games, in a log of lines."""
    return {(int(p), int(g)) for p, g in re.findall(r"info string process (\d+) game (\d+)", lines)}


@contextmanager
def nothing_left(mark: str) -> Iterator[None]:
    """After the block no engine with this mark may run, and no more descriptors may be open than before."""
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert wait_until(lambda: not processes_with(mark, parents=True)), (
        "engines are left"
    )  # a child needs a moment to end
    assert len(os.listdir("/proc/self/fd")) <= before + 1, "descriptors leak"  # the reaper's pipe may be new
