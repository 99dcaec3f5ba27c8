"""Channels between two engines: messages that the referee does not see."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, handed_over

FILTER = ("system call filter",)
MESSAGES = ("namespace of messages", "system call filter")


def channel(
    name: str, way: str, protections: tuple[str, ...] = (), *, before: str = "", unshown: str = ""
) -> Attack:
    """White says it at its second move, Black hears it at its own; ``before`` is what Black does first.

    ``way`` is ``module.how``.
    """
    module, how = way.split(".")
    waits = ("go:1", "attack", f"{module}.{before} {{facts}}") if before else ()
    return Attack(
        name,
        at_move(f"{module}.say_{how}"),
        handed_over,
        protections,
        opponent=(*waits, *at_move(f"{module}.hear_{how}")),
        unshown=unshown,
    )


ATTACKS = [
    channel("tells its opponent by files", "shared_files.in_files", ("own /tmp",)),
    channel("tells its opponent by a segment", "channels.in_a_segment", MESSAGES),
    channel("tells its opponent by a queue", "channels.in_a_queue", MESSAGES),
    channel("tells its opponent by a semaphore", "channels.in_semaphores", MESSAGES),
    channel(
        "tells its opponent at a socket",
        "channels.at_a_socket",
        ("namespace of the network",),
        before="wait_at_a_socket",
    ),
    channel("tells its opponent by locks of files", "shared_files.by_whole_locks", FILTER),
    channel("tells its opponent by locks of records", "shared_files.by_record_locks", FILTER),
    channel(
        "tells its opponent by opening files",
        "shared_files.by_openings",
        FILTER,
        before="wait_for_openings",
    ),
    channel("tells its opponent by files in memory", "shared_files.in_the_page_cache", FILTER),
    channel("tells its opponent by the times of devices", "shared_files.by_times", FILTER),
    channel(
        "tells its opponent by hints about files",
        "shared_files.by_hints",
        unshown="kernels since 6.9 take them from a file's owner alone",
    ),
    Attack(
        "tells its opponent by the kernel's keys",
        at_move("channels.say_in_a_keyring"),
        lambda seen: handed_over(seen) or max(seen.loot or (0,)) > 0,
        FILTER,
        opponent=at_move("channels.hear_in_a_keyring"),
    ),
]
