"""The pages for engine authors: their engine, their record and their program (commands: ``test_readme``)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from engines.bundles.manifest import INTERPRETERS
from engines.records import format_record, verify_record
from tests.support.documents import blocks, read
from tests.support.records import finished_record, read_one
from tournament.embedded.plan import ROOT

DEADLINE_SECONDS = 60
README = "engines/README.md"


def without_time(line: str) -> str:
    """The one thing of an answer that may differ from run to run."""
    return re.sub(r" (time|nps) \d+", r" \1 0", line)


def test_the_interpreters_of_the_readme_are_those_a_command_may_start_with() -> None:
    assert all(f"`{word}`" in read(README) for word in INTERPRETERS)


def test_the_engine_of_the_readme_has_eight_lines_and_plays_the_transcript() -> None:
    (program,) = blocks(README, "python")
    assert len(program.splitlines()) == 8
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for line in blocks("engines/PROTOCOL.md", "")[-1].splitlines():
            if line.startswith("> "):
                process.stdin.write(line[2:] + "\n")
                process.stdin.flush()
            else:
                assert without_time(f"< {process.stdout.readline().rstrip()}") == without_time(line)
        assert process.stdout.read() == ""
        assert process.wait(DEADLINE_SECONDS) == 0


def test_the_record_is_written_exactly_so_and_is_true() -> None:
    (text,) = blocks("engines/RECORDS.md", "pgn")
    record = read_one(text)
    assert format_record(record) == text
    assert verify_record(record) == []


def test_the_program_that_reads_records_runs(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(format_record(finished_record("duovallis")), encoding="utf-8")
    (program,) = blocks("engines/RECORDS.md", "python")
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )
    assert done.stdout in ("Stone Age 1-0 []\n", "Stone Age 0-1 []\n")
