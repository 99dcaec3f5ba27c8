"""Errors at the start are reported in one sentence on standard error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tournament.embedded import __main__
from tournament.embedded.instance import interruptible
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow


def embedded(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ours = ("DUARENA_", "DJANGO_", "REDIS_URL", "DATABASE_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        (sys.executable, "-m", "tournament.embedded", *words),
        cwd=ROOT,
        env={**kept, "DUARENA_CALLED_FROM": str(folder), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "code", "sentence"),
    [
        ("REDIS_URL", "nonsense", 2, "the Redis at REDIS_URL (nonsense) cannot be used: it has no address"),
        (
            "REDIS_URL",
            "redis://:secret@127.0.0.1:1/0",
            2,
            "the Redis at REDIS_URL (127.0.0.1:1/0) cannot be used: it does not answer",
        ),
        ("DATABASE_URL", "nonsense", 1, "DATABASE_URL is not the address of a database"),
        ("DATABASE_URL", "sqlite:////nonexistent/db", 2, "the database cannot be used: unable to open"),
        ("DUARENA_DATA", "a file/data", 1, "a file/data': Not a directory"),
    ],
)
def test_a_bad_environment_is_one_sentence(
    tmp_path: Path, name: str, value: str, code: int, sentence: str
) -> None:
    (tmp_path / "a file").write_text("")
    environment = {"DUARENA_DATA": "data", name: value}
    answer = embedded(tmp_path, "up", "--port", "18700", **environment)
    assert answer.returncode == code
    assert answer.stderr.startswith(("arena: ", "duarena: "))
    assert answer.stderr.count("\n") == 1
    assert sentence in answer.stderr


def test_a_data_folder_made_by_us_is_private(tmp_path: Path) -> None:
    embedded(tmp_path, "up", "--data", "data", REDIS_URL="nonsense")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("up",), "interrupted while the site started: the next `./arena up` continues"),
        (("admin", "ada"), "interrupted: no administrator was made or changed"),
    ],
)
def test_an_interrupted_command_says_what_is_left(
    words: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "enter", lambda *_: None)
    monkeypatch.setitem(__main__.COMMANDS, words[0], interrupt)
    monkeypatch.setenv("DUARENA_SECRET_KEY", "given")
    monkeypatch.setenv("DATABASE_URL", "postgres://nobody@127.0.0.1:1/duarena")
    assert __main__.main([*words, "--data", str(tmp_path / "data")]) == 130
    assert capsys.readouterr().err == f"arena: {sentence}\n"


def test_a_signal_to_stop_interrupts_an_update() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt), interruptible():
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) == before
