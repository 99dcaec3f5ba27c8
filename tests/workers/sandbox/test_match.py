"""``python -m workers match -sandbox``: an author's engines in the sandbox of a site."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.records import Record, read_records
from tournament.embedded.plan import ROOT
from workers.commands.match import find_sandbox_level
from workers.match.options.options import MatchTerms
from workers.match.options.words import MatchOptionError
from workers.sandbox.groups.hierarchies import VARIABLE
from workers.sandbox.sandbox import Sandbox, is_visible_inside

pytestmark = pytest.mark.slow

RANDOM = "python3 -m engines.bots.random_bot"


def match(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    usual = "-m workers match -game dogon-kulei -tc 5+0 -sandbox"
    command = (sys.executable, *usual.split(), *words)
    kept = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)


def engines(folder: Path) -> tuple[str, ...]:
    return tuple(
        word for name in "AB" for word in ("-engine", f"cmd={RANDOM}", f"name={name}", f"dir={folder}")
    )


def test_a_match_is_played_in_the_sandbox_and_its_records_name_it(level_a: Sandbox, tmp_path: Path) -> None:
    answer = match(tmp_path, *engines(tmp_path))
    assert (answer.returncode, answer.stderr) == (0, "")
    records = list(read_records((tmp_path / "match.pgn").read_text().splitlines(), "match.pgn"))
    assert len(records) == 2
    for record in records:
        assert isinstance(record, Record)
        assert record.header("Walls") == "level A, freezer"
        assert record.header("Clock") in ("pressure", "run delay")
        assert all(move.book or (move.note and move.note.cpu_ms is not None) for move in record.moves)


def test_at_level_b_a_match_warns_and_is_played(level_b: Sandbox, tmp_path: Path) -> None:
    answer = match(tmp_path, *engines(tmp_path), **{VARIABLE: "no-such-group"})
    assert answer.returncode == 0
    assert answer.stderr.startswith("Sandbox: level B")
    assert '[Walls "level B, SIGSTOP"]' in (tmp_path / "match.pgn").read_text()


def test_an_engine_invisible_in_the_sandbox_is_refused_before_the_first_game(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "engine"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "dir").mkdir()
    seen = ("-engine", f"cmd={program}", f"dir={tmp_path / 'dir'}")
    answer = match(tmp_path, *seen, "name=A", *seen, "name=B")
    assert answer.returncode == 2
    assert "of A would not be visible in the sandbox: it is neither below dir=" in answer.stderr
    assert is_visible_inside((str(program),), program.parent)


def test_a_sandboxed_match_refuses_to_run_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(MatchOptionError, match=r"has no sandbox\. Missing: an unprivileged user"):
        find_sandbox_level(MatchTerms((), ("dualma",), "5+0"))
