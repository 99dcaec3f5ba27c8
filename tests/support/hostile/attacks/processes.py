"""Attacks with processes: too many, outliving the game, and on the processes of others."""

from __future__ import annotations

from typing import Any

from tests.support.hostile.attack import FILTER, Attack, calling, more_than
from tests.support.hostile.observation import Observation
from workers.sandbox.levels import Level

OURS = 16
"""Processes of the trial beside those of the attack: both engines with their sandboxes."""
APART = "namespace of processes"
USERS_APART = "the user namespace, which all others need, stops it alone"


def started_many(seen: Observation) -> bool:
    return seen.most_processes > 64 + OURS or (seen.result or 0) > 64


def left_some(seen: Observation) -> bool:
    return seen.survivors > 0


def computing(name: str, *plan: str, **more: Any) -> Attack:
    """It succeeds if it uses processor time while its opponent thinks for a while."""
    return Attack(
        f"{name} while its opponent thinks",
        plan,
        lambda seen: seen.second_move_cpu_seconds > 0.15,
        ("rest",),
        opponent=("go:1", "burn", "0.5"),
        **more,
    )


def first(what: str) -> tuple[str, ...]:
    return ("isready", "attack", f"processes.{what} {{facts}}")


SPIN = ("isready", "spin", "-")

ATTACKS = [
    calling(
        "processes.fork_bomb",
        "starts processes without end",
        "limit of processes",
        reached_its_goal=started_many,
    ),
    calling(
        "processes.program_bomb",
        "starts programs without end",
        "limit of processes",
        reached_its_goal=started_many,
    ),
    calling(
        "processes.thread_bomb",
        "starts threads without end",
        "limit of processes",
        reached_its_goal=more_than(64),
    ),
    calling("processes.orphan", "leaves an orphan in a new session", APART, reached_its_goal=left_some),
    calling(
        "processes.disguise", "leaves an orphan that changes its name", APART, reached_its_goal=left_some
    ),
    calling(
        "processes.kill_all",
        "kills every process it may",
        APART,
        reached_its_goal=lambda seen: "ended with 137" in seen.evidence or seen.fault == "black",
    ),
    calling(
        "processes.limit_others",
        "sets limits on the worker",
        APART,
        reached_its_goal=lambda seen: seen.worker_limit == 4321,
    ),
    calling(
        "processes.renice_all",
        "makes the worker wait behind others",
        APART,
        FILTER,
        reached_its_goal=lambda seen: seen.worker_nice_increase > 0,
    ),
    calling(
        "processes.raise_limits",
        "asks for more than its hard limits",
        "hard limits",
        reached_its_goal=more_than(256),
    ),
    calling(
        "processes.queue_signals",
        "has the kernel keep signals",
        "limit of signals",
        reached_its_goal=more_than(256),
    ),
    calling("processes.trace", "traces other processes", unshown=USERS_APART),
    calling("processes.read_environments", "reads the environments of others", unshown=USERS_APART),
    calling("processes.read_memories", "reads the memory of others", unshown=USERS_APART),
    calling("processes.walk_through_roots", "walks through the roots of others", unshown=USERS_APART),
    calling("processes.open_other_descriptors", "reopens the descriptors of others", unshown=USERS_APART),
    calling(
        "processes.take_all_cores",
        "runs on other cores than its own",
        FILTER,
        reached_its_goal=lambda seen: seen.result is not None,
    ),
    calling(
        "processes.free_the_first", "raises the limits of the first process", "limits of the first process"
    ),
    computing("computes", *SPIN),
    computing("computes in children", *first("think_in_children")),
    computing("computes in bursts", *first("think_in_bursts")),
    computing("has a helper wake it", *first("be_woken"), *SPIN),
    computing("has a chain of helpers wake it", *first("be_woken_by_a_chain"), *SPIN, level=Level.A),
]
