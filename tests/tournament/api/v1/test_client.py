"""``python -m engines`` and the recipes of the documents against a site that is served."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from engines.__main__ import main
from engines.client.filters import FILTERS as OPTIONS
from tests.support.fake_site import source_of
from tests.support.filled_site import Site, add_version
from tests.support.jobs import wait_until
from tests.support.recipes import LADDER, prepare_job
from tests.support.schedule import open_door
from tournament.models import ActiveVersion, BotVersion, Token, VersionTest
from tournament.services.accounts.tokens import create_token
from tournament.views.games.filters import FILTERS

SCOPES = [Token.Scope.UPLOAD, Token.Scope.TESTS]


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
    _earlier_version(site)
    job = prepare_job(name, tmp_path / "runner", source_of(), site=live_server.url, token=token)
    with subprocess.Popen(
        job.command, cwd=job.folder, env=job.environment, stdout=-1, stderr=-2, text=True
    ) as process:
        uploaded = BotVersion.objects.filter(number=2, bot__name="Iron Age")
        assert wait_until(uploaded.exists), process.communicate()
        new = uploaded.get()
        BotVersion.objects.filter(pk=new.pk).update(state=BotVersion.State.VALID)
        ActiveVersion.objects.filter(bot=new.bot).update(version=new)
        assert wait_until(VersionTest.objects.exists), process.communicate()
        VersionTest.objects.update(outcome=outcome)
        output, _ = process.communicate(timeout=60)
    undecided = 3 if name == "gitlab" else 0
    assert process.returncode == (undecided if code is None else code), output
    assert "Iron Age v2 is valid" in job.summary
    assert "at least not weaker" in job.summary


def _earlier_version(site: Site) -> None:
    add_version(site.owner, "Iron Age", [LADDER])
