"""Attacks with files: reading those of others, changing its own, and creating too many."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, more_than, returned_something
from workers.sandbox.limits import MEBIBYTE

NO_PRIVILEGES = "no_new_privs is inherited from the outer sandbox, and no test runs without one"

ATTACKS = [
    Attack(
        "reads a file of the worker",
        at_move("files.read_secret"),
        returned_something,
        ("folders not shown",),
    ),
    Attack(
        "reads its opponent's files",
        at_move("files.read_opponent"),
        returned_something,
        ("folders not shown",),
    ),
    Attack(
        "reads which machine this is",
        at_move("files.know_the_machine"),
        returned_something,
        ("machine not shown",),
    ),
    Attack(
        "looks for devices",
        at_move("files.see_devices"),
        returned_something,
        ("own devices",),
    ),
    Attack(
        "writes wherever it can",
        at_move("files.write_everywhere"),
        returned_something,
        ("closed root",),
    ),
    Attack(
        "rewrites itself for games to come",
        at_move("files.rewrite_itself"),
        lambda seen: seen.changed,
        ("read-only folder",),
    ),
    Attack(
        "fills the disk",
        at_move("files.fill_the_disk"),
        more_than(64),
        ("limit of /tmp",),
    ),
    Attack(
        "makes files without end",
        at_move("files.use_up_inodes"),
        returned_something,
        ("memory",),
        verdict="memory limit",
        limits={"memory": 32 * MEBIBYTE},
    ),
    Attack(
        "digs folders without end",
        at_move("files.dig_deep"),
        returned_something,
        ("memory",),
        verdict="memory limit",
        limits={"memory": 32 * MEBIBYTE},
    ),
    Attack(
        "makes a huge sparse file",
        at_move("files.make_a_huge_file"),
        more_than(16 * MEBIBYTE),
        ("limit of file sizes",),
    ),
    Attack(
        "writes too long a file",
        ("go:2", "fill", str(17 * MEBIBYTE)),
        lambda seen: seen.termination == "ply limit",
        ("limit of file sizes",),
        verdict="file limit",
    ),
    Attack(
        "opens files without end",
        at_move("files.use_up_descriptors"),
        more_than(256),
        ("limit of descriptors",),
    ),
    Attack(
        "looks for descriptors that were left open",
        at_move("files.find_descriptors"),
        returned_something,
        ("closed descriptors",),
    ),
    Attack(
        "runs programs that run as root",
        at_move("files.become_root"),
        lambda seen: 0 in (seen.result or ()),
        unshown=NO_PRIVILEGES,
    ),
    Attack(
        "leaves core dumps",
        at_move("files.dump_core"),
        returned_something,
        unshown="the machine's settings decide where a core dump goes, and whether it is written",
    ),
]
