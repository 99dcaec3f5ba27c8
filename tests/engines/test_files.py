"""Atomic writing: a reader sees the old content or all of the new."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.files import atomic_file


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_the_old_content_stands_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("old")
    with atomic_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path: Path) -> None:
    with atomic_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_after_an_exception_nothing_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_half(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize(("mode", "permissions"), [(None, 0o600), (0o644, 0o644)])
def test_permissions_are_as_given_or_left_to_the_umask(
    tmp_path: Path, mode: int | None, permissions: int
) -> None:
    path = tmp_path / "table"
    with atomic_file(path, mode=mode) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == permissions
