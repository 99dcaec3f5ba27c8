"""A game of a site played again, with a small web server and real bundles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engines.bots import random_bot
from engines.bundles.sites import SiteError, ask_engines
from engines.bundles.store import pack_bundle
from tests.support.matches import engine, run_match
from tests.support.servers import LocalServer, QuietHandler
from workers.commands.replay import main

GAME = "dogon-kulei/1/1/1"
NAMES = {"white": "Stray", "black": "Rover"}


def bundle_of(name: str) -> bytes:
    manifest = (
        f'[bot]\nname = "{name}"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = ["dogon-kulei"]\n'
    )
    source = Path(random_bot.__file__).read_bytes()
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": source})


class Files(SimpleHTTPRequestHandler, QuietHandler):
    """Serves the files of a folder."""


class FakeSite:
    """What a site has for one game; files below ``folder`` are its pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "games").mkdir()
        self.server = LocalServer(partial(Files, directory=str(folder)))
        self.url = self.server.url
        self.engines: dict[str, Any] = {}
        for side, name in NAMES.items():
            data = bundle_of(name)
            (folder / f"{name}.zip").write_bytes(data)
            self.engines[side] = {
                "name": name,
                "version": "3",
                "sha256": sha256(data).hexdigest(),
                "page": f"/bots/{name.lower()}/3/",
                "bundle": f"/{name}.zip",
            }
        self.tell()

    def tell(self) -> None:
        (self.folder / "games" / "engines.json").write_text(json.dumps(self.engines))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    fake = FakeSite(tmp_path / "site")
    with fake.server:
        yield fake


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games between the bots that the site has."""
    folder = tmp_path_factory.mktemp("match")
    for name in NAMES.values():
        (folder / f"{name}.zip").write_bytes(bundle_of(name))
    words = [word for name in NAMES.values() for word in ("-engine", f"cmd={name}.zip")]
    finished = run_match(folder, *words, *"-game dogon-kulei -tc nodes=1 -plylimit 20".split())
    assert finished.code == 0, finished.err
    return finished.records


def test_a_game_of_a_site_is_played_again_with_the_bundles_it_was_played_with(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(records), "--game", GAME, "--site", f"{site.url}/games/12/"]) == 0
    assert capsys.readouterr().out.startswith("the same game: ")


def test_bundles_are_fetched_once(site: FakeSite, records: Path) -> None:
    words = [str(records), "--game", GAME, "--site", site.url]
    assert main(words) == 0
    for name in NAMES.values():
        (site.folder / f"{name}.zip").unlink()
    assert main(words) == 0


def test_a_bundle_that_is_not_given_away_is_asked_of_its_owner(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.engines["black"]["bundle"] = None
    site.tell()
    words = [str(records), "--game", GAME, "--site", site.url]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        "Rover v3 is not published: the site gives its bundle to its owner only, who can log in, "
        f"download it from {site.url}/bots/rover/3/ and give it as cmd=FILE.zip\n"
    )
    own = site.folder / "Rover.zip"
    assert main([*words, "-engine", f"cmd={own}"]) == 0


def test_an_engine_of_neither_name_is_refused(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(records), "--game", GAME, "--site", site.url, *engine("Third")]) == 2
    assert (
        "name='Third': with --site the name must be that of one of the two players" in capsys.readouterr().err
    )


def test_another_bundle_than_was_promised_is_not_run(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.folder / "Stray.zip").write_bytes(bundle_of("Other"))
    assert main([str(records), "--game", GAME, "--site", site.url]) == 2
    assert ": it is not used" in capsys.readouterr().err


@pytest.mark.parametrize(
    "answer", ["no JSON", "[]", "{}", '{"white": {}, "black": {}}', '{"white": 1, "black": 2}', '"' * 70_000]
)
def test_an_answer_that_is_no_site_s_is_refused(site: FakeSite, answer: str) -> None:
    (site.folder / "games" / "engines.json").write_text(answer)
    with pytest.raises(SiteError, match=r"did not answer as a Duarena site does|is longer than 65536 bytes"):
        ask_engines(site.url, GAME)


def test_a_digest_that_is_none_is_refused(site: FakeSite) -> None:
    site.engines["white"]["sha256"] = "../../etc/passwd"
    site.tell()
    with pytest.raises(SiteError, match="did not answer as a Duarena site does"):
        ask_engines(site.url, GAME)


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("duarena.example", "'duarena.example' is not the address of a site: write https://HOST"),
        ("file:///etc/passwd", "is not the address of a site"),
        ("http://127.0.0.1:9", r"http://127.0.0.1:9/games/engines.json\?id=.* cannot be fetched: .*refused"),
    ],
)
def test_an_address_that_is_none_is_told(address: str, complaint: str) -> None:
    with pytest.raises(SiteError, match=complaint):
        ask_engines(address, GAME)


def test_a_game_the_site_does_not_know_is_told(site: FakeSite) -> None:
    (site.folder / "games" / "engines.json").unlink()
    with pytest.raises(SiteError, match=f"has no game '{GAME}' that everybody may see"):
        ask_engines(site.url, GAME)
