"""The start script for a new user: in a new checkout, without rights."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator

import pytest

from engines.rules.registry import GAMES
from tests.support.checkouts import START_SECONDS, Checkout, Up, eventually, new_checkout
from tests.support.sites import SiteData

GAMES_OF_THE_DEMO = 60


@pytest.fixture(scope="module")
def checkout() -> Iterator[Checkout]:
    with new_checkout() as made:
        yield made


@pytest.mark.thorough
def test_the_demonstration_plays_every_game_once_and_leaves_nothing_running(checkout: Checkout) -> None:
    answer = checkout.run("demo")

    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-4000:]
    assert f"\n{GAMES_OF_THE_DEMO} games, none with disagreements\n" in answer.stdout
    assert "private environment" not in answer.stdout
    assert "the same to the bit" in answer.stdout
    assert checkout.processes() == []
    for game in GAMES.values():
        assert f"\n{game.name}\n" in answer.stdout
    for name in ("Random", "Greedy", "Alphabeta"):
        assert answer.stdout.count(name) == len(GAMES)
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


@pytest.mark.thorough
def test_up_plays_stops_at_ctrl_c_and_continues_when_started_again(checkout: Checkout) -> None:
    # One game at a time: Alphabeta takes its time for each move, so that on no machine all games are over
    # before the test has looked.
    first = Up(checkout, "--workers", "1")
    try:
        assert re.search(r"Uploaded bots (are run in a sandbox of level [AB]|wait: )", first.said())
        assert {first.page(path) for path in ("/", "/ladders/", "/bots/", "/tournaments/", "/upload/")} == {
            200
        }
        eventually(lambda: first.games_done() >= 2, START_SECONDS, "no games were played")
        second = checkout.run("up")
        assert second.returncode == 1
        assert "an instance is already running" in second.stderr
    finally:
        code = first.end(signal.SIGINT)
    assert code == 0, first.said()
    assert "Everything has stopped." in first.said()

    done = first.games_done()
    again = Up(checkout, "--workers", "1")
    try:
        eventually(lambda: again.games_done() > done, START_SECONDS, "it did not go on")
    finally:
        again.end(signal.SIGKILL)  # and nothing survives it


@pytest.mark.thorough
def test_an_administrator_can_log_in(checkout: Checkout) -> None:
    data = checkout.folder / "var" / "administered"
    SiteData(data)
    made = subprocess.run(
        checkout.command("admin", "ada", "--data", str(data)),
        cwd="/",
        env=checkout.environment,
        input="correct horse battery\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "ada is an administrator" in made.stdout
    with sqlite3.connect(data / "db.sqlite3") as database:
        assert database.execute("SELECT username, is_superuser FROM tournament_user").fetchall() == [
            ("ada", 1)
        ]
