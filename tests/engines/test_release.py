"""The release names its commit, however Git stores it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import __version__
from engines.release import release_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PACKED = f"# pack-refs with: peeled\n{'f' * 40} refs/heads/other\n^{'e' * 40}\n{COMMIT} refs/heads/main\n"


@pytest.mark.parametrize(
    "files",
    [
        {"HEAD": f"{COMMIT}\n"},
        {"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{COMMIT}\n"},
        {"HEAD": "ref: refs/heads/main\n", "packed-refs": PACKED},
    ],
)
def test_it_has_the_first_digits_of_the_commit(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert release_of(tmp_path) == f"{__version__}+0123456789"


@pytest.mark.parametrize("head", [None, "ref: refs/heads/main\n", b"\xff"])
def test_without_a_commit_it_is_the_version(head: str | bytes | None, tmp_path: Path) -> None:
    if head is not None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_bytes(head if isinstance(head, bytes) else head.encode())
    assert release_of(tmp_path) == __version__


def test_a_git_folder_elsewhere_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    assert release_of(tmp_path) == __version__
