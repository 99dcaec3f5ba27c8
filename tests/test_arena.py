"""The start script: it finds a Python, creates an environment, and names what is missing."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tournament.embedded.plan import ROOT

TOOLS = "sh dirname basename cat cksum sed tail rm id".split()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the script in a folder with spaces, with requirements that need no network."""
    folder = tmp_path / "a check out"
    folder.mkdir()
    shutil.copy(ROOT / "arena", folder)
    for name in ("requirements.txt", "requirements-dev.txt"):
        (folder / name).write_text("# nothing\n")
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with the usual tools and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return folder


def arena(checkout: Path, *words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "REDIS_URL": "redis://127.0.0.1:1"}
    if path is not None:
        environment["PATH"] = str(path)
    command = (str(checkout / "arena"), *words)
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)


def fake_python(tools: Path, name: str, body: str) -> None:
    (tools / name).write_text(f"#!/bin/sh\n{body}\n")
    (tools / name).chmod(0o755)


def hide_system_pythons(checkout: Path) -> None:
    """The script also looks into /usr/bin; here it finds nothing there."""
    script = checkout / "arena"
    script.write_text(script.read_text().replace("/usr/bin/python", "/nonexistent/python"))


def test_an_unknown_command_is_one_sentence_and_status_2(checkout: Path) -> None:
    answer = arena(checkout, "launch")
    assert answer.returncode == 2
    assert answer.stderr == "arena: unknown command 'launch' (up, demo, admin, test, help)\n"


def test_an_unknown_option_of_test_is_one_sentence_and_status_2(checkout: Path) -> None:
    answer = arena(checkout, "test", "--fast")
    assert answer.returncode == 2
    assert answer.stderr == "arena: test knows no option '--fast' (it knows --quick and --all)\n"


@pytest.mark.parametrize("word", ["help", "--help", "-h"])
def test_help_needs_nothing(checkout: Path, tools: Path, word: str) -> None:
    answer = arena(checkout, word, path=tools)
    assert answer.returncode == 0
    assert answer.stdout.startswith("usage: ./arena COMMAND")


def test_without_a_python_the_packages_are_named_in_one_sentence(checkout: Path, tools: Path) -> None:
    hide_system_pythons(checkout)
    fake_python(tools, "python3", "exit 1")  # too old
    answer = arena(checkout, "up", path=tools)
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert "no Python 3.11, 3.12 or 3.13 found" in answer.stderr
    assert "apt-get install python3 python3-venv" in answer.stderr


def test_without_venv_the_package_is_named_in_one_sentence(checkout: Path, tools: Path) -> None:
    hide_system_pythons(checkout)
    fake_python(tools, "python3", 'case "$2" in *ensurepip*) exit 1 ;; esac')
    answer = arena(checkout, "up", path=tools)
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert "python3 has no venv module" in answer.stderr
    assert "apt-get install python3-venv" in answer.stderr


@pytest.fixture
def with_python(checkout: Path, tools: Path) -> Path:
    hide_system_pythons(checkout)
    (tools / "python3").symlink_to(sys.executable)
    return tools


def environment_of(checkout: Path) -> Path:
    return checkout / ".venv"


@pytest.mark.thorough
def test_the_environment_is_created_once_repaired_if_incomplete_and_recreated_if_moved(
    checkout: Path, with_python: Path
) -> None:
    # What follows the preparation fails, there is no site in this checkout: that is not the point.
    first = arena(checkout, "up", path=with_python)
    assert "making a private environment" in first.stdout
    assert "installing requirements.txt" in first.stdout
    stamp = environment_of(checkout) / "stamp-run"
    made = (environment_of(checkout) / "pyvenv.cfg").stat().st_mtime_ns

    assert arena(checkout, "up", path=with_python).stdout == ""

    stamp.unlink()  # as if the installation had been interrupted
    again = arena(checkout, "up", path=with_python)
    assert "making" not in again.stdout
    assert "installing requirements.txt" in again.stdout
    assert (environment_of(checkout) / "pyvenv.cfg").stat().st_mtime_ns == made

    (checkout / "requirements.txt").write_text("# nothing else\n")
    assert "installing requirements.txt" in arena(checkout, "up", path=with_python).stdout

    moved = checkout.with_name("moved")
    checkout.rename(moved)
    assert "making a private environment" in arena(moved, "up", path=with_python).stdout


@pytest.mark.thorough
def test_if_the_rules_cannot_be_compiled_the_reason_is_printed_and_the_command_continues(
    checkout: Path, with_python: Path
) -> None:
    shutil.copy(ROOT / "setup.py", checkout)
    shutil.copytree(ROOT / "engines", checkout / "engines", ignore=shutil.ignore_patterns("build"))
    answer = arena(checkout, "up", path=with_python)
    warning, *rest = answer.stderr.splitlines()
    assert warning.startswith("rules: they run as plain Python, which is slower: there is no C compiler (")
    assert "No module named" in rest[-1]  # of the site, which is not in this checkout


@pytest.mark.slow
def test_a_failed_installation_shows_why_and_leaves_no_stamp(checkout: Path, with_python: Path) -> None:
    (checkout / "requirements.txt").write_text("./no-such-package\n")
    answer = arena(checkout, "up", path=with_python)
    assert answer.returncode == 1
    assert "no-such-package" in answer.stderr
    assert answer.stderr.splitlines()[-1].startswith("arena: installing failed")
    assert not (environment_of(checkout) / "stamp-run").exists()


@pytest.mark.slow
def test_two_installations_in_one_checkout_take_turns(checkout: Path, with_python: Path) -> None:
    flock = shutil.which("flock")
    assert flock
    (with_python / "flock").symlink_to(flock)
    held = os.open(checkout, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    waiting = subprocess.Popen(
        (str(checkout / "arena"), "up"),
        env={**os.environ, "REDIS_URL": "redis://127.0.0.1:1", "PATH": str(with_python)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert waiting.stdout
    message = f"arena: another installation is under way in {checkout}: waiting for it\n"
    assert waiting.stdout.readline() == message
    os.close(held)
    assert "making a private environment" in waiting.communicate()[0]


def test_a_checkout_that_cannot_be_written_is_one_sentence(checkout: Path, with_python: Path) -> None:
    script = checkout / "arena"  # root may write everywhere: for it the test itself is turned
    script.write_text(script.read_text().replace('[ -w "$home" ]', "false"))
    answer = arena(checkout, "up", path=with_python)
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"arena: cannot write into {checkout}, ")
    assert answer.stderr.count("\n") == 1
