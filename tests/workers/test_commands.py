"""The commands of ``python -m workers``, and what importing the room needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FORBID = """
import sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {forbidden!r}:
            raise ImportError(f"{{name}} is not installed")
sys.meta_path.insert(0, Forbid())
"""


def run_python(program: str, *forbidden: str) -> subprocess.CompletedProcess[str]:
    """Run a program where some packages are as if they were not installed."""
    words = [sys.executable, "-c", FORBID.format(forbidden=forbidden) + program]
    bare = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(words, cwd=ROOT, env=bare, capture_output=True, text=True, timeout=60, check=False)


def import_all(*left_out: str) -> str:
    names = [p.stem for p in (ROOT / "workers").glob("*.py") if p.stem not in ("__init__", *left_out)]
    return "\n".join(f"import workers.{name}" for name in sorted(names))


def test_the_room_needs_no_site() -> None:
    done = run_python(import_all(), "django", "tournament")
    assert (done.returncode, done.stderr) == (0, "")


def test_only_the_tasks_need_anything_installed() -> None:
    packages = ("django", "tournament", "celery", "kombu", "billiard", "redis", "vine")
    done = run_python(import_all("celery", "tasks"), *packages)
    assert (done.returncode, done.stderr) == (0, "")


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
        (["start", "--dice"], "error: unrecognized arguments: --dice"),
    ],
)
def test_bad_words_are_told_in_one_sentence(words: list[str], complaint: str) -> None:
    done = run_python(COMMAND.format(words), "celery", "django")
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr.splitlines()[-1]
