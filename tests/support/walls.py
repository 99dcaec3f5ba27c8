"""Engines behind walls, for tests: which walls this machine gives, and games played behind them."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest

from tests.support import bad_engines
from tests.support.needs import need
from workers.engine.sandbox_probe import probe
from workers.jobs import EngineSpec
from workers.sandbox.enclosure import Sandbox
from workers.sandbox.levels import Level, Verdict, format_want


@functools.cache
def found() -> tuple[Verdict, Sandbox | None]:
    """What a probe says of this machine, asked once a process."""
    return probe("tests")


def sandbox_of(level: Level) -> Sandbox:
    """The walls of this level; skips a test that needs more than there are."""
    need("bwrap")
    verdict, sandbox = found()
    if sandbox is None or not verdict.admits(level):
        lacks = "; ".join(map(format_want, verdict.wants))
        pytest.skip(f"needs level {level}, and this is {verdict.level}: {lacks}")
    return sandbox if level is Level.A else Sandbox(sandbox.tools, None, sandbox.limits)


def walled_engine(folder: Path, *plan: str, name: str = "Bad", mark: str = "mark") -> EngineSpec:
    """A bad engine, as ``bad_engines`` has them, with its program in ``folder``."""
    folder.mkdir(exist_ok=True)
    shutil.copy(bad_engines.__file__, folder)
    command = ("python3", "-S", Path(bad_engines.__file__).name, mark, *plan)
    return EngineSpec(name, "1", command, directory=str(folder))
