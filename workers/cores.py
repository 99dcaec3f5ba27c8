"""The cores on which games are played. Workers and matches of one machine choose different ones.

Each core in use is claimed by a socket with a name in the kernel's abstract namespace, which is gone with its
process. Containers with networks of their own do not see each other's claims.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
from collections.abc import Sequence
from pathlib import Path

TOPOLOGY = Path("/sys/devices/system/cpu")
GROUPS = Path("/sys/fs/cgroup")
_CLAIMS: dict[int, socket.socket] = {}
"""The claims of this process, by core."""


def count_cores(groups: Path = GROUPS, membership: Path = Path("/proc/self/cgroup")) -> int:
    """How many games this process can play at once: its cores, or fewer by the quota of its control group."""
    quotas = [len(os.sched_getaffinity(0)), *_quotas(groups, membership)]
    return max(1, math.floor(min(quotas)))


def _quotas(groups: Path, membership: Path) -> list[float]:
    """The quotas of the control group and of those above it, in cores; none where there is no limit."""
    found = []
    with contextlib.suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            top = groups / controllers if controllers else groups
            group = top / path.lstrip("/")
            found += [_quota(place) for place in (group, *group.parents) if place.is_relative_to(top)]
    return [quota for quota in found if quota is not None]


def _quota(group: Path) -> float | None:
    """The quota of one group of either version; None without a limit."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text().split()
        return int(quota) / int(period)
    with contextlib.suppress(OSError, ValueError):
        quota_us = int((group / "cpu.cfs_quota_us").read_text())
        return quota_us / int((group / "cpu.cfs_period_us").read_text()) if quota_us > 0 else None
    return None


def claim_cores(count: int, first: int = 0) -> list[int]:
    """``count`` cores of this process, which are claimed until it ends.

    Those that nobody has claimed come first, then the others. The second thread of a core is used only when
    no core is free. The search begins at the place ``first``.
    """
    cores = sorted(os.sched_getaffinity(0), key=lambda core: (_rank_in_core(core), core))
    place = first % len(cores)
    found: list[int] = []
    for core in (*cores[place:], *cores[:place]):
        if len(found) < count and _claim(core):
            found.append(core)
    return [*found, *(core for core in cores[place:] + cores[:place] if core not in found)][:count]


def claim_given(cores: Sequence[int], count: int) -> tuple[list[int], list[int]]:
    """``count`` of these cores, which are claimed as far as nobody has, and those that somebody has.

    Those that nobody has claimed come first, each part in the order given.
    """
    found: list[int] = []
    for core in cores:
        if len(found) < count and _claim(core):
            found.append(core)
    shared = [core for core in cores if core not in found][: count - len(found)]
    return [*found, *shared], shared


def _claim(core: int) -> bool:
    """Whether the core is claimed by this process now."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0duarena-core-{core}")
    except OSError:
        claim.close()
        return core in _CLAIMS
    _CLAIMS[core] = claim
    return True


def _rank_in_core(cpu: int) -> int:
    """0 for the first thread of a core, else 1; always 0 if the system does not tell."""
    try:
        text = (TOPOLOGY / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return 0
    first = text.replace("-", ",").partition(",")[0].strip()
    return int(first != str(cpu))
