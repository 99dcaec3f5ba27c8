"""Root becomes another user, and reaches level A where the machine permits it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tournament.embedded.plan import ROOT
from workers.sandbox import entrance
from workers.sandbox.entrance import UNUSED, SystemUser, choose_user
from workers.sandbox.groups.hierarchies import NEEDED_V1, NEEDED_V2, read_mounts
from workers.sandbox.host import missing_programs

NOBODY = 65534


def machine_permits_level_a() -> bool:
    """Tested without our code: the programs, a namespace, and a writable hierarchy."""
    if missing_programs():
        return False
    tried = ("setpriv", f"--reuid={UNUSED}", f"--regid={UNUSED}", "--clear-groups", "unshare", "-Ur", "true")
    if subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        return False
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    if "" in mounts:
        controllers = Path(mounts[""].point, "cgroup.controllers").read_text().split()
        if set(NEEDED_V2) <= set(controllers):
            return os.access(mounts[""].point, os.W_OK)
    return all(name in mounts and os.access(mounts[name].point, os.W_OK) for name in NEEDED_V1)


def enter(*words: str) -> subprocess.CompletedProcess[str]:
    """Start a command through the entrance."""
    command = (sys.executable, "-m", "workers.sandbox.entrance", *words)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


WHO = "import os; print(os.geteuid(), os.getgroups(), os.access(os.environ['HOME'], os.W_OK))"


@pytest.mark.root
def test_root_becomes_a_user_who_has_the_folder_and_a_home(as_root: None, tmp_path: Path) -> None:
    own = tmp_path / "own"
    answer = enter("--own", str(own), "--", sys.executable, "-c", WHO)
    assert answer.returncode == 0, answer.stderr
    owner = own.stat().st_uid
    assert owner != 0
    assert answer.stdout.splitlines()[-1] == f"{owner} [] True"
    assert f"who now owns {own}" in answer.stdout


@pytest.mark.root
def test_root_becomes_a_user_also_where_temporary_files_are_in_a_closed_folder(
    as_root: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(closed))
    answer = enter("--own", str(closed / "own"), "--", sys.executable, "-c", WHO)
    assert answer.returncode == 0, answer.stderr
    assert (closed / "own").stat().st_uid != 0
    assert [path.name for path in closed.iterdir()] == ["own"]


def test_another_user_stays_the_same_and_changes_no_owners(tmp_path: Path) -> None:
    answer = enter("--own", str(tmp_path / "own"), "--", sys.executable, "-c", WHO)
    assert answer.returncode == 0, answer.stderr
    (line,) = answer.stdout.splitlines()
    assert line.startswith(f"{os.geteuid()} ")


@pytest.mark.root
def test_root_reaches_level_a_where_the_machine_permits_it(as_root: None) -> None:
    """If the sandbox stops working on such a machine, this test fails where others would only be skipped."""
    answer = enter("--", sys.executable, "-m", "workers", "sandbox")
    assert "Sandbox: level " in answer.stdout, answer.stderr
    if machine_permits_level_a():
        assert "Sandbox: level A, all protections work.\n" in answer.stdout
        assert answer.returncode == 0


def test_root_becomes_the_owner_of_the_first_folder_that_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "NAME", "no-such-user")
    assert choose_user([tmp_path / "none"]) == SystemUser(UNUSED, UNUSED)
    assert choose_user([tmp_path]) == SystemUser(os.geteuid(), os.getegid())


@pytest.mark.root
def test_for_a_folder_of_root_an_unused_user_is_chosen(
    as_root: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "NAME", "no-such-user")
    assert choose_user([tmp_path]) == SystemUser(UNUSED, UNUSED)


@pytest.mark.root
def test_an_owner_in_the_group_of_root_does_not_keep_that_group(as_root: None, tmp_path: Path) -> None:
    os.chown(tmp_path, NOBODY, 0)
    assert choose_user([tmp_path]) == SystemUser(NOBODY, UNUSED)


@pytest.mark.root
def test_created_folders_belong_to_the_user_and_the_one_above_keeps_its_owner(
    as_root: None, tmp_path: Path
) -> None:
    answer = enter("--own", str(tmp_path / "a" / "b"), "--", "true")
    assert answer.returncode == 0, answer.stderr
    assert tmp_path.stat().st_uid == 0
    assert (tmp_path / "a").stat().st_uid == (tmp_path / "a" / "b").stat().st_uid != 0


@pytest.mark.root
def test_root_is_refused_a_folder_that_its_owner_cannot_enter_until_the_command_that_it_names_is_run(
    as_root: None, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir(mode=0o600)
    os.chown(own, NOBODY, NOBODY)
    answer = enter("--own", str(own), "--", "echo", "started")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert f"cannot enter {own}: let all users pass with `chmod a+x {own}`" in answer.stderr
    subprocess.run(("chmod", "a+x", own), check=True)
    assert enter("--own", str(own), "--", "echo", "started").stdout == "started\n"


@pytest.mark.root
@pytest.mark.parametrize("holds", ["lock", "demo/lock", ".duarena", "letters"])
def test_a_folder_of_root_with_files_keeps_its_owner_and_nothing_is_started(
    as_root: None, tmp_path: Path, holds: str
) -> None:
    own = tmp_path / "own"
    (own / holds).parent.mkdir(parents=True)
    (own / holds).touch()
    answer = enter("--own", str(own), "--", "echo", "started")
    assert answer.returncode == 1
    assert "belongs to root and is not empty" in answer.stderr
    assert "started\n" not in answer.stdout
    assert {path.stat().st_uid for path in (own, *own.rglob("*"))} == {0}
