"""The output of a match, with and without a terminal."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.matches import DEADLINE_SECONDS, QUICK, ROOT, engine, game_of, run_match, terms_of
from tests.support.terminals import Screen
from workers.jobs import SideLog
from workers.match.ledger import Ledger
from workers.match.reports import MatchEnding, ScreenReport
from workers.match.results import GameResult
from workers.match.slots.messages import SlotGame

HEIGHT = 24
LADDERS = "duovallis dualma dogon-kulei dogon-gagara duploline"


def told_of(game: GameResult) -> SlotGame:
    return SlotGame(game, "", "it hung", SideLog(), SideLog())


class Shown:
    """A report of two engines' match on a terminal of 24 lines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ladders: str) -> None:
        monkeypatch.setenv("LINES", str(HEIGHT))
        monkeypatch.setenv("COLUMNS", "80")
        self._out = io.StringIO()
        self.screen = Screen(HEIGHT)
        self.ledger = Ledger(terms_of(ladders=ladders))
        self.report = ScreenReport(self.ledger, out=self._out)
        self.report.started()
        self.draw()

    def draw(self) -> None:
        self.report.tick()
        self.look()

    def look(self) -> None:
        self.screen.write(self._out.getvalue())
        self._out.seek(0)
        self._out.truncate()

    def play(self, key: str, result: str = "1-0", **more: str) -> None:
        game = game_of(key, "A", "B", result, **more)
        self.ledger.next_pair()
        self.ledger.record(game)
        self.report.game(told_of(game))
        self.look()


def test_the_table_stays_below_the_scrolling_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(monkeypatch, "dogon-kulei")
    shown.play("dogon-kulei/1/1/1")
    shown.play("dogon-kulei/1/1/2", "0-1", termination="time forfeit", fault="white")
    assert shown.screen.lines[0] == "2 games"
    assert shown.screen.lines[1] == "dogon-kulei/1/1/2  A - B  0-1  time forfeit"
    assert shown.screen.lines[2] == "  it hung"
    assert shown.screen.lines[3] == "dogon-kulei"
    assert len([line for line in shown.screen.lines if "LL-LD-DD-WD-WW" in line]) == 1
    assert shown.screen.lines[-2:] == [f"[{'#' * 20}] 2/2 games, 0 running or next", ""]


def test_without_room_for_all_tables_one_of_all_ladders_is_shown_and_never_scrolls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = Shown(monkeypatch, LADDERS)
    for _ in range(3):
        shown.play("duovallis/1/1/1", "0-1", termination="crash", fault="white")
    assert [line for line in shown.screen.lines if line.startswith("du")].count(
        " + ".join(LADDERS.split())
    ) == 1
    assert not any("LL-LD" in line for line in shown.screen.scrolled)
    assert sum("LL-LD" in line for line in shown.screen.lines) == 1
    shown.report.ended(MatchEnding.STOPPED)
    shown.look()
    lines = [*shown.screen.scrolled, *shown.screen.lines]
    assert sum("LL-LD" in line for line in lines) == 6, "at the end they are all there"


def test_more_engines_than_lines_are_cut_and_the_progress_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "8")
    out, screen = io.StringIO(), Screen(8)
    report = ScreenReport(Ledger(terms_of("A B C D E F G H I J")), out=out)
    report.started()
    for _ in range(2):
        report.notice("lost", "look here")
    screen.write(out.getvalue())
    assert screen.scrolled == ["90 games", "look here", "look here"]
    assert screen.lines[0] == "dogon-kulei"
    assert screen.lines[-2:] == [f"[{'.' * 20}]  0/90 games, 0 running or next", ""]


def test_a_match_on_a_real_terminal_ends_with_its_table(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    match = subprocess.Popen(
        [sys.executable, "-m", "workers", "match", *engine("A"), *engine("B"), *QUICK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=theirs,
    )
    os.close(theirs)
    output = bytearray()
    try:
        while chunk := os.read(ours, 65536):
            output += chunk
    except OSError:  # the end of a terminal
        pass
    finally:
        os.close(ours)
        assert match.wait(DEADLINE_SECONDS) == 0
    screen = Screen(HEIGHT)
    screen.write(output.decode())
    assert screen.lines[0] == "2 games"
    assert sum("LL-LD-DD-WD-WW" in line for line in screen.lines) == 1
    assert b"\x1b[" in output


def test_without_a_terminal_there_are_plain_lines(tmp_path: Path) -> None:
    done = run_match(tmp_path, *engine("A"), *engine("B"), *QUICK)
    assert "\x1b" not in done.out
    assert "1/2  dogon-kulei/1/1/1  A - B  " in done.out
