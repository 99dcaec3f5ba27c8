"""What the command prints for programs, and while somebody waits for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from engines.__main__ import main
from engines.evidence import checks
from tests.support.evidence import AT, LADDER, SITE, ladder_draft


def test_programs_get_one_object(
    tmp_path: Path, signers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    draft = ladder_draft(4)
    draft.change("workers.jsonl", 0, games=3, worker="crow\x1b[2J")
    path = str(draft.pack(tmp_path / "evidence.zip"))
    assert main(["evidence", path, "--json", *signers]) == 1
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert printed.count("\n") == 1
    described = {name: found[name] for name in ("kind", "site", "name", "revision", "at", "exit_code")}
    assert described == {
        "kind": "ladder", "site": SITE, "name": LADDER, "revision": 1, "at": AT, "exit_code": 1
    }  # fmt: skip
    assert found["checks"][0]["name"] == "archive"
    assert [one["text"] for one in found["checks"] if one["state"] == "DIFFERS"] == [
        "workers.jsonl: 'crow' has 0 games, the schedule 8",
        "workers.jsonl: 'crow\\x1b[2J' has 3 games, the schedule 0",
    ]
    assert {one["state"] for one in found["checks"]} == {"ok", "DIFFERS"}


def test_what_cannot_be_read_is_no_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evidence", str(tmp_path / "none.zip"), "--json"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_on_a_terminal_a_bar_shows_the_games_and_is_removed(
    is_terminal: bool,
    tmp_path: Path,
    signers: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(checks, "STEP", 2)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert main(["evidence", str(ladder_draft(4).pack(tmp_path / "evidence.zip")), *signers]) == 0
    shown = capsys.readouterr().err.split("\r")
    assert is_terminal == ("[##########..........] 4 games\x1b[K" in shown)
    assert shown[-1] == ("\x1b[K" if is_terminal else "")
