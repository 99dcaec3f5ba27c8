"""``python -m workers replay --site`` with a real site."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from engines.bundles.sites import SiteError, ask_engines, fetch_site_bundle
from engines.bundles.store import pack_bundle, store_bundle
from tests.support.fake_site import bundle_of
from tests.support.filled_site import LogIn, Site, add_version
from tests.support.matches import run_match
from tournament.models import BotVersion, Bundle, Game
from workers.commands.replay import main as replay

MANIFEST = b'[bot]\nname = "Sample"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = ["dualma"]\n'


@pytest.fixture
def sample(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BotVersion:
    """A sample bot, which takes Black's place in the played game."""
    monkeypatch.setattr(settings, "BUNDLES", tmp_path / "bundles")
    data = pack_bundle({"bot.toml": MANIFEST, "main.py": b""})
    version = add_version(None, "Sample")
    version.bundle = Bundle.objects.create(sha256=store_bundle(tmp_path / "bundles", data), size=len(data))
    version.save()
    site.played.black = version
    site.played.save()
    return version


def test_everybody_can_download_a_sample_s_bundle(site: Site, sample: BotVersion, as_user: LogIn) -> None:
    for user in (None, site.rival, site.owner, site.staff):
        assert as_user(user).get(f"/bots/sample/{sample.number}/bundle.zip").status_code == 200


def test_the_site_names_the_engines_of_a_game_and_lends_only_public_bundles(
    site: Site, sample: BotVersion, live_server: LiveServer, tmp_path: Path
) -> None:
    engines = ask_engines(live_server.url, site.played.key)
    assert (engines["white"].name, engines["white"].sha256) == ("Stone Age", site.white.bundle_id)
    path = fetch_site_bundle(engines["black"], tmp_path / "store")
    assert path.read_bytes() == Bundle.objects.get(pk=sample.bundle_id).path.read_bytes()
    with pytest.raises(
        SiteError, match=r"Stone Age v1 is not published: .* from http.*/bots/stone-age/1/ and give it"
    ):
        fetch_site_bundle(engines["white"], tmp_path / "store")


def test_an_owner_receives_the_address_of_the_bundle(site: Site, as_user: LogIn) -> None:
    answer = as_user(site.owner).get("/games/engines.json", {"id": site.played.key}).json()
    assert answer["white"]["bundle"] == "/bots/stone-age/1/bundle.zip"
    assert answer["black"]["bundle"] is None


def test_the_game_s_page_names_the_bundles_and_how_to_play_it_again(site: Site, client: Client) -> None:
    page = client.get(f"/games/{site.played.pk}/").content.decode()
    assert site.white.bundle_id in page
    assert site.black.bundle_id in page
    assert f"python3 -m workers replay game-{site.played.pk}.pgn --site http://testserver" in page


def test_a_recorded_game_between_published_bots_is_played_again_with_the_site_alone(
    site: Site,
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(settings, "BUNDLES", tmp_path / "bundles")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for version, name in ((site.white, "Stray"), (site.black, "Rover")):
        data = bundle_of(name)
        sha256 = store_bundle(tmp_path / "bundles", data)
        bundle = Bundle.objects.create(sha256=sha256, size=len(data))
        BotVersion.objects.filter(pk=version.pk).update(bundle=bundle, licence="MIT")
        (tmp_path / f"{name}.zip").write_bytes(data)
    words = [word for name in ("Stray", "Rover") for word in ("-engine", f"cmd={name}.zip")]
    match = run_match(tmp_path, *words, *"-game dogon-kulei -tc nodes=1 -plylimit 20".split())
    Game.objects.filter(pk=site.played.pk).update(key="dogon-kulei/1/1/1")
    shutil.rmtree(tmp_path / "cache")
    assert replay([str(match.records), "--game", "dogon-kulei/1/1/1", "--site", live_server.url]) == 0
    assert capsys.readouterr().out.startswith("the same game: ")
