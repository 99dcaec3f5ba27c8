"""A folder that is not a site's is refused before anything is written into it; owners stay."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.needs import need_root
from tests.tournament.embedded.test_main import embedded
from tournament.embedded import StartError
from tournament.embedded.data_folder import check_data_folder, claim_data_folder
from workers.sandbox.entrance import UNUSED

SOMEBODY = UNUSED + 2


def contents(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Owner, group, mode and content of everything in a folder, and of the folder."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (status.st_uid, status.st_gid, status.st_mode, text)
    return found


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")
    return folder


def own(folder: Path, uid: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, uid, uid)


@pytest.fixture
def as_root() -> None:
    need_root()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("up",), ("admin", "ada")])
def test_a_folder_with_other_files_is_refused_twice_and_keeps_its_contents(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    foreign = fill(tmp_path / "letters", "one.txt", "old/two.txt", "lock")
    before = contents(foreign)
    for _ in range(2):
        answer = embedded(tmp_path, *command, "--data", "letters", REDIS_URL="nonsense")
        assert answer.returncode == 1
        assert "is not empty and is not a data folder of Duarena" in answer.stderr
        assert contents(foreign) == before


@pytest.mark.parametrize(
    "names",
    [
        (".duarena",),
        (".duarena", "anything"),
        ("lock", "secret_key"),
        ("lock", "db.sqlite3", "logs/site.log"),
        ("secret_key", "db.sqlite3", "scratch/left"),
        ("demo/.duarena",),
        ("demo/lock", "demo/db.sqlite3"),
    ],
)
def test_data_folders_of_this_and_earlier_versions_are_known(tmp_path: Path, names: tuple[str, ...]) -> None:
    own(fill(tmp_path / "data", *names), os.geteuid() or SOMEBODY)
    check_data_folder(tmp_path / "data")


@pytest.mark.parametrize(
    "names", [("lock",), ("secret_key",), ("db.sqlite3",), ("demo/letters",), ("demo/.duarena", "letters")]
)
def test_common_names_do_not_make_a_data_folder(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(StartError):
        check_data_folder(fill(tmp_path / "data", *names))


def test_a_link_is_no_marker(tmp_path: Path) -> None:
    data = fill(tmp_path / "data", "letters")
    (data / ".duarena").symlink_to(data / "letters")
    with pytest.raises(StartError):
        check_data_folder(data)


def test_a_new_and_an_empty_folder_become_data_folders(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        check_data_folder(tmp_path / name)
        claim_data_folder(tmp_path / name)
        claim_data_folder(tmp_path / name)
        assert [path.name for path in (tmp_path / name).iterdir()] == [".duarena"]
        assert (tmp_path / name / ".duarena").stat().st_mode & 0o777 == 0o600


@pytest.mark.root
def test_root_starts_a_site_that_belongs_to_another_user_and_changes_no_other_owner(
    as_root: None, tmp_path: Path
) -> None:
    """The start fails at Redis, after the change of the user and before anything runs."""
    tmp_path.chmod(0o755)
    beside = fill(tmp_path / "beside", "letter")
    before = contents(beside)
    for _ in range(2):
        answer = embedded(tmp_path, "up", "--data", "new/data", REDIS_URL="nonsense")
        assert answer.returncode == 2, answer.stderr
        assert {path.stat().st_uid for path in (tmp_path / "new").rglob("*")} == {UNUSED}
    assert contents(beside) == before


@pytest.mark.root
def test_root_that_cannot_become_another_user_ends(as_root: None, tmp_path: Path) -> None:
    closed = tmp_path / "data"
    closed.mkdir()
    os.chown(closed, SOMEBODY, SOMEBODY)
    closed.chmod(0o600)
    answer = embedded(tmp_path, "up", "--data", str(closed), REDIS_URL="nonsense")
    assert answer.returncode == 1
    assert "cannot continue as" in answer.stderr
    assert "--trust-uploads" not in answer.stdout + answer.stderr
    assert not list(closed.iterdir())
    assert (
        subprocess.run(("stat", "-c", "%u", closed), capture_output=True, text=True).stdout == f"{SOMEBODY}\n"
    )
