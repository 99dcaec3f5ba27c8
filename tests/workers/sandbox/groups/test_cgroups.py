"""Control groups of version 2, over a folder with the files of the kernel alone; where they are mounted."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from workers.sandbox.groups import hierarchies
from workers.sandbox.groups.cgroups import GroupParent, UnifiedGroup
from workers.sandbox.groups.hierarchies import (
    Mount,
    _unified_parent,
    enable_controllers,
    read_memberships,
    read_mounts,
)
from workers.sandbox.levels import Want
from workers.sandbox.limits import MEBIBYTE, Limits

LIMITS = Limits(memory=64 * MEBIBYTE, processes=32)
FILES = {
    "cgroup.freeze": "0\n",
    "cpu.max": "max 100000\n",
    "cpu.stat": "usage_usec 1234\nuser_usec 1000\nsystem_usec 234\n",
    "memory.events": "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 1\n",
    "memory.max": "max\n",
    "memory.oom.group": "0\n",
    "memory.swap.max": "max\n",
    "pids.events": "max 5\n",
    "pids.max": "max\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def group_in(place: Path) -> UnifiedGroup:
    group = UnifiedGroup(place, LIMITS)
    group.set_up()
    return group


def written(path: Path) -> str:
    """The text written last; as in the kernel's files, writing does not truncate."""
    return path.read_text().partition("\n")[0]


def test_a_group_has_its_limits_before_anything_is_in_it(place: Path) -> None:
    group_in(place)._close()
    assert (place / "memory.max").read_text().startswith(str(64 * MEBIBYTE))
    assert written(place / "pids.max").startswith("32")
    assert written(place / "memory.swap.max").startswith("0")
    assert written(place / "memory.oom.group") == "1"
    assert written(place / "cpu.max").startswith("100000 100000")


@pytest.mark.parametrize("name", ["memory.swap.max", "memory.oom.group", "cpu.max"])
def test_a_group_is_made_without_the_optional_files_of_a_kernel(place: Path, name: str) -> None:
    (place / name).unlink()
    group_in(place)._close()


@pytest.mark.parametrize("name", ["memory.max", "pids.max", "cgroup.freeze", "cpu.stat"])
def test_without_the_required_files_no_group_is_made(place: Path, name: str) -> None:
    (place / name).unlink()
    with pytest.raises(OSError, match=name):
        group_in(place)


def test_a_group_is_frozen_thawed_and_read_anew_each_time(place: Path) -> None:
    group = group_in(place)
    group.freeze()
    assert written(place / "cgroup.freeze") == "1"
    group.thaw()
    assert written(place / "cgroup.freeze") == "0"
    assert (group.cpu_ns(), group.oom_kills(), group.refused_processes()) == (1_234_000, 2, 5)
    (place / "cpu.stat").write_text("usage_usec 2000\n")
    assert group.cpu_ns() == 2_000_000
    group._close()
    group._close()


def test_pressure_without_throttling_is_what_a_group_waited(place: Path) -> None:
    (place / "cpu.pressure").write_text("some avg10=0.00 total=900\nfull avg10=0.00 total=500\n")
    (place / "cpu.stat").write_text("usage_usec 1\nthrottled_usec 100\n")
    group = group_in(place)
    counter = group.withheld_counter(0)
    assert counter is not None
    assert counter.is_proof
    counter.mark()
    (place / "cpu.pressure").write_text("some avg10=0.00 total=9900\nfull avg10=0.00 total=1500\n")
    (place / "cpu.stat").write_text("usage_usec 1\nthrottled_usec 300\n")
    assert counter.since_mark_ns() == 800_000
    group._close()


def test_without_pressure_information_delays_are_counted_which_prove_nothing(place: Path) -> None:
    group = group_in(place)
    counter = group.withheld_counter(0)
    assert counter is not None
    assert not counter.is_proof
    group._close()


def test_groups_of_ended_workers_are_removed_also_if_their_number_is_used_again(tmp_path: Path) -> None:
    parent = GroupParent({"": str(tmp_path)})
    mine = Path(parent.plan(LIMITS).folders[0])
    other = f"engine-{os.getpid()}-1-1"
    earlier = f"engine-{os.getpid()}-1"
    for name in (mine.name, earlier, other, "engine-999999999-5-1", "engine-999999999-1", "main"):
        (tmp_path / name / "inner").mkdir(parents=True)
    parent.clear()
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, earlier, "main"}


def test_a_parent_has_a_version() -> None:
    assert GroupParent({"": "/sys/fs/cgroup/duarena"}).version == 2
    assert GroupParent({"memory": "/sys/fs/cgroup/memory/duarena"}).version == 1


@pytest.fixture
def delegate(tmp_path: Path) -> Path:
    """A group as systemd leaves it to a unit with ``DelegateSubgroup=main``, its controllers not enabled."""
    for folder in (tmp_path, tmp_path / "main"):
        folder.mkdir(exist_ok=True)
        for name in ("cgroup.procs", "cgroup.subtree_control"):
            (folder / name).touch()
        (folder / "cgroup.controllers").touch()
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids rdma\n")
    return tmp_path


def unified(place: Path, group: str, name: str = "") -> GroupParent | Want:
    """What a process in ``group`` finds, if ``place`` is the mount of version 2."""
    return _unified_parent({"": Mount("/", str(place))}, {"": group}, name)


