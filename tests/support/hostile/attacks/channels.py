"""Channels between two engines: messages that the referee does not see."""

from __future__ import annotations

from tests.support.hostile.attack import FILTER, Attack, at_move, passed_the_number

MESSAGES = ("namespace of messages", FILTER)


def channel(medium: str, way: str, *protections: str, before: str = "", unshown: str = "") -> Attack:
    """White sends the number at its second move and Black receives it at its own second move.

    ``way`` is ``module.how``; ``before`` is the function that Black calls at its first move, if any.
    """
    module, how = way.split(".")
    prepare = ("go:1", "attack", f"{module}.{before} {{facts}}") if before else ()
    return Attack(
        f"sends to its opponent through {medium}",
        at_move(f"{module}.send_{how}"),
        lambda seen: passed_the_number(seen) or (how == "in_a_keyring" and max(seen.result or (0,)) > 0),
        protections,
        opponent=(*prepare, *at_move(f"{module}.receive_{how}")),
        unshown=unshown,
    )


HINTS = "since Linux 6.9 only a file's owner may set them"

ATTACKS = [
    channel("files", "shared_files.in_files", "own /tmp"),
    channel("a shared memory segment", "channels.in_a_segment", *MESSAGES),
    channel("a message queue", "channels.in_a_queue", *MESSAGES),
    channel("a semaphore", "channels.in_semaphores", *MESSAGES),
    channel("a socket", "channels.at_a_socket", "namespace of the network", before="wait_at_a_socket"),
    channel("locks on files", "shared_files.by_whole_locks", FILTER),
    channel("locks on records", "shared_files.by_record_locks", FILTER),
    channel("opened files", "shared_files.by_openings", FILTER, before="wait_for_openings"),
    channel("the page cache", "shared_files.in_the_page_cache", FILTER),
    channel("the timestamps of devices", "shared_files.by_times", FILTER),
    channel("write hints of files", "shared_files.by_hints", unshown=HINTS),
    channel("the kernel's keyrings", "channels.in_a_keyring", FILTER),
]
