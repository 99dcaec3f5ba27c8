"""A process from which the workers of trials are forked, because their imports take longer than a trial.

    python -m tests.support.hostile.server

It reads lines of JSON, each the folder of a trial and more arguments of ``trial.main``, and answers each with
a line, the exit code of the worker. What the worker printed is in files of that folder.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import uuid
from pathlib import Path

from tests.support.hostile.observation import Observation
from tests.support.hostile.trial import SECRET, main
from workers.sandbox.levels import Level

ROOT = Path(__file__).parent.parent.parent.parent
TIMEOUT_SECONDS = 90
PR_SET_PDEATHSIG = 1


class TrialServer:
    """Starts the process; ``close`` ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "tests.support.hostile.server"),
            cwd=ROOT,
            env={**os.environ, SECRET: f"secret-{uuid.uuid4().hex}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def run_trial(self, name: str, level: Level, folder: Path) -> Observation:
        """Play one game in the complete sandbox of that level, in an empty folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        (folder / "tmp").mkdir()
        self._process.stdin.write(json.dumps([str(folder), name, level]).encode() + b"\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], TIMEOUT_SECONDS)[0]:
            raise TimeoutError(f"the trial is not over after {TIMEOUT_SECONDS} s")
        code = int(self._process.stdout.readline())
        return read_observation(code, (folder / "stdout").read_text(), (folder / "stderr").read_text())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def read_observation(code: int, output: str, errors: str) -> Observation:
    """The observation that a worker printed last, or one with only the evidence if it failed."""
    if code != 0:
        return Observation(evidence=f"the worker ended with {code}: {errors[-3000:]}")
    return Observation.from_line(output.splitlines()[-1])


def serve() -> None:
    """Returns in each child once its trial is over, and in the server at the end of its input."""
    server = os.getpid()
    for line in sys.stdin:
        arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            _become_worker(server, Path(arguments[0]))
            main(arguments)
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become_worker(server: int, folder: Path) -> None:
    """Give a child a session, output files and a temporary folder; it dies with the server."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != server:
        os._exit(1)
    os.setsid()
    os.environ["TMPDIR"] = str(folder / "tmp")
    for descriptor, name, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, "stdout", os.O_WRONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        opened = os.open(folder / name, mode | os.O_CREAT, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)


if __name__ == "__main__":
    serve()
