"""Attacks that use too much memory of each kind, against a limit of 64 MB."""

from __future__ import annotations

from typing import Any

from tests.support.hostile.attack import FILTER, SMALL, Attack, calling, more_than
from workers.sandbox.levels import Level


def taking(what: str, name: str, *protections: str, most: int = 100, **more: Any) -> Attack:
    """An attack that takes more than ``most`` MB, usually 160."""
    return calling(
        f"memory.{what}", name, "memory", *protections, reached_its_goal=more_than(most), limits=SMALL, **more
    )


def greedy(what: str, name: str, *protections: str, **more: Any) -> Attack:
    """``Limits.memory`` stops it, at level B through the sampling thread."""
    return taking(what, name, *protections, verdict="memory limit", **more)


def refused(what: str, name: str, **more: Any) -> Attack:
    """It asks for memory which the system call filter always refuses; the game goes on."""
    return taking(what, name, FILTER, **more)


FOLDERS_FULL = True
"""A game plays on where the folders are full before the sampler looks."""

ATTACKS = [
    greedy("heap", "takes memory as programs do"),
    greedy("many_processes", "takes a little memory in each of many processes", plays_on=True),
    greedy("shared", "takes memory to share with its children"),
    refused("memory_files", "fills files that exist in memory alone"),
    refused("segments", "leaves segments that no process has"),
    refused("in_flight", "leaves memory in a socket"),
    greedy("undumpable", "takes memory in a process that is not dumpable"),
    greedy("without_a_leader", "takes memory in a process whose first thread has ended", plays_on=True),
    greedy("page_tables", "has the kernel make tables"),
    greedy("unread_messages", "leaves messages unread", level=Level.A, plays_on=True),
    refused("unread_packets", "leaves packets unread on its own network"),
    refused("wide_messages", "has its sockets widened", most=40),
    greedy("files_in_memory", "fills its folders in memory", "limit of /tmp", plays_on=FOLDERS_FULL),
    greedy("removed_files", "removes the files it has open", "limit of /tmp", plays_on=FOLDERS_FULL),
]
