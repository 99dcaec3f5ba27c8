"""Control groups of version 2, over a folder with the files of the kernel alone; where they are mounted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workers.sandbox.groups.cgroups import GroupParent, UnifiedGroup
from workers.sandbox.groups.hierarchies import (
    Mount,
    enable_controllers,
    move_to_leaf,
    read_memberships,
    read_mounts,
)
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
    assert (group.cpu_ns(), group.memory_kills(), group.refused_processes()) == (1_234_000, 2, 5)
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


def test_only_available_controllers_are_delegated(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids rdma\n")
    (tmp_path / "cgroup.subtree_control").touch()
    enable_controllers(tmp_path)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    (tmp_path / "cgroup.controllers").write_text("memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    enable_controllers(tmp_path)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_a_group_that_cannot_be_entered_is_not_divided(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"cgroup\.procs"):
        move_to_leaf(tmp_path)


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
