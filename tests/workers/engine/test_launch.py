"""The scratch folder of an engine that is restarted: used again only if nothing was left in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.protocol import Winner
from tests.support.jobs import bad_engine
from workers.engine.launch import plan_launch
from workers.engine.players import UgiPlayer


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def restarting_player(*plan: str) -> UgiPlayer:
    spec = bad_engine(*plan)
    player: UgiPlayer = UgiPlayer(
        lambda: plan_launch(spec, None, None, player.scratch), variant="dogon-kulei"
    )
    return player


def homes_of(player: UgiPlayer, starts: int) -> Iterator[str]:
    """Its home folder in each of some starts."""
    for _ in range(starts):
        player.prepare()
        player.finish(Winner.DRAW, "")
        yield json.loads(player.take_stderr())["environment"]["HOME"]
        player.close(restarts=True)


SHOW_HOME = ("start", "show", "-")


def test_a_restarted_engine_that_left_no_file_has_the_same_home(temporary: Path) -> None:
    player = restarting_player(*SHOW_HOME)
    assert len(set(homes_of(player, 3))) == 1
    assert len(list(temporary.iterdir())) == 1
    player.close()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("leaves", [("start", "look", "-"), (*SHOW_HOME, "quit", "relink", "-")])
def test_a_restarted_engine_never_finds_what_it_left(temporary: Path, leaves: tuple[str, ...]) -> None:
    player = restarting_player(*leaves)
    assert len(set(homes_of(player, 3))) == 3
    assert list(temporary.iterdir()) == []
    player.kill()


def test_a_kept_home_is_removed_when_the_engine_is_killed_or_cannot_be_planned_again(temporary: Path) -> None:
    launches = [plan_launch(bad_engine(*SHOW_HOME), None)]
    player = UgiPlayer(lambda: launches.pop(), variant="dogon-kulei")
    list(homes_of(player, 1))
    with pytest.raises(IndexError):
        player.prepare()
    assert [str(path) for path in temporary.iterdir()] == [player.scratch]
    player.kill()
    assert os.listdir(temporary) == []
