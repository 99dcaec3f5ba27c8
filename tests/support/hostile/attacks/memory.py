"""Attacks that use too much memory of each kind, against a limit of 64 MB."""

from __future__ import annotations

from tests.support.hostile.attack import SMALL, Attack, at_move, more_than
from workers.sandbox.levels import Level
from workers.sandbox.limits import MEBIBYTE


def greedy(name: str, what: str, level: Level = Level.B, *, plays_on: bool = False) -> Attack:
    """An attack that takes 160 MB; ``Limits.memory`` stops it, at level B through the sampling thread."""
    return Attack(
        name,
        at_move(f"memory.{what}"),
        more_than(100),
        ("memory",),
        level,
        verdict="memory limit",
        plays_on=plays_on,
        limits=SMALL,
    )


def refused(name: str, what: str) -> Attack:
    """An attack that asks for memory which the system call filter always refuses; the game goes on."""
    protections = ("memory", "system call filter")
    return Attack(name, at_move(f"memory.{what}"), more_than(100), protections, limits=SMALL)


ATTACKS = [
    greedy("takes memory as programs do", "heap"),
    greedy("takes a little memory in each of many processes", "many_processes", plays_on=True),
    greedy("takes memory to share with its children", "shared"),
    refused("fills files that exist in memory alone", "memory_files"),
    refused("leaves segments that no process has", "segments"),
    refused("leaves memory in a socket", "in_flight"),
    greedy("takes memory in a process that is not dumpable", "undumpable"),
    greedy("takes memory in a process whose first thread has ended", "without_a_leader", plays_on=True),
    greedy("has the kernel make tables", "page_tables"),
    greedy("leaves messages unread", "unread_messages", Level.A, plays_on=True),
    Attack(
        "leaves packets unread on its own network",
        at_move("memory.unread_packets"),
        more_than(100),
        ("memory", "system call filter"),
        limits=SMALL,
    ),
    Attack(
        "has its sockets widened",
        at_move("memory.wide_messages"),
        more_than(40),
        ("memory", "system call filter"),
        limits=SMALL,
    ),
    Attack(
        "fills its folders in memory",
        at_move("memory.files_in_memory"),
        more_than(100),
        ("memory", "limit of /tmp"),
        verdict="memory limit",
        plays_on=True,  # where the folders are full before the sampler looks
        limits={"memory": 64 * MEBIBYTE},
    ),
    Attack(
        "removes the files it has open",
        at_move("memory.removed_files"),
        more_than(100),
        ("memory", "limit of /tmp"),
        verdict="memory limit",
        plays_on=True,  # where the folders are full before the sampler looks
        limits={"memory": 64 * MEBIBYTE},
    ),
]
