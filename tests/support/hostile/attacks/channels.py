"""Channels between two engines: messages that the referee does not see."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, passed_the_number

FILTER = ("system call filter",)
MESSAGES = ("namespace of messages", "system call filter")


def channel(
    name: str, way: str, protections: tuple[str, ...] = (), *, before: str = "", unshown: str = ""
) -> Attack:
    """White sends the number at its second move and Black receives it at its own second move.

    ``way`` is ``module.how``; ``before`` is the function that Black calls at its first move, if any.
    """
    module, how = way.split(".")
    prepare = ("go:1", "attack", f"{module}.{before} {{facts}}") if before else ()
    return Attack(
        name,
        at_move(f"{module}.send_{how}"),
        passed_the_number,
        protections,
        opponent=(*prepare, *at_move(f"{module}.receive_{how}")),
        unshown=unshown,
    )


ATTACKS = [
    channel("sends to its opponent through files", "shared_files.in_files", ("own /tmp",)),
    channel("sends to its opponent through a shared memory segment", "channels.in_a_segment", MESSAGES),
    channel("sends to its opponent through a message queue", "channels.in_a_queue", MESSAGES),
    channel("sends to its opponent through a semaphore", "channels.in_semaphores", MESSAGES),
    channel(
        "sends to its opponent through a socket",
        "channels.at_a_socket",
        ("namespace of the network",),
        before="wait_at_a_socket",
    ),
    channel("sends to its opponent through locks on files", "shared_files.by_whole_locks", FILTER),
    channel("sends to its opponent through locks on records", "shared_files.by_record_locks", FILTER),
    channel(
        "sends to its opponent through opened files",
        "shared_files.by_openings",
        FILTER,
        before="wait_for_openings",
    ),
    channel("sends to its opponent through the page cache", "shared_files.in_the_page_cache", FILTER),
    channel("sends to its opponent through the timestamps of devices", "shared_files.by_times", FILTER),
    channel(
        "sends to its opponent through write hints of files",
        "shared_files.by_hints",
        unshown="since Linux 6.9 only a file's owner may set them",
    ),
    Attack(
        "sends to its opponent through the kernel's keyrings",
        at_move("channels.send_in_a_keyring"),
        lambda seen: passed_the_number(seen) or max(seen.result or (0,)) > 0,
        FILTER,
        opponent=at_move("channels.receive_in_a_keyring"),
    ),
]
