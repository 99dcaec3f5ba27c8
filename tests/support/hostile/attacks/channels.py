"""On the wall between two engines: words handed over behind the referee's back."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, handed_over

FILTER = ("system call filter",)
MESSAGES = ("namespace of messages",)


def channel(name: str, way: str, walls: tuple[str, ...], *before: str) -> Attack:
    """White says it at its second move, Black hears it at its own; ``before`` is what Black does first."""
    waits = ("go:1", "attack", f"channels.{before[0]} {{facts}}") if before else ()
    return Attack(
        name,
        at_move(f"channels.say_{way}"),
        handed_over,
        walls,
        opponent=(*waits, *at_move(f"channels.hear_{way}")),
    )


ATTACKS = [
    channel("tells its opponent by files", "in_files", ("own /tmp",)),
    channel("tells its opponent by a segment", "in_a_segment", MESSAGES),
    channel("tells its opponent by a queue", "in_a_queue", MESSAGES),
    channel("tells its opponent by a semaphore", "in_semaphores", MESSAGES),
    channel(
        "tells its opponent at a socket", "at_a_socket", ("namespace of the network",), "wait_at_a_socket"
    ),
    channel("tells its opponent by locks of files", "by_whole_locks", FILTER),
    channel("tells its opponent by locks of records", "by_record_locks", FILTER),
    channel("tells its opponent by opening files", "by_openings", FILTER, "wait_for_openings"),
    Attack(
        "tells its opponent by the kernel's keys",
        at_move("channels.say_in_a_keyring"),
        lambda seen: handed_over(seen) or max(seen.loot or (0,)) > 0,
        FILTER,
        opponent=at_move("channels.hear_in_a_keyring"),
    ),
]
