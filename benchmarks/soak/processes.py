"""The processes of a site in the soak test, and the search for processes that outlive their parent.

Unlike under ``./arena up`` no guard ends the descendants of a killed process, so leaks show.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tournament.embedded.plan import ROOT
from tournament.embedded.processes.guard import PR_SET_CHILD_SUBREAPER, descendants

RESTART_S: Final = 1.0
"""The time between the death of a process and its restart."""
PR_SET_PDEATHSIG: Final = 1
"""``<linux/prctl.h>``: die with the parent."""
STOP_S: Final = 20.0
SURVIVOR_S: Final = 5.0
"""The descendants of a process must end within this time after its death."""
DYING_WITH_US: Final = ("setpriv", "--pdeathsig", "KILL", "--")
"""Kills the service processes if the soak test is killed; their descendants end by their own means."""


class ServiceProcess:
    """One process, started again whenever it dies."""

    def __init__(
        self, name: str, command: tuple[str, ...], environment: Mapping[str, str], log: Path
    ) -> None:
        self.name = name
        self._command, self._environment, self._log = command, environment, log
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = 0.0

    @property
    def pid(self) -> int | None:
        """None while it is dead."""
        return None if self._process is None else self._process.pid

    def restart_if_dead(self) -> None:
        """Call this often: it starts a dead process once ``RESTART_S`` have passed."""
        now = time.monotonic()
        if self._process is not None and self._process.poll() is not None:
            self._process, self._start_at = None, now + RESTART_S
        if self._process is None and now >= self._start_at:
            self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                (*DYING_WITH_US, *self._command),
                cwd=ROOT,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> bool:
        """Kill the process and its group; False if it was dead already."""
        if self._process is None or self._process.poll() is not None:
            return False
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        return True

    def slots(self) -> list[int]:
        """The processes of a worker that play games."""
        if self.pid is None:
            return []
        mine = command_line(self.pid)
        return [pid for pid in descendants(self.pid) if command_line(pid) == mine]

    def stop(self) -> str:
        """End the process with SIGTERM; returns a sentence if it had to be killed, else an empty string."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return ""
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"{self.name} did not end within {STOP_S:.0f} s of SIGTERM"
        return ""


def command_line(pid: int) -> str:
    """Empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


class Orphans:
    """Finds orphaned processes: this process adopts them, so that none is missed."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        self._known = set(descendants(os.getpid()))
        self._since: dict[int, float] = {}
        self._reported: set[int] = set()

    def look(self, services: list[ServiceProcess]) -> Iterator[str]:
        """Yield one sentence for each process that outlives its parent by more than ``SURVIVOR_S``."""
        now = time.monotonic()
        service_pids = [service.pid for service in services if service.pid is not None]
        expected = {pid for parent in service_pids for pid in (parent, *descendants(parent))} | self._known
        orphans = set(descendants(os.getpid())) - expected
        self._reap(expected)
        self._since = {pid: self._since.get(pid, now) for pid in orphans}
        for pid, since in self._since.items():
            if now - since > SURVIVOR_S and pid not in self._reported and (line := command_line(pid)):
                self._reported.add(pid)
                yield f"outlived its parent by {SURVIVOR_S:.0f} s: {line}"

    def left(self) -> list[str]:
        """The command lines of the processes below this one that were not there at the beginning."""
        return [command_line(pid) for pid in set(descendants(os.getpid())) - self._known]

    def _reap(self, expected: set[int]) -> None:
        """Reap the dead children that are not in ``expected``."""
        for entry in Path(f"/proc/{os.getpid()}/task").iterdir():
            with contextlib.suppress(OSError):
                for word in (entry / "children").read_text().split():
                    if int(word) not in expected and _is_dead(int(word)):
                        os.waitpid(int(word), os.WNOHANG)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
