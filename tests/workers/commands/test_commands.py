"""The commands of ``python -m workers``, and what importing the package needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import bad_engines
from tests.support.needs import need
from workers.commands.start import explain_refusal
from workers.sandbox.levels import Level

ROOT = Path(__file__).resolve().parents[3]
FORBID = """
import sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {forbidden!r}:
            raise ImportError(f"{{name}} is not installed")
sys.meta_path.insert(0, Forbid())
"""


def run_python(program: str, *forbidden: str) -> subprocess.CompletedProcess[str]:
    """Run a program as if some packages were not installed."""
    words = [sys.executable, "-c", FORBID.format(forbidden=forbidden) + program]
    bare = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(words, cwd=ROOT, env=bare, capture_output=True, text=True, timeout=60, check=False)


def import_all(*left_out: str) -> str:
    files = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "workers").rglob("*.py"))
    names = {".".join(file.parts) for file in files if file.stem != "__init__"}
    return "\n".join(f"import {name}" for name in sorted(names - set(left_out)))


def test_the_package_needs_no_site() -> None:
    done = run_python(import_all(), "django", "tournament")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_worker_without_a_writable_dev_shm_says_so() -> None:
    hidden = ("--dev-bind", "/", "/", "--ro-bind", "/dev/shm", "/dev/shm", "--")
    command = (need("bwrap"), *hidden, sys.executable, "-m", "workers", "start")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "a worker needs /dev/shm, which cannot be used here (Read-only file system): mount" in done.stderr


def test_only_the_tasks_need_anything_installed() -> None:
    packages = ("django", "tournament", "celery", "kombu", "billiard", "redis", "vine")
    names = "broker celery context tasks worker"
    done = run_python(import_all(*(f"workers.service.{name}" for name in names.split())), *packages)
    assert (done.returncode, done.stderr) == (0, "")


HYPOTHESES = ("--model", "logistic", "--elo0", "-3", "--elo1", "1")
COMMAND = "import runpy; sys.argv[1:] = {!r}; runpy.run_module('workers', run_name='__main__')"


def test_help_needs_no_celery() -> None:
    done = run_python(COMMAND.format(["start", "--help"]), "celery", "django")
    assert done.returncode == 0
    assert "--broker" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "error: the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["start", "--slots", "0"], "error: argument --slots: '0' is not a number of slots from 1 to 1024"),
        (["start", "--slots", "²"], "is not a number of slots"),
        (["start", "--nice", "20"], "error: argument --nice: '20' is not a number of steps from 0 to 19"),
        (["start", "--dice"], "error: unrecognized arguments: --dice"),
        (
            ["elo", "--counts", "1,2"],
            "cannot read the counts '1,2': write L,D,W of games, or LL,LD,DD,WD,WW of pairs",
        ),
        (["elo", "--counts", "1,2,-3"], "cannot read the counts '1,2,-3'"),
        (["sprt", *HYPOTHESES, "--counts", "-1,2,3"], "cannot read the counts '-1,2,3'"),
        (["sprt", *HYPOTHESES, "--counts", "1,2,³"], "cannot read the counts '1,2,³'"),
        (["sprt", *HYPOTHESES, "--elo0", "nan", "--counts", "1,2,3"], "a hypothesis of nan Elo is beyond"),
        (["sprt", *HYPOTHESES, "--elo0", "big", "--counts", "1,2,3"], "invalid float value: 'big'"),
        (["sprt", *HYPOTHESES, "--model", "bayes", "--counts", "1,2,3"], "invalid choice: 'bayes'"),
    ],
)
def test_bad_arguments_are_refused_with_one_sentence(words: list[str], complaint: str) -> None:
    done = run_python(COMMAND.format(words), "celery", "django")
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "elo --counts 10789,19328,33806,19402,10543",
            "elo -0.7735773359 1.2775798957 nelo -0.9516290045 1.5716238441 los 0.1176588580\n",
        ),
        ("elo --counts 0,0,0", "elo 0.0000000000 1199.8261952904 nelo 0.0000000000 "),
        (
            "sprt --model logistic --elo0 -3 --elo1 1 --counts 10789,19328,33806,19402,10543",
            "llr 2.1310678118\n",
        ),
        (
            "sprt --model normalized --elo0 0 --elo1 2 --counts 365,16618,36229,16974,390",
            "llr 2.2503677036\n",
        ),
    ],
)
def test_elos_with_their_errors_and_the_ratio_are_printed_to_ten_digits(words: str, line: str) -> None:
    done = run_python(COMMAND.format(words.split()), "celery")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert done.stdout.startswith(line)


def test_the_help_of_elo_says_what_an_empty_count_is() -> None:
    done = run_python(COMMAND.format(["elo", "--help"]))
    assert "A count of 0 is taken as 0.001, as on fishtest." in " ".join(done.stdout.split())


MANIFEST = """[bot]
name = "Bad"
version = "1"
command = ["python3", "-S", "main.py", "mark", {}]
games = ["dogon-kulei"]
"""
BAD_ENGINE = ("python3", "-S", "tests/support/bad_engines.py", "mark")


def run_check(*words: str) -> subprocess.CompletedProcess[str]:
    return run_python(COMMAND.format(["check", *words]), "celery", "django")


def test_check_names_the_fault_and_fails() -> None:
    done = run_check("--game", "dogon-kulei", "--", *BAD_ENGINE, "ugi", "leave", "3")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("handshake                          FAULT: it crashed: the process ended")
    assert done.stdout.splitlines()[-1].startswith(
        "the engine: 1 fault (1 for which a site refuses a bot) in 1 check,"
    )
    assert done.stderr == ""


@pytest.mark.slow
def test_check_passes_a_good_engine() -> None:
    done = run_check("--game", "dogon-kulei", "--", *BAD_ENGINE)
    assert done.returncode == 0, done.stdout
    assert "Bad: no fault in 23 checks" in done.stdout
    assert "Not tested: the sandbox of a site (memory limit 256 MB, 64 processes" in done.stdout


WITHOUT = "sys.modules[{!r}] = None\n"


WINDOWS = "".join(map(WITHOUT.format, ("fcntl", "grp", "pwd", "resource"))) + (
    "import select; del select.epoll\n"
)
MACOS = "import select; del select.epoll\n"


@pytest.mark.parametrize("system", [WINDOWS, MACOS])
@pytest.mark.parametrize("command", ["check", "match"])
def test_a_command_that_needs_linux_says_so_elsewhere(command: str, system: str) -> None:
    done = run_python(system + COMMAND.format([command, "--help"]))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{command} needs Linux: on Windows, run it in WSL")


def test_a_command_that_computes_runs_without_anything_of_linux() -> None:
    done = run_python(WINDOWS + COMMAND.format(["elo", "--counts", "0,0,1"]))
    assert (done.returncode, done.stderr) == (0, "")
    done = run_python(WINDOWS + COMMAND.format(["replay", "--help"]))
    assert (done.returncode, done.stdout) == (2, "")


def test_the_commands_for_authors_import_nothing_of_linux() -> None:
    files = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "engines").rglob("*.py"))
    modules = [".".join(file.parts) for file in files if file.stem not in ("__init__", "__main__")]
    without = {"build", "environments", "estimation"}  # compiled, or not of the standard library alone
    imports = "\n".join(
        f"import {name}" for name in modules if name.isascii() and not without & set(name.split("."))
    )
    done = run_python("".join(map(WITHOUT.format, ("fcntl", "grp", "pwd", "resource"))) + imports)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "no command was given: write it after --, as in check -- python3 main.py"),
        (("--", "/nowhere/engine"), "there is no executable program '/nowhere/engine' in "),
        (("--game", "chess", "--", *BAD_ENGINE), "unknown game 'chess'"),
        (("--", *BAD_ENGINE), "the engine declares no ladder in UGI_Variant: name one with --game"),
        (("--timeout", "nan", "--", *BAD_ENGINE), "'nan' is not a number of seconds above 0 and up to 3600"),
        (("--option", "Hash", "--", *BAD_ENGINE), "'Hash' is not NAME=VALUE"),
    ],
)
def test_check_names_in_one_sentence_what_it_cannot_check(words: tuple[str, ...], complaint: str) -> None:
    done = run_check(*words)
    assert done.returncode == 2
    assert complaint in done.stderr.splitlines()[-1]


def check_in(
    folder: Path, manifest: str, *words: str, name: str = "bot.toml"
) -> subprocess.CompletedProcess[str]:
    """``check`` in a folder with a bad engine and this ``bot.toml``."""
    shutil.copy(bad_engines.__file__, folder / "main.py")
    (folder / name).write_text(manifest)
    command = [sys.executable, "-m", "workers", "check", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_in_a_bots_folder_check_needs_no_words(tmp_path: Path) -> None:
    done = check_in(tmp_path, MANIFEST.format('"ugi", "leave", "3"'))
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAULT: it crashed: the process ended with exit code 3" in done.stdout


def test_the_ladders_of_a_bot_are_those_of_its_manifest(tmp_path: Path) -> None:
    plan = ("ugi", "also", "option name Hash type spin", "isready", "leave", "4")
    done = check_in(tmp_path, MANIFEST.format(""), "--", "python3", "-S", "main.py", "mark", *plan)
    assert done.returncode == 1
    assert "declares no ladder" not in done.stderr


def test_a_wrong_manifest_is_named(tmp_path: Path) -> None:
    done = check_in(tmp_path, "[bot]\nname = 1\n")
    assert done.returncode == 2
    assert done.stderr.startswith("bot.toml: ")


def test_a_folder_with_a_misnamed_manifest_is_told_its_right_name(tmp_path: Path) -> None:
    done = check_in(tmp_path, "", name="bot.toml.txt")
    assert done.returncode == 2
    assert "this folder has no bot.toml, but it has 'bot.toml.txt': rename the file" in done.stderr


def test_the_page_on_matches_shows_what_the_counts_come_to() -> None:
    page = (ROOT / "docs" / "match.md").read_text("utf-8")
    shown = re.findall(r"^\$ python3 -m workers (.*)\n(.*)\n", page, re.MULTILINE)
    assert len(shown) == 2
    for words, line in shown:
        assert run_python(COMMAND.format(words.split()), "celery", "django").stdout == f"{line}\n"


def test_a_worker_that_runs_no_uploads_names_the_setting_if_one_helps() -> None:
    why = "its sandbox is at level B, but level A is needed"
    assert explain_refusal(why, Level.B).splitlines() == [
        f"This worker runs no uploaded bots: {why}.",
        "DUARENA_SANDBOX=B on this host lets it run them at level B, at your own risk.",
    ]
    assert explain_refusal("no bwrap", Level.C) == "This worker runs no uploaded bots: no bwrap."
