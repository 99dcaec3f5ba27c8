"""The start script as a stranger uses it: in a new checkout, as a user without rights."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.rules.registry import GAMES
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT, fetch_status

NOBODY = 65534
START_S = 300.0
STOP_S = 60.0
GAMES_OF_THE_DEMO = 60


@dataclass(frozen=True, slots=True)
class Checkout:
    """A copy of the files under version control, in a folder with spaces in its name."""

    folder: Path
    environment: dict[str, str]

    def command(self, *words: str) -> tuple[str, ...]:
        """As an unprivileged user, also where the tests run as root."""
        drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")
        return (*(drop if os.geteuid() == 0 else ()), str(self.folder / "arena"), *words)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd="/",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def processes(self) -> list[str]:
        """What runs from this checkout or on its data, as command lines."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:
                    continue
                if str(self.folder) in words:
                    found.append(words)
        return found


@pytest.fixture(scope="module")
def checkout() -> Iterator[Checkout]:
    # Not in pytest's own folder: nobody else may look into that.
    top = Path(tempfile.mkdtemp(prefix="duarena-e2e-", dir="/tmp"))
    folder = top / "a check out"
    listed = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    if os.geteuid() == 0:
        for path in (top, *top.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DUARENA_", "DJANGO_"))}
    for name in ("REDIS_URL", "DATABASE_URL", "PYTHONPATH", "VIRTUAL_ENV", "XDG_RUNTIME_DIR"):
        kept.pop(name, None)
    yield Checkout(folder, {**kept, "HOME": str(top)})
    shutil.rmtree(top, ignore_errors=True)


def eventually(condition: Callable[[], object], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


@pytest.mark.slow
def test_the_demonstration_plays_every_game_once_and_leaves_nothing_running(checkout: Checkout) -> None:
    answer = checkout.run("demo")

    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-4000:]
    assert f"{GAMES_OF_THE_DEMO}/{GAMES_OF_THE_DEMO} games" in answer.stdout
    assert "equal to the bit" in answer.stdout
    assert "no process is left" in answer.stdout
    assert checkout.processes() == []
    for game in GAMES.values():
        assert f"\n{game.name}\n" in answer.stdout
    for name in ("Random", "Greedy", "Alphabeta"):
        assert answer.stdout.count(name) == 2 * len(GAMES)  # a crosstable and a rating table each
    data = checkout.folder / "var" / "demo"
    assert sorted(path.stem for path in (data / "records").iterdir()) == sorted(GAMES)
    with sqlite3.connect(data / "db.sqlite3") as database:
        rows = database.execute("SELECT key, result, state FROM tournament_game").fetchall()
    assert len({key for key, _, _ in rows}) == GAMES_OF_THE_DEMO
    assert {state for _, _, state in rows} == {"done"}
    published = "".join(path.read_text() for path in (data / "records").iterdir())
    assert sorted(re.findall(r'^\[GameId "(.*)"\]$', published, re.MULTILINE)) == sorted(
        row[0] for row in rows
    )


class Up:
    """A running ``./arena up``."""

    def __init__(self, checkout: Checkout) -> None:
        self.port = find_port("127.0.0.1", 18_400)
        self._checkout = checkout
        self._log = checkout.folder.parent / f"up-{time.monotonic_ns()}.log"
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                checkout.command("up", "--port", str(self.port)),
                cwd="/",
                env=checkout.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            eventually(
                lambda: self._has_ended() or "Duarena is at" in self.said(), START_S, "no address was printed"
            )
            assert not self._has_ended(), self.said()
        except BaseException:
            self.end(signal.SIGKILL)
            raise

    def _has_ended(self) -> bool:
        return self.process.poll() is not None

    def _has_said_its_address(self) -> bool:
        return self._has_ended() or "Duarena is at" in self.said()

    def said(self) -> str:
        return self._log.read_text()

    def page(self, path: str) -> int:
        return fetch_status(f"http://127.0.0.1:{self.port}{path}")

    def games_done(self) -> int:
        with sqlite3.connect(self._checkout.folder / "var" / "db.sqlite3", timeout=20) as database:
            count: int = database.execute(
                "SELECT count(*) FROM tournament_game WHERE state = 'done'"
            ).fetchone()[0]
            return count

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(STOP_S)
        eventually(lambda: not self._checkout.processes(), STOP_S, "processes are left")
        return code


@pytest.mark.slow
def test_up_plays_stops_at_ctrl_c_and_goes_on_where_it_stopped(checkout: Checkout) -> None:
    first = Up(checkout)
    try:
        assert "Uploaded bots wait" in first.said()
        assert re.search(r"To let them play: (DUARENA_SANDBOX=B )?\./arena up", first.said())
        assert {first.page(path) for path in ("/", "/ladders/", "/bots/", "/tournaments/", "/upload/")} == {
            200
        }
        eventually(lambda: first.games_done() >= 2, START_S, "no games were played")
        second = checkout.run("up")
        assert second.returncode == 1
        assert "an instance is already running" in second.stderr
    finally:
        code = first.end(signal.SIGINT)
    assert code == 0, first.said()
    assert "Everything has stopped." in first.said()

    done = first.games_done()
    again = Up(checkout)
    try:
        eventually(lambda: again.games_done() > done, START_S, "it did not go on")
    finally:
        again.end(signal.SIGKILL)  # and nothing survives it


@pytest.mark.slow
def test_an_administrator_can_log_in(checkout: Checkout) -> None:
    made = subprocess.run(
        checkout.command("admin", "ada", "--data", str(checkout.folder / "var")),
        cwd="/",
        env=checkout.environment,
        input="correct horse battery\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "ada is an administrator" in made.stdout
    with sqlite3.connect(checkout.folder / "var" / "db.sqlite3") as database:
        assert database.execute("SELECT username, is_superuser FROM tournament_user").fetchall() == [
            ("ada", 1)
        ]
