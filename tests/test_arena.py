"""The start script: it finds a Python, creates an environment, and names what is missing."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.needs import TOOLS as NEEDED
from tests.support.needs import link_programs
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
    link_programs(folder, TOOLS)
    return folder


def arena(checkout: Path, *words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "REDIS_URL": "redis://127.0.0.1:1"}
    if path is not None:
        environment["PATH"] = str(path)
    command = (str(checkout / "arena"), *words)
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)


def hide_system_pythons(checkout: Path) -> None:
    """The script also looks into /usr/bin; here it finds nothing there."""
    script = checkout / "arena"
    script.write_text(script.read_text().replace("/usr/bin/python", "/nonexistent/python"))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("launch",), "unknown command 'launch' (up, dev, demo, admin, test, help)"),
        (("test", "--fast"), "test knows no option '--fast' (it knows --quick, --all and -k WORDS)"),
    ],
)
def test_an_unknown_word_is_one_sentence_and_status_2(
    checkout: Path, words: tuple[str, ...], complaint: str
) -> None:
    answer = arena(checkout, *words)
    assert (answer.returncode, answer.stderr) == (2, f"arena: {complaint}\n")


def test_what_a_link_leads_to_is_not_cleared(checkout: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "package").touch()
    (checkout / ".venv").symlink_to(environment)
    answer = arena(checkout, "up")
    assert answer.returncode == 1
    assert answer.stderr.startswith(
        f"arena: {checkout}/.venv is a link, and what it leads to would be cleared"
    )
    assert (environment / "package").exists()


@pytest.mark.parametrize("word", ["help", "--help", "-h"])
def test_help_needs_nothing(checkout: Path, tools: Path, word: str) -> None:
    answer = arena(checkout, word, path=tools)
    assert answer.returncode == 0
    assert answer.stdout.startswith("usage: ./arena COMMAND")


@pytest.mark.parametrize(
    ("python", "complaint", "packages"),
    [
        ("exit 1", "no Python 3.11, 3.12 or 3.13 found", "python3 python3-venv"),  # too old
        ('case "$2" in *ensurepip*) exit 1 ;; esac', "python3 has no venv module", "python3-venv"),
    ],
)
def test_a_missing_package_is_named_in_one_sentence(
    checkout: Path, tools: Path, python: str, complaint: str, packages: str
) -> None:
    hide_system_pythons(checkout)
    (tools / "python3").write_text(f"#!/bin/sh\n{python}\n")
    (tools / "python3").chmod(0o755)
    answer = arena(checkout, "up", path=tools)
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert complaint in answer.stderr
    assert f"apt-get install {packages}" in answer.stderr


@pytest.fixture
def with_python(checkout: Path, tools: Path) -> Path:
    hide_system_pythons(checkout)
    (tools / "python3").symlink_to(sys.executable)
    return tools


@pytest.mark.thorough
def test_the_environment_is_created_once_repaired_if_incomplete_and_recreated_if_moved(
    checkout: Path, with_python: Path
) -> None:
    # What follows the preparation fails, there is no site in this checkout: that is not the point.
    first = arena(checkout, "up", path=with_python)
    assert "making a private environment" in first.stdout
    assert "installing requirements.txt" in first.stdout
    stamp = checkout / ".venv" / "stamp-run"
    made = (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns

    assert arena(checkout, "up", path=with_python).stdout == ""

    stamp.unlink()  # as if the installation had been interrupted
    again = arena(checkout, "up", path=with_python)
    assert "making" not in again.stdout
    assert "installing requirements.txt" in again.stdout
    assert (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == made

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
    assert not (checkout / ".venv" / "stamp-run").exists()


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


def test_arena_installs_the_packages_that_the_tests_name() -> None:
    script = (ROOT / "arena").read_text()
    listed = script.partition("missing_packages() {")[2].partition("\n}")[0]
    listed = listed.replace("%d.%d", "{}.{}".format(*sys.version_info))
    packages = {package for tool in NEEDED.values() for package in tool.package.split()}
    assert [package for package in sorted(packages) if f" {package}" not in listed] == []


def test_the_packages_that_arena_installs_first_are_all_that_the_compiler_needs() -> None:
    section = (ROOT / "requirements.txt").read_text().partition("\n# Compiles")[2].partition("\n\n")[0]
    listed = {line.partition("==")[0] for line in section.splitlines()[1:]}
    needed = [Requirement(text) for name in ("mypy", "setuptools") for text in requires(name) or ()]
    names = {one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})}
    assert listed == {"mypy", "setuptools"} | {name.replace("-", "_") for name in names}
