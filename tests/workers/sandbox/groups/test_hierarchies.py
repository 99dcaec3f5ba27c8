"""Reading where control groups are mounted and in which this process is."""

from __future__ import annotations

from pathlib import Path

from workers.sandbox.groups.hierarchies import Mount, read_memberships, read_mounts

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
