"""Control groups of version 2 in the kernel's mounted hierarchy.

Freezing, counting and killing need no controller, so they are tested wherever version 2 is mounted, even
beside version 1, which then has the controllers. Limits and delegated groups are tested where version 2 has
the controllers. Only root may create groups there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workers.reaper import end_group, kill_group
from workers.sandbox.groups.cgroups import GroupParent, UnifiedGroup
from workers.sandbox.groups.hierarchies import DELEGATED_ATTRIBUTE, NEEDED_V2, read_mounts
from workers.sandbox.limits import MEBIBYTE, Limits
from workers.sandbox.process import START_LINE, START_SCRIPT
from workers.sandbox.withheld import TICK_NS, PressureCounter

pytestmark = pytest.mark.root

DEADLINE_SECONDS = 20.0
"""Ten times the longest time on a busy machine."""
LOOKS = 5000
"""Some tens of milliseconds."""
ROOT = Path(__file__).parents[3]
LOOK = "from workers.sandbox.groups.hierarchies import look_for_parent; print(look_for_parent())"
TIME_LIMIT = ("timeout", "30")
BUSY = (*TIME_LIMIT, "sh", "-c", "(while :; do :; done) & while :; do :; done")
"""Two processes that use all the time they get."""


class Unlimited(UnifiedGroup):
    """A parent group without controllers, and so without limits."""

    def _set(self, limits: Limits) -> None:
        pass


@pytest.fixture
def parent(as_root: None) -> Iterator[Path]:
    """An empty group for one test."""
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    if "" not in mounts:
        pytest.skip("needs control groups of version 2 to be mounted")
    place = Path(mounts[""].point, f"duarena-test-{uuid.uuid4().hex}")
    try:
        place.mkdir()
    except OSError as error:
        pytest.skip(f"needs control groups of version 2 that can be written to: {error.strerror}")
    yield place
    for group in (*place.iterdir(), place):
        if group.is_dir():
            end_group((str(group),))
    assert not place.exists()


@pytest.fixture
def group(parent: Path) -> Iterator[Unlimited]:
    group = Unlimited(parent / "engine-1", Limits())
    group.create()
    yield group
    group.end()


@pytest.fixture
def busy(group: Unlimited) -> Iterator[subprocess.Popen[bytes]]:
    """Processes that entered the group as engines do."""
    command = ("sh", "-c", START_SCRIPT, "sh", *group.folders, "--", *BUSY)
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(START_LINE)
        process.stdin.close()
        wait_for(lambda: len(members(group)) == 3)
        yield process
        group.end()


def members(group: UnifiedGroup) -> list[str]:
    return Path(group.folders[0], "cgroup.procs").read_text().split()


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def is_frozen(group: UnifiedGroup) -> bool:
    return "frozen 1" in Path(group.folders[0], "cgroup.events").read_text()


def test_a_frozen_group_computes_nothing_until_it_thaws(
    group: Unlimited, busy: subprocess.Popen[bytes]
) -> None:
    wait_for(lambda: group.cpu_ns() > 0)
    group.freeze()
    wait_for(lambda: is_frozen(group))
    before = group.cpu_ns()
    assert {group.cpu_ns() for _ in range(LOOKS)} == {before}
    group.thaw()
    wait_for(lambda: group.cpu_ns() > before)


def test_a_group_waits_for_its_core_while_another_program_uses_it_and_not_for_itself(
    group: Unlimited, busy: subprocess.Popen[bytes]
) -> None:
    core = min(os.sched_getaffinity(0))
    for process in members(group):
        os.sched_setaffinity(int(process), {core})
    counter = group.withheld_counter(core)
    if not isinstance(counter, PressureCounter):
        pytest.skip("needs pressure information")
    counter.mark()
    used_ns, began_ns = group.cpu_ns(), time.monotonic_ns()
    with subprocess.Popen(("taskset", "-c", str(core), *BUSY)) as other:
        wait_for(lambda: counter.since_mark_ns() > 50_000_000)
        withheld_ns = counter.since_mark_ns()
        # Its two processes wait for each other all the time; that does not count.
        assert withheld_ns + group.cpu_ns() - used_ns <= time.monotonic_ns() - began_ns + TICK_NS
        other.terminate()  # `timeout` passes it on to both


@pytest.mark.parametrize("is_resting", [False, True])
def test_all_processes_of_a_group_are_killed_frozen_or_not(
    group: Unlimited, busy: subprocess.Popen[bytes], is_resting: bool
) -> None:
    if is_resting:
        group.freeze()
        wait_for(lambda: is_frozen(group))
    kill_group(group.folders)
    assert busy.wait(DEADLINE_SECONDS) == -9
    wait_for(lambda: members(group) == [])


def test_a_group_is_gone_at_its_end_with_all_that_was_in_it(
    group: Unlimited, busy: subprocess.Popen[bytes]
) -> None:
    group.end()
    assert not Path(group.folders[0]).exists()
    assert busy.wait(DEADLINE_SECONDS) == -9


def test_groups_within_a_group_end_with_it(group: Unlimited, busy: subprocess.Popen[bytes]) -> None:
    inner = Path(group.folders[0], "inner", "innermost")
    inner.mkdir(parents=True)
    for process in members(group)[1:]:
        (inner / "cgroup.procs").write_text(process)
    group.end()
    assert not Path(group.folders[0]).exists()
    assert busy.wait(DEADLINE_SECONDS) == -9


def test_without_delegated_controllers_no_group_is_made_and_none_is_left(parent: Path) -> None:
    with pytest.raises(OSError, match=r"memory\.max"):
        GroupParent({"": str(parent)}).plan(Limits()).create()
    assert [path for path in parent.iterdir() if path.is_dir()] == []


@pytest.fixture
def delegate(parent: Path) -> Path:
    """A group with controllers that are not enabled for its own groups."""
    if not set(NEEDED_V2) <= set((parent / "cgroup.controllers").read_text().split()):
        pytest.skip(
            "needs a machine whose controllers memory and pids are those of control groups of version 2"
        )
    return parent


def found_in(group: Path) -> str:
    """What a worker finds that systemd has started in ``group``."""
    group.mkdir(exist_ok=True)
    command = (*TIME_LIMIT, "sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', str(group), sys.executable)
    return subprocess.run(
        (*command, "-c", LOOK), cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("leaf", ["main", "other"])
def test_a_worker_in_a_leaf_of_a_delegated_group_makes_groups_with_limits(delegate: Path, leaf: str) -> None:
    os.setxattr(delegate, DELEGATED_ATTRIBUTE, b"1")
    assert found_in(delegate / leaf) == str(GroupParent({"": str(delegate)}))
    group = UnifiedGroup(delegate / "engine-1", Limits(memory=64 * MEBIBYTE, processes=32))
    group.create()
    place = Path(group.folders[0])
    assert (place / "memory.max").read_text() == f"{64 * MEBIBYTE}\n"
    assert (place / "pids.max").read_text() == "32\n"
    assert (place / "cpu.max").read_text() == "100000 100000\n"
    group.end()


def test_a_worker_alone_in_a_delegated_group_moves_to_a_leaf(delegate: Path) -> None:
    assert found_in(delegate) == str(GroupParent({"": str(delegate)}))
    assert (delegate / "main").is_dir()


def test_a_worker_beside_another_process_in_its_group_names_the_remedy(delegate: Path) -> None:
    with subprocess.Popen(BUSY) as other:
        (delegate / "cgroup.procs").write_text(str(other.pid))
        found = found_in(delegate)
        other.terminate()
    assert f"{delegate}: it has processes of its own" in found
    assert "DelegateSubgroup=main" in found


def test_a_group_without_controllers_is_named_with_them(delegate: Path) -> None:
    inner = delegate / "inner"
    inner.mkdir()
    assert f"memory and pids among the controllers of the control group {inner}" in found_in(inner)
    inner.rmdir()


def test_a_threaded_group_says_what_it_must_be(delegate: Path) -> None:
    (delegate / "threads").mkdir()
    (delegate / "threads" / "cgroup.type").write_text("threaded")
    assert str(delegate) in found_in(delegate)
