"""``get`` against a site of a few lines: what is unpacked where, and what is said if that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from engines.__main__ import main
from engines.bundles.store import pack_bundle
from tests.support.servers import LocalServer, QuietHandler

TOML = b'[bot]\nname = "Stone Age"\nversion = "x"\ncommand = ["python3", "main.py"]\ngames = ["dualma"]\n'
ZIP = pack_bundle({"bot.toml": TOML, "lib/rules.py": b"", "main.py": b"print()\n"})
NASTY = "\x1b[2J\u202e"


@dataclass
class Site:
    """Has the bot Stone Age; ``changes`` are of its answer, ``asked`` the queries."""

    address: str = ""
    data: bytes = ZIP
    changes: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, list[str]]] = field(default_factory=list)

    def reply(self, handler: QuietHandler) -> None:
        parts = urlsplit(handler.path)
        if parts.path == "/stone-age.zip":
            return handler.reply(200, self.data)
        asked = parse_qs(parts.query)
        self.asked.append(asked)
        if (
            parts.path != "/bots/engine.json"
            or asked["name"] != ["Stone Age"]
            or "9" in asked.get("number", [])
        ):
            return handler.reply(404)
        answer = {
            "name": "Stone Age",
            "version": "2",
            "sha256": sha256(ZIP).hexdigest(),
            "page": "/bots/stone-age/2/",
            "bundle": "/stone-age.zip",
            "licence": "MIT",
            "source": "",
        }
        return handler.reply(200, json.dumps(answer | self.changes).encode())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DUARENA_SITE", raising=False)

    class Handler(QuietHandler):
        def answer(self) -> None:
            site.reply(self)

    with LocalServer(Handler) as server:
        site.address = server.url
        yield site


def get(site: Site, *words: str) -> int:
    return main(["get", *(words or ("Stone Age",)), "--site", site.address])


def test_a_bot_is_unpacked_into_a_folder_of_its_own(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert get(site) == 0
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["stone-age-v2/bot.toml", "stone-age-v2/lib/rules.py", "stone-age-v2/main.py"]
    digest = sha256(ZIP).hexdigest()
    assert capsys.readouterr().out == f"Stone Age v2 is in stone-age-v2 (SHA-256 {digest})\nLicence: MIT\n"
    assert [*tmp_path.iterdir()] == [tmp_path / "stone-age-v2"]


def test_a_version_and_a_folder_are_chosen(site: Site, tmp_path: Path) -> None:
    assert get(site, "Stone Age@2", "--folder", "rival") == 0
    assert site.asked == [{"name": ["Stone Age"], "number": ["2"]}]
    assert (tmp_path / "rival" / "main.py").read_bytes() == b"print()\n"


def test_the_site_is_named_in_the_environment_or_behind_the_bot(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["get", f"Stone Age@v2@{site.address}"]) == 0
    monkeypatch.setenv("DUARENA_SITE", site.address)
    assert main(["get", "Stone Age", "--folder", "again"]) == 0


def test_without_a_site_there_is_one_sentence(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "Stone Age"]) == 2
    assert capsys.readouterr().err == "no site was named: give --site https://… or set DUARENA_SITE\n"


@pytest.mark.parametrize(
    ("words", "changes", "sentence"),
    [
        ("Bronze Age", {}, "SITE has no bot 'Bronze Age'"),
        ("Stone Age@9", {}, "SITE has no bot 'Stone Age' with a version 9"),
        (
            "Stone Age",
            {"bundle": None},
            "Stone Age v2 is not published: the site gives its bundle to its owner only",
        ),
        ("Stone Age", {"sha256": "0" * 64}, f"SITE/stone-age.zip has the SHA-256 {sha256(ZIP).hexdigest()}"),
        ("Stone Age", {"sha256": "../x"}, "SITE did not answer as a Duarena site does"),
        ("Stone Age", {"licence": 3}, "SITE did not answer as a Duarena site does"),
        ("Stone Age", {"bundle": "file:///etc/passwd"}, "file:///etc/passwd cannot be fetched"),
        ("Stone Age", {"bundle": "/\x9b2J\u202e.zip"}, "SITE/\\x9b2J\\u202e.zip cannot be fetched"),
        ("Stone Age", {"bundle": "http://[\x1b"}, "SITE did not answer as a Duarena site does"),
        ("Stone Age", {"bundle": 7}, "SITE did not answer as a Duarena site does"),
    ],
)
def test_what_cannot_be_fetched_is_told_in_one_sentence_and_leaves_nothing(
    site: Site,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: str,
    changes: dict[str, Any],
    sentence: str,
) -> None:
    site.changes = changes
    assert get(site, words) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith(sentence.replace("SITE", site.address))
    assert complaint.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_exists_is_left_alone(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stone-age-v2").mkdir()
    assert get(site) == 2
    assert capsys.readouterr().err == "'stone-age-v2' exists already: name another with --folder\n"
    assert [*(tmp_path / "stone-age-v2").iterdir()] == []


def test_a_zip_that_a_site_refuses_is_not_unpacked(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.data = pack_bundle({"bot.toml": TOML, "../main.py": b""})
    site.changes = {"sha256": sha256(site.data).hexdigest()}
    assert get(site) == 2
    assert capsys.readouterr().err == "entry '../main.py' points outside the bundle\n"
    assert [*tmp_path.iterdir()] == []


def test_a_site_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "Stone Age", "--site", "http://127.0.0.1:9"]) == 2
    assert "http://127.0.0.1:9/bots/engine.json?name=Stone+Age cannot be fetched" in capsys.readouterr().err


def test_what_the_site_says_cannot_act_on_the_terminal_or_the_folder(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.changes = {"name": f"../{NASTY}Up", "licence": NASTY}
    assert get(site) == 0
    assert NASTY[0] not in capsys.readouterr().out
    assert len([*tmp_path.iterdir()]) == 1
