"""Attacks with processes: too many, outliving the game, and on the processes of others."""

from __future__ import annotations

from tests.support.hostile.attack import USERS_APART, Attack, at_move, more_than, returned_something
from tests.support.hostile.observation import Observation
from workers.sandbox.levels import Level

OURS = 16
"""Processes of the trial beside those of the attack: both engines with their sandboxes."""

BUSY = ("go:1", "burn", "0.5")
"""An opponent that thinks for a while."""


def computed(seen: Observation) -> bool:
    """Whether it used processor time while its opponent was thinking."""
    return seen.second_move_cpu_seconds > 0.15


ATTACKS = [
    Attack(
        "starts processes without end",
        at_move("processes.fork_bomb"),
        lambda seen: seen.most_processes > 64 + OURS or (seen.result or 0) > 64,
        ("limit of processes",),
    ),
    Attack(
        "starts programs without end",
        at_move("processes.program_bomb"),
        lambda seen: seen.most_processes > 64 + OURS or (seen.result or 0) > 64,
        ("limit of processes",),
    ),
    Attack(
        "starts threads without end",
        at_move("processes.thread_bomb"),
        more_than(64),
        ("limit of processes",),
    ),
    Attack(
        "leaves an orphan in a new session",
        at_move("processes.orphan"),
        lambda seen: seen.survivors > 0,
        ("namespace of processes",),
    ),
    Attack(
        "leaves an orphan that changes its name",
        at_move("processes.disguise"),
        lambda seen: seen.survivors > 0,
        ("namespace of processes",),
    ),
    Attack(
        "kills every process it may",
        at_move("processes.kill_all"),
        lambda seen: "ended with 137" in seen.evidence or seen.fault == "black",
        ("namespace of processes",),
    ),
    Attack(
        "sets limits on the worker",
        at_move("processes.limit_others"),
        lambda seen: seen.worker_limit == 4321,
        ("namespace of processes",),
    ),
    Attack(
        "makes the worker wait behind others",
        at_move("processes.renice_all"),
        lambda seen: seen.worker_nice_increase > 0,
        ("namespace of processes", "system call filter"),
    ),
    Attack(
        "asks for more than its hard limits",
        at_move("processes.raise_limits"),
        more_than(256),
        ("hard limits",),
    ),
    Attack(
        "has the kernel keep signals",
        at_move("processes.queue_signals"),
        more_than(256),
        ("limit of signals",),
    ),
    Attack(
        "traces other processes",
        at_move("processes.trace"),
        returned_something,
        unshown=USERS_APART,
    ),
    Attack(
        "reads the environments of others",
        at_move("processes.read_environments"),
        returned_something,
        unshown=USERS_APART,
    ),
    Attack(
        "reads the memory of others",
        at_move("processes.read_memories"),
        returned_something,
        unshown=USERS_APART,
    ),
    Attack(
        "walks through the roots of others",
        at_move("processes.walk_through_roots"),
        returned_something,
        unshown=USERS_APART,
    ),
    Attack(
        "reopens the descriptors of others",
        at_move("processes.open_other_descriptors"),
        returned_something,
        unshown=USERS_APART,
    ),
    Attack(
        "runs on other cores than its own",
        at_move("processes.take_all_cores"),
        lambda seen: seen.result is not None,
        ("system call filter",),
    ),
    Attack(
        "raises the limits of the first process",
        at_move("processes.free_the_first"),
        returned_something,
        ("limits of the first process",),
    ),
    Attack(
        "computes while its opponent thinks",
        ("isready", "spin", "-"),
        computed,
        ("rest",),
        opponent=BUSY,
    ),
    Attack(
        "computes in children while its opponent thinks",
        ("isready", "attack", "processes.think_in_children {facts}"),
        computed,
        ("rest",),
        opponent=BUSY,
    ),
    Attack(
        "computes in bursts while its opponent thinks",
        ("isready", "attack", "processes.think_in_bursts {facts}"),
        computed,
        ("rest",),
        opponent=BUSY,
    ),
    Attack(
        "has a helper wake it while its opponent thinks",
        ("isready", "attack", "processes.be_woken {facts}", "isready", "spin", "-"),
        computed,
        ("rest",),
        opponent=BUSY,
    ),
    Attack(
        "has a chain of helpers wake it while its opponent thinks",
        ("isready", "attack", "processes.be_woken_by_a_chain {facts}", "isready", "spin", "-"),
        computed,
        ("rest",),
        Level.A,
        opponent=BUSY,
    ),
]
