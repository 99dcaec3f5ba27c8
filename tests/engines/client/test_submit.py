"""``submit`` against a site of a few lines: what is sent, what is printed, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engines.__main__ import main
from tests.support.servers import LocalServer, QuietHandler

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "duarena_secret"
NASTY = "\x1b[2J\u202e\x00"
VERSION = {
    "bot": "Stone Age",
    "slug": "stone-age",
    "number": 2,
    "state": "validating",
    "reason": "",
    "page": "https://site.example/bots/stone-age/2/",
    "check": None,
    "games": [],
}
OK = {"check": "handshake", "ladder": "", "was_tried": True}
FAULT = {
    "check": "legal moves",
    "ladder": "dualma",
    "fault": f"illegal move {NASTY}",
    "advice": "read it all",
    "lines": f"> go\n< bestmove {NASTY}",
    "stderr": f"Traceback {NASTY}",
    "was_tried": True,
    "is_grave": True,
}
PLAYED = {
    "ladder": "dualma",
    "state": "done",
    "verdict": "White won.",
    "evidence": "",
    "lines": "",
    "stderr": "",
}


@dataclass
class Site:
    """Answers given one after the other, the last again and again; and what was asked."""

    address: str = ""
    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    is_known: bool = True

    def next(self) -> tuple[int, Any]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()

    class Handler(QuietHandler):
        def answer(self) -> None:
            site.asked.append((self.command, self.path, dict(self.headers), self.body()))
            status, value = (200, {"ok": True}) if self.path == "/api/" and site.is_known else site.next()
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            elsewhere = {"Location": "http://127.0.0.1:1/elsewhere"} if 300 <= status < 400 else {}
            self.reply(status, data, **elsewhere)

    with LocalServer(Handler) as server:
        site.address = server.url
        yield site


def version(**more: object) -> dict[str, Any]:
    return {"ok": True, "version": {**VERSION, **more}}


def refusal(sentence: str) -> dict[str, Any]:
    return {"ok": False, "error": sentence}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Submit = Callable[..., Done]


@pytest.fixture
def submit(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Submit:
    """The command in this process, which asks the site again at once."""
    for name in os.environ:
        if name.startswith("DUARENA_"):
            monkeypatch.delenv(name)
    monkeypatch.setattr("engines.client.submit.POLL_SECONDS", 0.01)
    monkeypatch.setattr("engines.client.site_client.PAUSES", (0.01, 0.02))
    monkeypatch.chdir(tmp_path)

    def run(*words: str, token: str = TOKEN) -> Done:
        (tmp_path / "bot.zip").write_bytes(b"zip bytes\r\n\x00" * 100)
        monkeypatch.setenv("DUARENA_SITE", site.address)
        monkeypatch.setenv("DUARENA_TOKEN", token)
        try:
            code = main(["submit", "bot.zip", *words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Done(code, *capsys.readouterr())

    return run


def test_a_valid_version_is_followed_to_its_end(site: Site, submit: Submit) -> None:
    check = {"findings": [OK]}
    site.answers = [
        (200, version()),
        (200, version(check=check)),
        (503, b"restarting"),
        (200, version(check=check, games=[PLAYED])),
        (200, version(check=check, games=[PLAYED], state="valid")),
    ]
    done = submit("--notes", "new: Ü")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Stone Age v2 is uploaded: https://site.example/bots/stone-age/2/",
        "A worker checks it first, as soon as one is free.",
        "handshake: ok",
        "game against itself on dualma: White won.",
        "Stone Age v2 is valid: it plays from now on.",
    ]
    _, upload, *polls = site.asked
    method, path, headers, body = upload
    assert (method, path, headers["Authorization"]) == ("POST", "/api/bots/", f"Bearer {TOKEN}")
    assert b"zip bytes\r\n\x00" * 100 in body
    assert "new: Ü".encode() in body
    assert {poll[1] for poll in polls} == {"/api/bots/stone-age/2/"}


def test_a_fault_is_printed_with_what_led_to_it_and_nothing_acts_on_the_terminal(
    site: Site, submit: Submit
) -> None:
    refused = version(state="refused", reason=f"No good: {NASTY}.", check={"findings": [OK, FAULT]})
    site.answers = [(200, refused)]
    done = submit()
    assert done.returncode == 1
    assert r"legal moves (dualma): FAULT: illegal move \x1b[2J\u202e\x00" in done.stdout
    for words in ("What to do: read it all", "> go", "Traceback", "Stone Age v2 is refused. No good"):
        assert words in done.stdout
    assert done.stdout.replace("\n", "").isprintable()


def test_a_refused_bundle_is_exit_1_with_the_site_s_sentence(site: Site, submit: Submit) -> None:
    site.answers = [(422, refusal("Entry '../x' points outside the bundle."))]
    done = submit()
    assert (done.returncode, done.stdout) == (1, "refused: Entry '../x' points outside the bundle.\n")


def test_a_token_may_be_in_a_file(
    site: Site, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("duarena_kept\n")
    site.answers = [(200, version(state="valid"))]
    monkeypatch.setenv("DUARENA_TOKEN_FILE", str(tmp_path / "token"))
    assert submit(token="").returncode == 0
    assert {headers["Authorization"] for _, _, headers, _ in site.asked} == {"Bearer duarena_kept"}
    monkeypatch.setenv("DUARENA_TOKEN_FILE", str(tmp_path))
    done = submit(token="")
    assert (done.returncode, done.stderr) == (2, f"cannot read the token in '{tmp_path}': Is a directory\n")


def test_a_token_is_not_an_option_because_others_read_the_command_line(submit: Submit) -> None:
    done = submit("--token", "duarena_secret")
    assert done.returncode == 2
    assert "unrecognized arguments" in done.stderr


@pytest.mark.parametrize(
    ("status", "answer", "words"),
    [
        (403, refusal("This token lacks the scope upload."), "This token lacks the scope upload."),
        (302, b"", "redirects to http://127.0.0.1:1/elsewhere"),
        (404, b"<html>", "answered 404: is this a Duarena site"),
        (200, b"<html>", "is not a Duarena site"),
        (200, {"ok": True, "version": {}}, "is not a Duarena site"),
        (200, version(number=NASTY), "is not a Duarena site"),
        (200, version(state="waiting", reason="There is no sandbox."), "is waiting. There is no sandbox."),
        (429, refusal("Too many requests: try again in 9 s."), "try again in 9 s"),
    ],
)
def test_what_is_not_known_in_the_end_is_exit_2_and_one_sentence(
    site: Site, submit: Submit, status: int, answer: object, words: str
) -> None:
    site.answers = [(status, answer)]
    done = submit()
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_token_is_found_out_before_the_zip_is_sent(site: Site, submit: Submit) -> None:
    site.is_known = False
    site.answers = [(401, refusal("This token is unknown or has been revoked."))]
    done = submit()
    assert (done.returncode, done.stderr) == (2, "This token is unknown or has been revoked.\n")
    assert [method for method, *_ in site.asked] == ["GET"]


def test_a_version_that_takes_too_long_is_left_with_its_address(site: Site, submit: Submit) -> None:
    site.answers = [(200, version())]
    done = submit("--timeout", "0.1")
    assert done.returncode == 3
    assert "still being validated: see https://site.example/bots/stone-age/2/" in done.stderr


@pytest.mark.parametrize(
    ("words", "token", "complaint"),
    [
        (["--site", "ftp://x"], TOKEN, "'ftp://x' is not the address of a site"),
        (["--site", "http://127.0.0.1:1"], TOKEN, "http://127.0.0.1:1 does not answer"),
        ([], "", "no token was given: set DUARENA_TOKEN"),
        ([], "two\nlines", "has a character that no token has"),
        (["--timeout", "never"], TOKEN, "not a number of seconds"),
    ],
)
def test_what_cannot_be_sent_is_exit_2(
    site: Site, submit: Submit, words: list[str], token: str, complaint: str
) -> None:
    done = submit(*words, token=token)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_zip_that_is_not_there_is_exit_2(site: Site, tmp_path: Path) -> None:
    (tmp_path / "bot.zip").mkdir()
    kept = {"PYTHONPATH": str(ROOT), "DUARENA_SITE": site.address, "DUARENA_TOKEN": TOKEN}
    for name in ("bot.zip", "none.zip"):
        command = [sys.executable, "-m", "engines", "submit", name]
        done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert f"cannot read '{name}'" in done.stderr
