"""The documents' commands for published bots, with the kit alone in an empty folder, and a started site."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from engines.bots import SAMPLE_BOTS
from engines.bundles.store import store_bundle
from tests.support.documents import blocks
from tests.support.fake_site import bundle_of
from tests.support.filled_site import Site, add_version
from tests.support.matches import read_games
from tests.support.rated_games import play_rated
from tournament.embedded.samples import register_sample
from tournament.models import BotVersion, Bundle

pytestmark = pytest.mark.slow

SHELL = (*blocks("engines/README.md", "shell"), *blocks("docs/match.md", "sh"))
LADDERS = ["dogon-kulei", "dogon-gagara"]
HOSTS = ("https://the.site", "https://duarena.example")
SHORTER = {"-rounds 10": "-rounds 1", "workers arena": "workers arena -rounds 1"}
ENGINE = f"""\
#!{sys.executable}
from engines.sdk import run

run(lambda turn: next(turn.position.legal_moves()), name="Mine", games={LADDERS})
"""
Run = Callable[[str], subprocess.CompletedProcess[str]]


def commands(word: str) -> list[str]:
    """The commands of the documents with this word and a published bot or a site."""
    found = [text for block in SHELL for text in block.replace("\\\n", " ").splitlines() if word in text]
    return [text for text in found if "Stone Age" in text or "arena" in text]


@pytest.fixture
def run(site: Site, live_server: LiveServer, settings: Any, tmp_path: Path) -> Run:
    """Runs a command of the documents as an author with the kit does; the site has two rated public bots."""
    settings.BUNDLES = tmp_path / "bundles"
    version, data = add_version(site.owner, "Stone Age", LADDERS), bundle_of("Stone Age", games=LADDERS)
    version.bundle = Bundle.objects.create(sha256=store_bundle(settings.BUNDLES, data), size=len(data))
    version.licence = "MIT"
    version.save()
    (random,) = (register_sample(sample) for sample in SAMPLE_BOTS if sample.name == "Random")
    play_rated(None, "Rated", [version, random], ladders=LADDERS)
    kit, folder, programs = (tmp_path / name for name in ("kit", "mine", "programs"))
    zipfile.ZipFile(io.BytesIO(Client().get("/kit/duarena-kit.zip").content)).extractall(kit)
    for made in (folder, programs):
        made.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    (folder / "my-engine").write_text(ENGINE)
    (folder / "my-engine").chmod(0o755)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(kit),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "DUARENA_SITE": live_server.url,
    }

    def run_command(text: str) -> subprocess.CompletedProcess[str]:
        for old, new in {**dict.fromkeys(HOSTS, live_server.url), **SHORTER}.items():
            text = text.replace(old, new)
        command = ["sh", "-ec", text]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return run_command


def test_the_documents_have_every_command() -> None:
    words = ("engines get", "workers match", "workers check", "workers arena")
    assert [len(commands(word)) for word in words] == [1, 2, 1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_published_bot_is_fetched(run: Run, tmp_path: Path) -> None:
    (command,) = commands("engines get")
    done = run(command)
    assert done.returncode == 0, done.stderr
    assert "Licence: MIT" in done.stdout
    assert BotVersion.objects.get(licence="MIT").bundle_id in done.stdout
    assert (tmp_path / "mine" / "stone-age-v2" / "bot.toml").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("command", commands("workers match"))
def test_a_published_bot_is_played_against(run: Run, tmp_path: Path, command: str) -> None:
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    games = read_games(tmp_path / "mine" / "match.pgn")
    assert {"Stone Age"} < {game.header(side) for game in games for side in ("White", "Black")}


@pytest.mark.django_db(transaction=True)
def test_a_published_bot_is_checked(run: Run) -> None:
    (command,) = commands("workers check")
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("command", commands("workers arena"))
def test_an_engine_gets_an_elo_on_the_scale_of_the_site(run: Run, tmp_path: Path, command: str) -> None:
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("on the scale of http") == len(LADDERS)
    for ladder in LADDERS:
        games = read_games(tmp_path / "mine" / f"arena-{ladder}.pgn")
        players = {game.header(side) for game in games for side in ("White", "Black")}
        assert players == {"my-engine", "Stone Age", "Random"}
