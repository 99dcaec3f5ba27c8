"""Root becomes another user, and that is enough for level A where the machine permits it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tournament.embedded.plan import ROOT
from workers.sandbox import entrance
from workers.sandbox.entrance import UNUSED, User, choose_user, give_away
from workers.sandbox.hierarchies import NEEDED_V1, NEEDED_V2, read_mounts
from workers.sandbox.host import missing_programs
from workers.sandbox.reach import closed_folders

NOBODY = 65534


def machine_permits_level_a() -> bool:
    """By other means than ours: root, the programs, a namespace, and a hierarchy that can be written to."""
    if os.geteuid() != 0 or missing_programs():
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


def test_whoever_starts_it_somebody_else_than_root_goes_on(tmp_path: Path) -> None:
    own = tmp_path / "own"
    program = "import os; print(os.geteuid(), os.getgroups(), os.access(os.environ['HOME'], os.W_OK))"
    words = ("-m", "workers.sandbox.entrance", "--own", str(own), "--", sys.executable, "-c", program)
    answer = subprocess.run((sys.executable, *words), cwd=ROOT, capture_output=True, text=True, check=True)
    uid, *rest = answer.stdout.splitlines()[-1].split(" ", 1)
    assert int(uid) == (os.geteuid() or own.stat().st_uid) != 0
    if os.geteuid() == 0:
        assert rest == ["[] True"]
        assert f"goes on, to whom {own} belongs from now on" in answer.stdout


def test_root_comes_to_level_a_where_the_machine_permits_it() -> None:
    """Should the walls stop holding on such a machine, no test behind them may pass over it in silence."""
    words = ("-m", "workers.sandbox.entrance", "--", sys.executable, "-m", "workers", "sandbox")
    answer = subprocess.run((sys.executable, *words), cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Sandbox: level " in answer.stdout, answer.stderr
    if machine_permits_level_a():
        assert "Sandbox: level A, all walls hold.\n" in answer.stdout
        assert answer.returncode == 0


def test_the_owner_of_the_folder_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrance, "NAME", "no-such-user")
    assert choose_user([tmp_path / "none"]) == User(UNUSED, UNUSED)
    status = tmp_path.stat()
    expected = User(status.st_uid, status.st_gid) if status.st_uid else User(UNUSED, UNUSED)
    assert choose_user([tmp_path]) == expected


def test_giving_away_follows_no_links(tmp_path: Path) -> None:
    outside, own = tmp_path / "outside", tmp_path / "own"
    for folder in (outside, own / "inner"):
        folder.mkdir(parents=True)
    (own / "inner" / "link").symlink_to(outside)
    before = outside.stat().st_uid
    give_away(own, User(NOBODY, NOBODY) if before == 0 else User(before, outside.stat().st_gid))
    assert outside.stat().st_uid == before
    assert (own / "inner").stat().st_uid == (NOBODY if before == 0 else before)


def test_the_folders_that_are_closed_on_the_way_are_found(tmp_path: Path) -> None:
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    for folder in (tmp_path / "closed", inner):
        folder.chmod(0o755)
    assert tmp_path / "closed" not in closed_folders(inner, UNUSED, UNUSED)
    (tmp_path / "closed").chmod(0o700)
    assert tmp_path / "closed" in closed_folders(inner, UNUSED, UNUSED)
    assert tmp_path / "closed" not in closed_folders(inner, os.getuid(), os.getgid())


@pytest.mark.parametrize("holds", ["lock", "demo/lock", "letters"])
def test_a_folder_of_others_is_not_given_away(tmp_path: Path, holds: str) -> None:
    own = tmp_path / "own"
    (own / holds).parent.mkdir(parents=True)
    (own / holds).touch()
    words = ("-m", "workers.sandbox.entrance", "--own", str(own), "--", "true")
    answer = subprocess.run((sys.executable, *words), cwd=ROOT, capture_output=True, text=True, check=True)
    given = os.geteuid() == 0 and holds != "letters"
    assert (own.stat().st_uid == os.geteuid()) is not given
    told = "holds what is not ours to give away" in answer.stdout
    assert told == (os.geteuid() == 0 and holds == "letters")
