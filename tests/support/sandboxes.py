"""Sandboxed engines for tests: the sandbox of this machine, and bad engines that can run in it."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest

from tests.support import bad_engines
from tests.support.needs import need
from workers.engine.sandbox_probe import probe
from workers.jobs import EngineSpec
from workers.sandbox.levels import Level, Verdict, format_want
from workers.sandbox.sandbox import Sandbox


@functools.cache
def found() -> tuple[Verdict, Sandbox | None]:
    """The result of a probe of this machine, made once in each process."""
    return probe("tests")


def sandbox_of(level: Level) -> Sandbox:
    """The sandbox of this level; skips the test if the machine does not have it."""
    need("bwrap")
    verdict, sandbox = found()
    if sandbox is None or not verdict.admits(level):
        lacks = "; ".join(map(format_want, verdict.wants))
        pytest.skip(f"needs level {level}, and this is {verdict.level}: {lacks}")
    return sandbox if level is Level.A else Sandbox(sandbox.tools, None, sandbox.limits)


def bad_engine_in(folder: Path, *plan: str, name: str = "Bad", mark: str = "mark") -> EngineSpec:
    """A bad engine, as ``bad_engines`` has them, with its program in ``folder``."""
    folder.mkdir(exist_ok=True)
    shutil.copy(bad_engines.__file__, folder)
    command = ("python3", "-S", Path(bad_engines.__file__).name, mark, *plan)
    return EngineSpec(name, "1", command, directory=str(folder))
