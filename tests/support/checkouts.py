"""The start script in a new checkout, with the installed packages and compiled modules of this one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from tests.support.jobs import wait_until
from tests.support.needs import need
from tests.support.processes import command_line
from tests.support.sites import NO_SETTINGS, empty_site
from tournament.embedded.plan import ROOT

PORT = str(20_000 + os.getpid() % 10_000)
"""Or the next free one. Two sites that look for one at the same moment must not find the same."""
START_SECONDS = 300.0
STOP_SECONDS = 60.0
NEVER = {"DUARENA_LADDER_GAMES": "0"}
"""The ladders play no games."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A copy of the files under version control, in a folder with spaces in its name."""

    folder: Path
    environment: dict[str, str]

    def command(self, *words: str) -> tuple[str, ...]:
        """The start script with these words."""
        return (str(self.folder / "arena"), *words)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run_command(self.command(*words))

    def run_command(self, command: tuple[str, ...], folder: str = "/") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def processes(self) -> list[str]:
        """The command lines of processes that run from this checkout or on its data."""
        lines = [command_line(int(entry)) for entry in os.listdir("/proc") if entry.isdigit()]
        return [line for line in lines if str(self.folder) in line]


@contextmanager
def new_checkout(settings: Mapping[str, str] = NO_SETTINGS, *, has_tables: bool = True) -> Iterator[Checkout]:
    """A checkout in which ``arena`` has nothing to install, compile or, if it ``has_tables``, migrate."""
    need("git")
    top = Path(tempfile.mkdtemp(prefix="e2e-"))
    folder = top / "a check out"
    listed = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        _copy(ROOT / name, folder / name)
        compiled = cache_from_source(str(ROOT / name)) if name.endswith(".py") else ""
        if os.path.exists(compiled):
            _copy(Path(compiled), Path(cache_from_source(str(folder / name))))
    _install(folder)
    if has_tables:
        shutil.copytree(empty_site(), folder / "var")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DUARENA_", "DJANGO_"))}
    for name in ("REDIS_URL", "DATABASE_URL", "PYTHONPATH", "VIRTUAL_ENV", "XDG_RUNTIME_DIR"):
        kept.pop(name, None)
    yield Checkout(folder, {**kept, "HOME": str(top), **settings})
    shutil.rmtree(top, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """With its time, by which Python knows that a compiled module is one of its source."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def _install(folder: Path) -> None:
    """Make what ``arena`` makes at its first start, as links to the environment of these tests."""
    venv = folder / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", venv)
    packages = Path(sysconfig.get_path("purelib"))
    linked = venv / packages.relative_to(sys.prefix)
    linked.parent.mkdir(parents=True)
    linked.symlink_to(packages)
    if (redis := Path(sys.prefix) / "redis").exists():
        (venv / "redis").symlink_to(redis)
    requirements = (folder / "requirements.txt").read_bytes()
    stamped = subprocess.run(
        ("cksum",), input=f"{venv}\n".encode() + requirements, capture_output=True, check=True
    )
    (venv / "made-for").write_text(f"{venv}\n")
    (venv / "stamp-run").write_bytes(stamped.stdout)
    for room in ("engines", "workers/game"):
        if (ROOT / room / "build").exists():
            shutil.copytree(ROOT / room / "build", folder / room / "build")


def eventually(condition: Callable[[], object], seconds: float, what: str) -> None:
    assert wait_until(condition, seconds, pause=0.2), what


class Up:
    """A running ``./arena up``, which has printed its address and what happens to uploaded bots.

    Or another ``command``, which has printed ``ready``.
    """

    def __init__(
        self,
        checkout: Checkout,
        *words: str,
        command: str = "up",
        ready: str = "Uploaded bots ",
        terminal: int = subprocess.DEVNULL,
    ) -> None:
        self._checkout = checkout
        self._log = checkout.folder.parent / f"{command}-{time.monotonic_ns()}.log"
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                checkout.command(command, "--port", PORT, *words),
                cwd="/",
                env=checkout.environment,
                stdin=terminal,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            eventually(
                lambda: self._has_ended() or ready in self.said(),
                START_SECONDS,
                "it did not print that it is ready",
            )
            assert not self._has_ended(), self.said()
            self.port = re.findall(r"Duarena is at http://127\.0\.0\.1:(\d+)", self.said())[0]
        except BaseException:
            self.end(signal.SIGKILL)
            raise

    def _has_ended(self) -> bool:
        return self.process.poll() is not None

    def said(self) -> str:
        return self._log.read_text()

    def page(self, path: str) -> int:
        """Its HTTP status; however long a busy machine takes."""
        with self.open(path) as answer:
            return int(answer.status)

    def open(self, path: str, **headers: str) -> Any:
        """The response."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        return urllib.request.urlopen(request, timeout=START_SECONDS)

    def games_done(self) -> int:
        with sqlite3.connect(self._checkout.folder / "var" / "db.sqlite3", timeout=20) as database:
            count: int = database.execute(
                "SELECT count(*) FROM tournament_game WHERE state = 'done'"
            ).fetchone()[0]
            return count

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(STOP_SECONDS)
        eventually(lambda: not self._checkout.processes(), STOP_SECONDS, "processes are left")
        return code