def test_the_group_around_a_leaf_is_divided_though_its_controllers_are_off(
    delegate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[Path, object]] = []
    monkeypatch.setattr(hierarchies, "write_value", lambda path, value: written.append((path, value)))
    assert unified(delegate, "/main") == GroupParent({"": str(delegate)})
    file = delegate / "cgroup.subtree_control"
    assert written == [(file, "+memory"), (file, "+pids"), (file, "+cpu")]


def test_the_group_around_any_leaf_is_divided_if_systemd_delegated_it(
    delegate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (delegate / "main").rename(delegate / "other")
    monkeypatch.setattr(hierarchies, "is_delegated", lambda folder: folder == delegate)
    assert unified(delegate, "/other") == GroupParent({"": str(delegate)})


def test_a_named_group_is_divided_though_its_controllers_are_off(delegate: Path) -> None:
    assert unified(delegate.parent, "/elsewhere", delegate.name) == GroupParent({"": str(delegate)})


def test_a_group_without_a_leaf_gets_one(delegate: Path) -> None:
    assert unified(delegate.parent, f"/{delegate.name}") == GroupParent({"": str(delegate)})
    assert (delegate / "main" / "cgroup.procs").read_text() == str(os.getpid())


@pytest.mark.parametrize(
    ("controllers", "lack"), [("cpu pids", "memory among"), ("", "memory and pids among")]
)
def test_missing_controllers_are_named_with_their_group(delegate: Path, controllers: str, lack: str) -> None:
    (delegate / "cgroup.controllers").write_text(controllers)
    found = unified(delegate, "/main")
    assert isinstance(found, Want)
    assert found.lack == f"{lack} the controllers of the control group {delegate}"


def test_without_the_cpu_controller_a_group_is_divided(delegate: Path) -> None:
    (delegate / "cgroup.controllers").write_text("memory pids")
    assert isinstance(unified(delegate, "/main"), GroupParent)


@pytest.mark.parametrize(
    ("number", "word", "may_pass"),
    [
        (errno.EBUSY, "DelegateSubgroup=main", True),
        (errno.EOPNOTSUPP, "cgroup.type", False),
        (errno.EACCES, "cgroup.subtree_control", False),
    ],
)
def test_a_group_that_cannot_be_divided_says_why(
    delegate: Path, monkeypatch: pytest.MonkeyPatch, number: int, word: str, may_pass: bool
) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(number, os.strerror(number), str(folder / "cgroup.subtree_control"))

    monkeypatch.setattr(hierarchies, "enable_controllers", refuse)
    found = unified(delegate, "/main")
    assert isinstance(found, Want)
    assert str(delegate) in found.lack
    assert word in found.remedy
    assert found.may_pass is may_pass


def test_an_optional_controller_that_stays_off_does_not_matter(
    delegate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def write(path: Path, value: str) -> None:
        if value == "+cpu":
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        written.append(value)

    monkeypatch.setattr(hierarchies, "write_value", write)
    enable_controllers(delegate)
    assert written == ["+memory", "+pids"]


def test_a_group_that_cannot_be_entered_is_not_divided(delegate: Path) -> None:
    (delegate / "main" / "cgroup.procs").unlink()
    found = unified(delegate.parent, f"/{delegate.name}")
    assert isinstance(found, Want)
    assert found.lack == f"limits in the control group {delegate}: No such file or directory"


def test_a_group_of_a_container_is_seen_from_the_mount_on() -> None:
    assert Mount("/docker/abc", "/sys/fs/cgroup").folder_of("/docker/abc/main") == Path("/sys/fs/cgroup/main")


MOUNTINFO = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 25 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
32 25 0:28 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:12 - cgroup cgroup rw,memory
33 25 0:29 / /mnt/with\\040space rw - tmpfs tmpfs rw
"""
CGROUP = """\
9:name=systemd:/
4:memory:/docker/abc/worker
2:cpu,cpuacct:/a:b
0::/system.slice/duarena.service
"""


def test_every_hierarchy_is_found_by_its_controllers() -> None:
    mounts = dict(read_mounts(MOUNTINFO))
    assert mounts[""] == Mount("/", "/sys/fs/cgroup/unified")
    assert mounts["cpu"] == mounts["cpuacct"] == Mount("/", "/sys/fs/cgroup/cpu,cpuacct")
    assert mounts["memory"] == Mount("/docker/abc", "/sys/fs/cgroup/memory")


def test_own_groups_are_found_by_controller() -> None:
    own = dict(read_memberships(CGROUP))
    assert own[""] == "/system.slice/duarena.service"
    assert own["cpuacct"] == "/a:b"


def test_a_groups_folder_is_seen_through_the_mount() -> None:
    mounts, own = dict(read_mounts(MOUNTINFO)), dict(read_memberships(CGROUP))
    assert mounts["memory"].folder_of(own["memory"]) == Path("/sys/fs/cgroup/memory/worker")
    assert mounts[""].folder_of(own[""]) == Path("/sys/fs/cgroup/unified/system.slice/duarena.service")
    assert mounts[""].folder_of("/") == Path("/sys/fs/cgroup/unified")
