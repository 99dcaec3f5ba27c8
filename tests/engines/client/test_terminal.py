"""The commands on a terminal: a board that is drawn again, bars of progress, and Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import text
from engines.client.watch import CLEAR
from engines.rules.registry import find_game
from tests.support.scripted_site import ScriptedSite, fine, lines
from tournament.embedded.plan import ROOT

GAME = {
    "ladder": "dualma", "white": "Stone Age", "white_version": 2, "black": "Pebble", "black_version": 1,
    "result": "1-0", "termination": "rules", "reason": "three-in-a-row", "page": "https://site.example/7/",
}  # fmt: skip
HEAD = "Stone Age v2 – Pebble v1"
BAR = re.compile(r"\r\[[#.]{20}\] [^\r]*")


@pytest.fixture
def on_terminal(site: ScriptedSite, tmp_path: Path) -> Callable[..., tuple[str, int]]:
    """What a command writes on a terminal of 100 columns, and its exit code.

    It is interrupted when that matches ``until``.
    """

    def run(*words: str, until: str = "") -> tuple[str, int]:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        env = {"PYTHONPATH": str(ROOT), "DUARENA_SITE": site.address, "DUARENA_TOKEN": "duarena_secret"}
        command = [sys.executable, "-m", "engines", *words]
        with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=slave, stderr=slave) as process:
            os.close(slave)
            written = b""
            try:
                while piece := os.read(master, 65536):
                    written += piece
                    if until and re.search(until, written.decode(errors="replace"), re.DOTALL):
                        process.send_signal(signal.SIGINT)
                        until = ""
            except OSError:
                pass  # the command has closed the terminal
        os.close(master)
        return written.decode().replace("\r\n", "\n"), process.returncode

    return run


def played(*, ladder: str = "dualma", moves: int = 2) -> list[dict[str, object]]:
    """The events of the first legal moves of a game."""
    position, found = find_game(ladder).position.initial(), list[dict[str, object]]()
    for ply in range(1, moves + 1):
        move = next(iter(position.legal_moves()))
        position = position.play(move)
        data = {"ply": ply, "side": "black" if ply % 2 else "white", "move": move, "position": str(position)}
        found.append(event("game.move", data))
    return found


def event(kind: str, data: object) -> dict[str, object]:
    return {"id": kind, "type": kind, "at": "2026-11-29T07:00:00+00:00", "data": data}


def frames(written: str) -> list[str]:
    return written.split(CLEAR)


def drawn(move: dict[str, object], ladder: str = "dualma") -> str:
    data = move["data"]
    assert isinstance(data, dict)
    position = find_game(ladder).position.parse(data["position"])
    board = text.draw(position, last_move=data["move"])
    return f"{HEAD}\n\n{board}\n{data['ply']}. {data['side']} {data['move']}\n"


def test_a_watched_game_is_drawn_again_for_each_move(
    site: ScriptedSite, on_terminal: Callable[..., tuple[str, int]]
) -> None:
    moves = played()
    site.give("/api/v1/games/7/", fine(GAME))
    site.give("/api/v1/games/7/events/", lines(*moves, event("game.ended", GAME)))
    written, code = on_terminal("watch", "7")
    assert code == 0
    before, first, last = frames(written)
    assert (before, first) == ("", drawn(moves[0]))
    assert last == f"{drawn(moves[1])}{HEAD}: 1-0 three-in-a-row\n"


def test_the_broadcast_goes_on_with_the_next_game_and_ctrl_c_ends_it_in_one_line(
    site: ScriptedSite, on_terminal: Callable[..., tuple[str, int]]
) -> None:
    first, second = played(moves=1), played(ladder="dogon-kulei", moves=1)
    other = {**GAME, "ladder": "dogon-kulei", "white": "Flint"}
    told = [event("tv.game", GAME), *first, event("game.ended", GAME), event("tv.game", other), *second]
    site.give("/api/v1/tv/events/", lines(*told), lines())
    written, code = on_terminal("watch", "tv", until=r"Flint.*1\. black \S+\r")
    assert code == 130
    assert "Traceback" not in written
    shown, interrupted = written.rsplit("\n", 2)[0], written.splitlines()[-1]
    assert interrupted == "Interrupted; the site goes on with what it has begun."
    before, board, last = frames(shown)
    assert before == f"{HEAD} on dualma: {GAME['page']}\n"
    assert board.startswith(drawn(first[0]))
    assert last.replace("Flint", "Stone Age").startswith(drawn(second[0], "dogon-kulei"))


def test_a_wait_shows_a_bar_on_a_terminal_alone_and_removes_it(
    site: ScriptedSite, on_terminal: Callable[..., tuple[str, int]], tmp_path: Path
) -> None:
    test = {
        "test": "9", "state": "running", "games": 4, "won": 2, "drawn": 1, "lost": 1, "elo": None,
        "elo0": -10.0, "elo1": 0.0, "page": "https://site.example/9/",
    }  # fmt: skip
    site.give("/api/v1/version-tests/9/", fine(test))
    words = ("wait", "--test", "9", "--timeout", "0.1")
    written, code = on_terminal(*words)
    assert code == 3
    assert BAR.search(written)
    assert written.rpartition("\r\x1b[K")[2].startswith("9: ")
    env = {"PYTHONPATH": str(ROOT), "DUARENA_SITE": site.address}
    command = [sys.executable, "-m", "engines", *words]
    piped = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (piped.returncode, piped.stdout) == (3, "")
    assert piped.stderr.startswith("9: ")


def test_ctrl_c_during_a_bar_leaves_one_line_and_no_traceback(
    site: ScriptedSite, on_terminal: Callable[..., tuple[str, int]]
) -> None:
    version = {
        "bot": "Stone Age", "slug": "stone-age", "number": 2, "state": "validating", "reason": "",
        "page": "", "check": None, "games": [],
    }  # fmt: skip
    bot = {"bot": "Stone Age", "slug": "stone-age", "newest_version": 2}
    site.give("/api/v1/bots/", fine({"rows": [bot], "next": None}))
    site.give("/api/v1/bots/stone-age/2/validation/", fine(version))
    written, code = on_terminal("wait", "Stone Age", until="0 results")
    assert code == 130
    assert "Traceback" not in written
    assert written.splitlines()[-1] == "Interrupted; the site goes on with what it has begun."
