"""``python -m workers match -sandbox``: an author's engines in the sandbox of a site."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.records import Record, read_records
from tests.support.fake_site import FakeSite, fake_site, source_of
from tests.support.matches import run_match
from tournament.embedded.plan import ROOT
from workers.commands.sandboxes import find_sandbox_level
from workers.match.options.options import MatchOptionError
from workers.sandbox.groups.hierarchies import VARIABLE
from workers.sandbox.sandbox import Sandbox, is_visible_inside

pytestmark = pytest.mark.slow

RANDOM = "python3 -m engines.bots.random_bot"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    with fake_site(tmp_path, monkeypatch) as site:
        yield site


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


def test_an_engine_invisible_in_the_sandbox_is_refused_before_the_first_game(
    level_b: Sandbox, tmp_path: Path
) -> None:
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
        find_sandbox_level((), is_asked=True)


def test_a_published_bot_is_sandboxed_without_being_asked_and_ones_own_engine_is_not(
    level_b: Sandbox, site: FakeSite, tmp_path: Path
) -> None:
    marks = "import os; os.path.isdir({!r}) and open({!r}, 'a')"
    seen, touched = (str(tmp_path / name) for name in ("seen", "touched"))
    own = tmp_path / "own.py"
    own.write_text(source_of(marks.format(str(tmp_path), seen)))
    site.publish("black", "Rover", marks.format(str(tmp_path), touched))
    words = ("-engine", f"cmd=Rover@{site.url}", "-engine", f"cmd=python3 {own}", "name=Mine")
    answer = run_match(tmp_path, *words, *"-game dogon-kulei -tc nodes=1 -plylimit 10".split())
    assert answer.code == 0, answer.err
    assert Path(seen).exists()
    assert not Path(touched).exists()
