"""``python -m engines`` and the recipes of the documents against a site that is served."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from engines.__main__ import main
from engines.client.filters import FILTERS as OPTIONS
from tests.support.documents import blocks
from tests.support.fake_site import source_of
from tests.support.filled_site import Site, add_version
from tests.support.jobs import wait_until
from tests.support.schedule import open_door
from tournament.models import ActiveVersion, BotVersion, Token, VersionTest
from tournament.services.accounts.tokens import create_token
from tournament.views.games.filters import FILTERS

LADDER = "dogon-kulei"
MANIFEST = (
    f'[bot]\nname = "Iron Age"\nversion = "2"\ncommand = ["python3", "main.py"]\ngames = ["{LADDER}"]\n'
)
SCOPES = [Token.Scope.UPLOAD, Token.Scope.TESTS]
HOST = "https://duarena.example"


def test_the_options_are_the_filters_of_the_page() -> None:
    assert set(OPTIONS) == set(FILTERS) - {"boards"}
    for name, shown in OPTIONS.items():
        for word in shown.split("|") if "|" in shown else ():
            FILTERS[name].field.clean(word)


@pytest.fixture
def ask(
    site: Site, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[Any]]:
    """A command without a token that ends with 0: the objects that it prints."""
    monkeypatch.delenv("DUARENA_TOKEN", raising=False)

    def run(*words: str) -> list[Any]:
        code = main([*words, "--site", live_server.url, "--json"])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return [json.loads(line) for line in out.splitlines()]

    return run


@pytest.mark.django_db(transaction=True)
def test_a_bot_its_games_and_a_game_to_watch_are_read(site: Site, ask: Callable[..., list[Any]]) -> None:
    bot = site.white.bot
    (told,) = ask("status", bot.name)
    assert told["slug"] == bot.slug
    assert site.white.number in {row["version"] for row in told["versions"]}
    games = ask("games", "--bot", bot.slug, "--all")
    assert site.played.pk in {row["id"] for row in games}
    events = ask("watch", str(site.played.pk))
    assert events[-1]["type"] == "game.ended"
    assert events[-1]["data"]["result"] == site.played.result


def recipe(name: str) -> tuple[str, dict[str, str]]:
    """The script lines of a recipe and its own variables."""
    github, gitlab = (yaml.safe_load(text) for text in blocks("docs/api.md", "yaml"))
    if name == "gitlab":
        job = gitlab["duarena"]
        return "\n".join(job["script"]), job["variables"]
    job = github["jobs"]["duarena"]
    return "\n".join(step["run"] for step in job["steps"] if "run" in step), job["env"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["github", "gitlab"])
@pytest.mark.parametrize(("outcome", "code"), [("H0", 1), ("H1", 0), ("limit", None)])
def test_a_recipe_uploads_waits_tests_and_writes_the_summary(
    site: Site,
    live_server: LiveServer,
    settings: Any,
    tmp_path: Path,
    name: str,
    outcome: str,
    code: int | None,
) -> None:
    """The worker's part is played by this process: it finds the version valid, and ends the test."""
    settings.BUNDLES = tmp_path / "bundles"
    open_door(timezone.now())
    _, token = create_token(site.owner, "pipeline", SCOPES)
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "main.py").write_text(source_of())
    _earlier_version(site)
    script, own = recipe(name)
    assert own["DUARENA_SITE"] == HOST
    given = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "DUARENA_SITE": live_server.url,
        "DUARENA_TOKEN": token,
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_REF_NAME": "v2",
        "CI_COMMIT_TAG": "v2",
        "GITHUB_STEP_SUMMARY": str(folder / "duarena.md"),
    }
    with subprocess.Popen(
        ["bash", "-e", "-c", script], cwd=folder, env=given, stdout=-1, stderr=-2, text=True
    ) as job:
        assert wait_until(BotVersion.objects.filter(number=2, bot__name="Iron Age").exists), job.communicate()
        new = BotVersion.objects.get(number=2, bot__name="Iron Age")
        BotVersion.objects.filter(pk=new.pk).update(state=BotVersion.State.VALID)
        ActiveVersion.objects.filter(bot=new.bot).update(version=new)
        assert wait_until(VersionTest.objects.exists), job.communicate()
        VersionTest.objects.update(outcome=outcome)
        output, _ = job.communicate(timeout=60)
    undecided = 3 if name == "gitlab" else 0
    assert job.returncode == (undecided if code is None else code), output
    assert "Iron Age v2 is valid" in (folder / "duarena.md").read_text()
    assert "at least not weaker" in (folder / "duarena.md").read_text()


def _earlier_version(site: Site) -> None:
    add_version(site.owner, "Iron Age", [LADDER])
