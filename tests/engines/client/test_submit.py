"""``submit`` against a site of a few lines: what is sent, what is printed, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.client.conftest import TOKEN, Run
from tests.support.scripted_site import Answer, ScriptedSite, fine, refusal
from tournament.embedded.plan import ROOT

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


UPLOAD = "/api/v1/bots/"
VALIDATION = "/api/v1/bots/stone-age/2/validation/"
VERSIONS = "/api/v1/bots/stone-age/versions/"
TESTS = "/api/v1/version-tests/"


def version(**more: object) -> Answer:
    return fine({**VERSION, **more})


@pytest.fixture
def submit(site: ScriptedSite, run: Run, tmp_path: Path) -> Run:
    """The command with a zip, for a site that takes it and finds it valid."""
    (tmp_path / "bot.zip").write_bytes(b"zip bytes\r\n\x00" * 100)
    site.give("/api/v1/token/", fine({"user": "olga"}))
    site.give(UPLOAD, fine({**VERSION, "games": ["dualma"], "url": "", "dry_run": False}))
    site.give(VALIDATION, version(state="valid"))
    return lambda *words, token=TOKEN: run("submit", "bot.zip", *words, token=token)


def test_a_valid_version_is_followed_to_its_end(site: ScriptedSite, submit: Run) -> None:
    check = {"findings": [OK]}
    site.give(
        VALIDATION,
        version(),
        version(check=check),
        (503, b"restarting", {}),
        version(check=check, games=[PLAYED]),
        version(check=check, games=[PLAYED], state="valid"),
    )
    done = submit("--notes", "new: Ü")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Stone Age v2 is uploaded: https://site.example/bots/stone-age/2/",
        "A worker checks it first, as soon as one is free.",
        "handshake: ok",
        "game against itself on dualma: White won.",
        "Stone Age v2 is valid: it plays from now on.",
    ]
    (upload,) = site.of(UPLOAD)
    assert (upload.method, upload.headers["Authorization"]) == ("POST", f"Bearer {TOKEN}")
    assert b"zip bytes\r\n\x00" * 100 in upload.body
    assert "new: Ü".encode() in upload.body


def test_a_fault_is_printed_with_what_led_to_it_and_nothing_acts_on_the_terminal(
    site: ScriptedSite, submit: Run
) -> None:
    found = {"findings": [OK, FAULT]}
    site.give(VALIDATION, version(state="refused", reason=f"No good: {NASTY}.", check=found))
    done = submit()
    assert done.code == 1
    assert r"legal moves (dualma): FAULT: illegal move \x1b[2J\u202e\x00" in done.out
    for words in ("What to do: read it all", "> go", "Traceback", "Stone Age v2 is refused. No good"):
        assert words in done.out
    assert done.out.replace("\n", "").isprintable()


def test_a_refused_bundle_is_exit_1_with_the_site_s_sentence(site: ScriptedSite, submit: Run) -> None:
    site.give(UPLOAD, refusal(422, "Entry '../x' points outside the bundle."))
    done = submit()
    assert (done.code, done.out) == (1, "refused: Entry '../x' points outside the bundle.\n")


def test_a_token_may_be_in_a_file(
    site: ScriptedSite, submit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("duarena_kept\n")
    monkeypatch.setenv("DUARENA_TOKEN_FILE", str(tmp_path / "token"))
    assert submit(token="").code == 0
    assert {asked.headers["Authorization"] for asked in site.asked} == {"Bearer duarena_kept"}
    monkeypatch.setenv("DUARENA_TOKEN_FILE", str(tmp_path))
    done = submit(token="")
    assert (done.code, done.err) == (2, f"cannot read the token in '{tmp_path}': Is a directory\n")


def test_a_token_is_not_an_option_because_others_read_the_command_line(submit: Run) -> None:
    done = submit("--token", "duarena_secret")
    assert done.code == 2
    assert "unrecognized arguments" in done.err


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refusal(403, "This token lacks the scope bots:upload."), "This token lacks the scope bots:upload."),
        (
            (302, b"", {"Location": "http://127.0.0.1:1/elsewhere"}),
            "redirects to http://127.0.0.1:1/elsewhere",
        ),
        ((404, b"<html>", {}), "answered 404: is this a Duarena site"),
        (fine(b"<html>"), "is not a Duarena site"),
        (fine({}), "is not a Duarena site"),
        (fine({**VERSION, "number": NASTY}), "is not a Duarena site"),
        (refusal(429, "Too many requests: try again in 9 s."), "try again in 9 s"),
    ],
)
def test_what_is_not_known_in_the_end_is_exit_2_and_one_sentence(
    site: ScriptedSite, submit: Run, answer: Answer, words: str
) -> None:
    site.give(UPLOAD, answer)
    done = submit()
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_version_that_waits_is_exit_2(site: ScriptedSite, submit: Run) -> None:
    site.give(VALIDATION, version(state="waiting", reason="There is no sandbox."))
    done = submit()
    assert (done.code, done.err) == (2, "Stone Age v2 is waiting. There is no sandbox.\n")


def test_an_unknown_token_is_found_out_before_the_zip_is_sent(site: ScriptedSite, submit: Run) -> None:
    site.give("/api/v1/token/", refusal(401, "This token is unknown or has been revoked."))
    done = submit()
    assert (done.code, done.err) == (2, "This token is unknown or has been revoked.\n")
    assert [asked.method for asked in site.asked] == ["GET"]


def test_a_version_that_takes_too_long_is_left_with_its_address(site: ScriptedSite, submit: Run) -> None:
    site.give(VALIDATION, version())
    done = submit("--timeout", "0.1")
    assert done.code == 3
    assert "still being validated: see https://site.example/bots/stone-age/2/" in done.err


def test_a_zip_is_only_checked(site: ScriptedSite, submit: Run) -> None:
    site.give(UPLOAD, fine({**VERSION, "number": None, "state": "", "page": "", "dry_run": True}))
    done = submit("--dry-run")
    accepted = "The site would accept the zip as a version of Stone Age; nothing is stored.\n"
    assert (done.code, done.out) == (0, accepted)
    assert b'name="dry_run"\r\n\r\n1\r\n' in site.of(UPLOAD)[0].body


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
    site: ScriptedSite, submit: Run, words: list[str], token: str, complaint: str
) -> None:
    done = submit(*words, token=token)
    assert done.code == 2
    assert complaint in done.err


def test_a_zip_that_is_not_there_is_exit_2(site: ScriptedSite, tmp_path: Path) -> None:
    (tmp_path / "bot.zip").mkdir()
    site.give("/api/v1/token/", fine({"user": "olga"}))
    kept = {"PYTHONPATH": str(ROOT), "DUARENA_SITE": site.address, "DUARENA_TOKEN": TOKEN}
    for name in ("bot.zip", "none.zip"):
        command = [sys.executable, "-m", "engines", "submit", name]
        done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert f"cannot read '{name}'" in done.stderr


def test_a_valid_version_is_tested_against_the_one_that_was_active_before_it(
    site: ScriptedSite, submit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    rows = [{"version": 1, "state": "valid", "ladders": ["dualma"], "active_on": ["dualma"]}]
    rows.append({"version": 2, "state": "validating", "ladders": ["dualma"], "active_on": []})
    site.give(VERSIONS, fine({"rows": rows, "next": None}))
    site.give(TESTS, (201, {"slug": "t", "page": "https://site.example/t/"}, {}))
    counts = {"won": 1, "drawn": 2, "lost": 30, "elo": -90.5, "elo_low": -140.0, "elo_high": -41.0}
    asked = {"test": "2 against 1", "elo0": -10.0, "elo1": 0.0}
    weaker = {**asked, **counts, "state": "H0 accepted", "games": 33}
    site.give(f"{TESTS}t/", fine({**weaker, "page": "https://site.example/t/"}))
    done = submit("--test", "not-weaker", "--against", "active", "--format", "github")
    assert done.code == 1
    assert "::error title=Duarena::2 against 1: Is it at least not weaker? no." in done.out
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### Stone Age v2\n\nStone Age v2 is valid: it plays from now on.")
    assert "| Is it at least not weaker? | no | 33 games: 1 won" in summary


def test_a_token_that_may_not_test_is_found_out_before_the_zip_is_sent(
    site: ScriptedSite, submit: Run
) -> None:
    site.give("/api/v1/token/", fine({"user": "olga", "scopes": ["bots:upload"]}))
    done = submit("--test", "not-weaker")
    assert done.code == 2
    assert done.err == "nothing was uploaded: for --test the token needs the scope tests:write too\n"
    assert site.of(UPLOAD) == []
    assert submit().code == 0


@pytest.mark.parametrize("path", [VERSIONS, VALIDATION, TESTS])
def test_what_was_uploaded_is_told_when_a_later_step_fails(
    site: ScriptedSite, submit: Run, tmp_path: Path, path: str
) -> None:
    rows = [{"version": 1, "state": "valid", "ladders": ["dualma"], "active_on": ["dualma"]}]
    rows.append({**rows[0], "version": 2})
    site.give(VERSIONS, fine({"rows": rows, "next": None}))
    site.give(path, refusal(422, "Not now."))
    done = submit("--test", "not-weaker", "--summary", "report.md")
    assert done.code == 2
    assert done.err == f"Not now.\nStone Age v2 stays uploaded: {VERSION['page']}\n"
    assert "Stone Age v2 stays uploaded" in (tmp_path / "report.md").read_text()
    told = json.loads(submit("--test", "not-weaker", "--json").out)
    assert (told["error"], told["code"]) == ("Not now.", 2)
    assert told["made"] == [f"Stone Age v2 stays uploaded: {VERSION['page']}"]
