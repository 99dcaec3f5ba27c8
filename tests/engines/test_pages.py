"""The pages for engine authors: every example in them is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engines.records import format_record, verify_record
from tests.support.records import finished_record, read_one
from workers.bundles.manifest import INTERPRETERS
from workers.bundles.store import inspect_bundle

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "engines"
DEADLINE_S = 60


def blocks(page: str, language: str) -> list[str]:
    text = (PAGES / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def transcript() -> list[str]:
    return blocks("PROTOCOL.md", "")[-1].splitlines()


def without_time(line: str) -> str:
    """The one thing of an answer that may differ from run to run."""
    return re.sub(r" (time|nps) \d+", r" \1 0", line)


def test_the_engine_of_the_readme_has_eight_lines() -> None:
    assert len(blocks("README.md", "python")[0].splitlines()) == 8


def test_the_manifest_of_the_readme_makes_a_bundle_of_its_engine(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(blocks("README.md", "toml")[0], encoding="utf-8")
    (tmp_path / "main.py").write_text(blocks("README.md", "python")[0], encoding="utf-8")
    (command,) = blocks("README.md", "sh")
    subprocess.run([sys.executable, *shlex.split(command)[1:]], cwd=tmp_path, check=True, timeout=DEADLINE_S)
    assert inspect_bundle((tmp_path / "bot.zip").read_bytes()).games == ("dogon-kulei", "dogon-gagara")


def test_the_interpreters_of_the_readme_are_those_a_command_may_start_with() -> None:
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{word}`" in text for word in INTERPRETERS)


def test_the_engine_of_the_readme_plays_the_transcript() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", blocks("README.md", "python")[0]],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        for line in transcript():
            if line.startswith("> "):
                process.stdin.write(line[2:] + "\n")
                process.stdin.flush()
            else:
                assert without_time(f"< {process.stdout.readline().rstrip()}") == without_time(line)
        assert process.stdout.read() == ""
        assert process.wait(DEADLINE_S) == 0


def test_the_pages_end_in_their_example() -> None:
    for page in ("PROTOCOL.md", "RECORDS.md"):
        assert (PAGES / page).read_text(encoding="utf-8").endswith("\n```\n")
    assert transcript()[-1] == "> quit"


def test_the_record_is_written_exactly_so_and_is_true() -> None:
    (text,) = blocks("RECORDS.md", "pgn")
    record = read_one(text)
    assert format_record(record) == text
    assert verify_record(record) == []


def test_the_program_that_reads_records_runs(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(format_record(finished_record("duovallis")), encoding="utf-8")
    (program,) = blocks("RECORDS.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{program}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    )
    assert done.stdout in ("Stone Age 1-0 []\n", "Stone Age 0-1 []\n")


def commands() -> list[tuple[str, str]]:
    """Each command of the README with what it should print."""
    told = "".join(blocks("README.md", "console"))
    return [
        (command, output)
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", told, re.MULTILINE)
    ]


@pytest.mark.parametrize(("command", "output"), commands())
def test_a_command_of_the_readme_prints_the_given_output(command: str, output: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "python3"
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.stdout + done.stderr == output


def test_the_readme_shows_these_commands_in_blocks() -> None:
    assert {shlex.split(command)[3] for command, _ in commands()} == {
        "games",
        "perft",
        "positions",
        "moves",
        "play",
    }
