"""Attacks with files: reading those of others, changing its own, and creating too many."""

from __future__ import annotations

from typing import Any

from tests.support.hostile.attack import Attack, calling, more_than
from workers.sandbox.limits import MEBIBYTE

MEMORY: dict[str, Any] = {"verdict": "memory limit", "limits": {"memory": 32 * MEBIBYTE}}
NO_PRIVILEGES = "no_new_privs is inherited from the outer sandbox, and no test runs without one"
CORE_DUMPS = "the machine's settings decide where a core dump goes, and whether it is written"

ATTACKS = [
    calling("files.read_secret", "reads a file of the worker", "folders not shown"),
    calling("files.read_opponent", "reads its opponent's files", "folders not shown"),
    calling("files.know_the_machine", "reads which machine this is", "machine not shown"),
    calling("files.see_devices", "looks for devices", "own devices"),
    calling("files.write_everywhere", "writes wherever it can", "closed root"),
    calling(
        "files.rewrite_itself",
        "rewrites itself for games to come",
        "read-only folder",
        reached_its_goal=lambda seen: seen.changed,
    ),
    calling("files.fill_the_disk", "fills the disk", "limit of /tmp", reached_its_goal=more_than(64)),
    calling("files.use_up_inodes", "makes files without end", "memory", **MEMORY),
    calling("files.dig_deep", "digs folders without end", "memory", **MEMORY),
    calling(
        "files.make_a_huge_file",
        "makes a huge sparse file",
        "limit of file sizes",
        reached_its_goal=more_than(16 * MEBIBYTE),
    ),
    Attack(
        "writes too long a file",
        ("go:2", "fill", str(17 * MEBIBYTE)),
        lambda seen: seen.termination == "ply limit",
        ("limit of file sizes",),
        verdict="file limit",
    ),
    calling(
        "files.use_up_descriptors",
        "opens files without end",
        "limit of descriptors",
        reached_its_goal=more_than(256),
    ),
    calling("files.find_descriptors", "looks for descriptors that were left open", "closed descriptors"),
    calling(
        "files.become_root",
        "runs programs that run as root",
        reached_its_goal=lambda seen: 0 in (seen.result or ()),
        unshown=NO_PRIVILEGES,
    ),
    calling("files.dump_core", "leaves core dumps", unshown=CORE_DUMPS),
]
