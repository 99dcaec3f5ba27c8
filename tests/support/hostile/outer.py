"""The outer sandbox around a worker whose own sandbox lacks a protection: namespaces and limits."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

from tests.support.hostile.seen import Seen
from tests.support.hostile.server import FUSE_SECONDS, ROOT, read_seen
from tests.support.hostile.trial import SECRET
from workers.sandbox.levels import Level

LIMITS = (
    "prlimit",
    "--nproc=400",
    "--fsize=268435456",
    "--data=1073741824",
    "--cpu=40",
    "--core=1048576",
    "--",
)


def hold_open_trial(name: str, folder: Path) -> Seen:
    """One game without the attack's protections, in an outer sandbox. A killed worker reports nothing."""
    trial = (sys.executable, "-m", "tests.support.hostile.trial", str(folder), name, Level.B, "open")
    return _seen((*_outer_sandbox(folder), *trial), folder)


def _outer_sandbox(folder: Path) -> tuple[str, ...]:
    """All is read-only but the trial's folder; nothing of it outlives the first process."""
    if os.geteuid() == 0:
        raise AssertionError("protections are never removed as root")
    namespaces = [f"--unshare-{name}" for name in ("user", "pid", "net", "ipc", "uts")]
    places = ("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc")
    own = ("--bind", str(folder), str(folder), "--chdir", str(ROOT))
    return ("bwrap", *namespaces, "--die-with-parent", *places, *own, *LIMITS)


def _seen(command: tuple[str, ...], folder: Path) -> Seen:
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
            said, complaint = worker.communicate(timeout=FUSE_SECONDS)
        except subprocess.TimeoutExpired:
            worker.kill()
            raise
    return read_seen(worker.returncode, said, complaint)
