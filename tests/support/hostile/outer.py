"""The outer sandbox around a worker whose own sandbox lacks a protection: namespaces and limits."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

from tests.support.hostile.observation import Observation
from tests.support.hostile.server import ROOT, TIMEOUT_SECONDS, read_observation
from tests.support.hostile.trial import SECRET
from workers.sandbox.levels import Level

LIMITS = "prlimit --nproc=400 --fsize=268435456 --data=1073741824 --cpu=40 --core=1048576 --".split()


def run_unprotected_trial(name: str, folder: Path) -> Observation:
    """Play one game without the attack's protections, in an outer sandbox."""
    trial = (sys.executable, "-m", "tests.support.hostile.trial", str(folder), name, Level.B, "open")
    return _observe((*_outer_sandbox(folder), *trial), folder)


def _outer_sandbox(folder: Path) -> tuple[str, ...]:
    """The words of bwrap: only the trial's folder is writable, and all processes end with the first."""
    if os.geteuid() == 0:
        raise AssertionError("protections are never removed as root")
    namespaces = [f"--unshare-{name}" for name in ("user", "pid", "net", "ipc", "uts")]
    places = ("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc")
    own = ("--bind", str(folder), str(folder), "--chdir", str(ROOT))
    return ("bwrap", *namespaces, "--die-with-parent", *places, *own, *LIMITS)


def _observe(command: tuple[str, ...], folder: Path) -> Observation:
    environment = {**os.environ, SECRET: f"secret-{uuid.uuid4().hex}", "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as worker:
        try:
            output, errors = worker.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            worker.kill()
            raise
    return read_observation(worker.returncode, output, errors)
