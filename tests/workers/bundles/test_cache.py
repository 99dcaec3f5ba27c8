"""The cache folder of a worker: nobody else's, and the sign of life in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from workers.bundles.cache import ALIVE, CacheRefused, cache_folder, silent_seconds, touch_alive
from workers.commands import alive


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default folder, in a temporary folder of this test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"duarena-cache-{os.getuid()}"


def test_the_default_folder_is_made_for_this_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        assert cache_folder({}) == cache_folder({"DUARENA_CACHE": ""}) == folder
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_default_folder_that_others_could_have_filled_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o770)
    with pytest.raises(CacheRefused, match=re.escape(f"others may use {folder} (mode 770): remove it")):
        cache_folder({})


@pytest.mark.parametrize("target", ["a folder", "a file", "nothing"])
def test_a_link_in_the_place_of_the_default_folder_is_refused(
    folder: Path, tmp_path: Path, target: str
) -> None:
    (tmp_path / "a folder").mkdir(mode=0o700)
    (tmp_path / "a file").touch(mode=0o600)
    folder.symlink_to(tmp_path / target)
    with pytest.raises(CacheRefused, match="is not a folder: remove it, or set DUARENA_CACHE"):
        cache_folder({})
    assert folder.is_symlink()
    assert not (tmp_path / "nothing").exists()


def test_a_file_in_the_place_of_the_default_folder_is_refused(folder: Path) -> None:
    folder.touch(mode=0o700)
    with pytest.raises(CacheRefused, match="is not a folder"):
        cache_folder({})


def test_a_default_folder_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    folder.with_name(f"duarena-cache-{owner + 1}").mkdir(mode=0o700)
    with pytest.raises(CacheRefused, match=f"belongs to another user .number {owner}.: set DUARENA"):
        cache_folder({})


def test_a_chosen_folder_is_the_operators_own_decision(folder: Path, tmp_path: Path) -> None:
    assert cache_folder({"DUARENA_CACHE": str(tmp_path / "mine")}) == tmp_path / "mine"
    assert not folder.exists()


def test_a_worker_is_well_for_half_a_minute_after_its_last_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUARENA_CACHE", str(tmp_path / "cache"))
    assert silent_seconds(tmp_path / "cache") is None
    assert alive.main([]) == 2
    assert "no worker has run here" in capsys.readouterr().err
    touch_alive(tmp_path / "cache")
    assert alive.main([]) == 0
    hour_ago = (tmp_path / "cache" / ALIVE).stat().st_mtime - 3600
    os.utime(tmp_path / "cache" / ALIVE, (hour_ago, hour_ago))
    assert alive.main([]) == 2
    assert "the worker has not reached its site for 3600 s" in capsys.readouterr().err
