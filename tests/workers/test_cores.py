"""Which cores games are played on, and how many there are."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from workers import cores
from workers.cores import claim_cores, count_cores
from workers.match.slots.pool import choose_cores

CLAIM = """
import os, sys
from workers.cores import claim_cores
base = int(sys.argv[1])
os.sched_getaffinity = lambda process: {base, base + 1, base + 2}
print(*claim_cores(int(sys.argv[2]), int(sys.argv[3])), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> int:
    """The first of three cores that no machine has and no other test claims."""
    first = random.randrange(10**6, 10**9)
    monkeypatch.setattr("workers.cores.os.sched_getaffinity", lambda _: {first, first + 1, first + 2})
    monkeypatch.setattr(cores, "_CLAIMS", {})
    return first


def other_worker(base: int, count: int, first: int = 0) -> tuple[subprocess.Popen[str], list[int]]:
    """A process with claims, which ends with its input, and its cores counted from the first one."""
    words = (sys.executable, "-c", CLAIM, str(base), str(count), str(first))
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, [int(word) - base for word in process.stdout.readline().split()]


def test_two_workers_choose_different_cores_until_one_has_ended(base: int) -> None:
    process, claimed = other_worker(base, 2)
    with process:
        assert claimed == [0, 1]
        assert claim_cores(1) == [base + 2]
        process.communicate()
    assert claim_cores(3) == [base, base + 1, base + 2]


def test_slots_that_find_no_free_core_share_them_evenly(base: int) -> None:
    process, _ = other_worker(base, 3)
    with process:
        assert [claim_cores(1, slot)[0] - base for slot in range(4)] == [0, 1, 2, 0]
        process.communicate()


def test_given_cores_are_claimed_and_one_that_another_run_uses_is_named(
    base: int, capsys: pytest.CaptureFixture[str]
) -> None:
    process, _ = other_worker(base, 1)
    with process:
        assert choose_cores(1, pin=True, cpus=(base, base + 1)) == [base + 1]
        assert capsys.readouterr().err == ""
        second, claimed = other_worker(base, 1)
        with second:
            assert claimed == [2]
            second.communicate()
        assert choose_cores(1, pin=True, cpus=(base,)) == [base]
        said = f"warning: -cpus: another match or worker of this machine plays on CPU {base} too\n"
        assert capsys.readouterr().err == said
        process.communicate()


@pytest.mark.parametrize(
    ("files", "membership", "expected"),
    [
        ({}, "0::/", 8),
        ({"cpu.max": "max 100000\n"}, "0::/", 8),
        ({"cpu.max": "250000 100000\n"}, "0::/", 2),
        ({"cpu.max": "50000 100000\n"}, "0::/", 1),
        ({"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}, "0::/a/b", 3),
        (
            {"cpu,cpuacct/a/cpu.cfs_quota_us": "200000", "cpu,cpuacct/a/cpu.cfs_period_us": "100000"},
            "5:memory:/a\n4:cpu,cpuacct:/a\n0::/",
            2,
        ),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "4:cpu:/", 8),
    ],
)
def test_the_cores_are_those_that_it_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], membership: str, expected: int
) -> None:
    monkeypatch.setattr("workers.cores.os.sched_getaffinity", lambda _: set(range(8)))
    for name, text in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(text)
    (tmp_path / "membership").write_text(membership)
    assert count_cores(tmp_path / "groups", tmp_path / "membership") == expected
