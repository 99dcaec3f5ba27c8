"""Only one instance can use a data folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tournament.embedded import StartError
from tournament.embedded.processes.lock import instance_lock


@pytest.fixture(autouse=True)
def _without_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournament.embedded.processes.lock.GRACE_SECONDS", 0.0)


def test_a_second_instance_names_the_process_that_uses_the_folder(tmp_path: Path) -> None:
    with (
        instance_lock(tmp_path),
        pytest.raises(StartError, match=rf"running on .* \(process {os.getpid()}\)"),
        instance_lock(tmp_path),
    ):
        pass


def test_a_folder_is_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with instance_lock(tmp_path):
            pass


def test_a_process_that_got_the_lock_keeps_it_when_we_let_go(tmp_path: Path) -> None:
    with instance_lock(tmp_path) as lock:
        guard = subprocess.Popen(("sleep", "600"), pass_fds=(lock,))
    try:
        with pytest.raises(StartError), instance_lock(tmp_path):
            pass
    finally:
        guard.kill()
        guard.wait()
    with instance_lock(tmp_path):
        pass


def test_the_folder_is_made(tmp_path: Path) -> None:
    with instance_lock(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b" / "lock").read_text() == f"{os.getpid()}\n"
