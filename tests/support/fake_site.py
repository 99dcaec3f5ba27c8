"""A site of a few files: it tells the engines of one game, and of one bot, and serves their bundles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engines.bots import random_bot
from engines.bundles.store import pack_bundle
from tests.support.servers import LocalServer, QuietHandler

NAMES = {"white": "Stray", "black": "Rover"}


def source_of(line: str = "") -> str:
    """The source of a bot that first runs this line."""
    first = "from __future__ import annotations\n"
    return Path(random_bot.__file__).read_text().replace(first, f"{first}{line}\n")


def bundle_of(name: str, line: str = "", games: Sequence[str] = ("dogon-kulei",)) -> bytes:
    about = f'name = "{name}"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = {json.dumps(games)}'
    manifest = f"[bot]\n{about}\n"
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": source_of(line).encode()})


class Files(SimpleHTTPRequestHandler, QuietHandler):
    """Serves the files of a folder."""


class FakeSite:
    """What a site has for one game; files below ``folder`` are its pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "games").mkdir()
        (folder / "bots").mkdir()
        (folder / "ladders" / "dogon-kulei").mkdir(parents=True)
        self.server = LocalServer(partial(Files, directory=str(folder)))
        self.url = self.server.url
        self.engines: dict[str, Any] = {}
        for side, name in NAMES.items():
            self.publish(side, name)

    def publish(self, side: str, name: str, line: str = "") -> None:
        """Give a side a bot that first runs this line."""
        data = bundle_of(name, line)
        (self.folder / f"{name}.zip").write_bytes(data)
        self.engines[side] = {
            "name": name,
            "version": "3",
            "sha256": sha256(data).hexdigest(),
            "page": f"/bots/{name.lower()}/3/",
            "bundle": f"/{name}.zip",
        }
        self.tell()

    def rate(self, *rows: dict[str, Any]) -> None:
        """Tell these rows of the ladder Dogon kulei."""
        usual = {"place": None, "version": 3, "licence": "", "owner": "olga", "elo": 0.0}
        ladder = {"time_control": "nodes=1", "opening_plies": 2, "ratings": [usual | row for row in rows]}
        path = self.folder / "ladders" / "dogon-kulei" / "ratings.json"
        path.write_text(json.dumps(ladder))

    def tell(self) -> None:
        (self.folder / "games" / "engines.json").write_text(json.dumps(self.engines))
        (self.folder / "bots" / "engine.json").write_text(json.dumps(self.engines.get("black")))


@contextmanager
def fake_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    """The site while it is served, with a new cache of bundles."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    fake = FakeSite(tmp_path / "site")
    with fake.server:
        yield fake
