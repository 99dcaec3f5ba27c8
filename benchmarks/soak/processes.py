"""The processes of a site under soak, and what of them outlives what it must not outlive.

No guard stands behind them, as there would be under ``./arena up``: what is left when one is killed is left.
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
"""After its death a process is started again."""
PR_SET_PDEATHSIG: Final = 1
"""``<linux/prctl.h>``: die with the parent."""
STOP_S: Final = 20.0
SURVIVOR_S: Final = 5.0
"""What was below a process that died must be gone by then."""


DYING_WITH_US: Final = ("setpriv", "--pdeathsig", "KILL", "--")
"""Should the soak itself be killed, the posts are; what is below them must see to itself as always."""


class Post:
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

    def tend(self) -> None:
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
        """It and its group, outright; False if it was dead."""
        if self._process is None or self._process.poll() is not None:
            return False
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        return True

    def slots(self) -> list[int]:
        """Of a worker: the processes that play."""
        if self.pid is None:
            return []
        mine = command_line(self.pid)
        return [pid for pid in descendants(self.pid) if command_line(pid) == mine]

    def stop(self) -> str:
        """Ask it to end; empty, or a sentence about how it did not."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return ""
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"{self.name} had not ended {STOP_S:.0f} s after it was told to"
        return ""


def command_line(pid: int) -> str:
    """Empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


class Orphans:
    """Whoever loses its parent becomes a child of this process: so none is overlooked."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        self._known = set(descendants(os.getpid()))
        self._since: dict[int, float] = {}
        self._told: set[int] = set()

    def look(self, posts: list[Post]) -> Iterator[str]:
        """A sentence for each that has outlived its parent for too long, once."""
        now = time.monotonic()
        homes = [post.pid for post in posts if post.pid is not None]
        housed = {pid for home in homes for pid in (home, *descendants(home))} | self._known
        strays = set(descendants(os.getpid())) - housed
        self._reap(housed)
        self._since = {pid: self._since.get(pid, now) for pid in strays}
        for pid, since in self._since.items():
            if now - since > SURVIVOR_S and pid not in self._told and (line := command_line(pid)):
                self._told.add(pid)
                yield f"outlived its parent by {SURVIVOR_S:.0f} s: {line}"

    def left(self) -> list[str]:
        """The command lines of all that are there now and were not at the beginning."""
        return [command_line(pid) for pid in set(descendants(os.getpid())) - self._known]

    def _reap(self, housed: set[int]) -> None:
        """Those that died as our children and are nobody's post."""
        for entry in Path(f"/proc/{os.getpid()}/task").iterdir():
            with contextlib.suppress(OSError):
                for word in (entry / "children").read_text().split():
                    if int(word) not in housed and _is_dead(int(word)):
                        os.waitpid(int(word), os.WNOHANG)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
