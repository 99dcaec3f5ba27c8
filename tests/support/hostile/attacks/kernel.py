"""Attacks with system calls, on the environment, and on the user's terminal."""

from __future__ import annotations

from tests.support.hostile.attack import FILTER, calling, more_than

NAMESPACES = (FILTER, "no namespaces within")
SESSIONS = ("session of bwrap", "session of the worker", FILTER)

ATTACKS = [
    calling("kernel.ask_for_every_call", "makes every call of the list", FILTER),
    calling("kernel.ask_with_every_argument", "makes calls with every argument of the list", FILTER),
    calling("kernel.ask_for_pretended_calls", "makes calls whose success is only pretended", FILTER),
    calling("kernel.ask_for_families", "asks for all kinds of networks", FILTER),
    calling("kernel.filter_a_socket", "has its sockets filtered", FILTER),
    calling("kernel.filter_its_calls", "has its own calls filtered", FILTER),
    calling("kernel.open_terminals", "uses up the terminals", "no terminals"),
    calling("kernel.be_spared", "asks to be spared when memory runs out", "read-only /proc"),
    calling("kernel.set_core_limit", "has its crashes reported to a program of the machine", FILTER),
    calling("kernel.ask_for_protocols", "asks for odd protocols", FILTER),
    calling(
        "kernel.set_timers", "sets timers without end", "limit of signals", reached_its_goal=more_than(256)
    ),
    calling("kernel.change_settings", "changes the kernel's settings", "read-only /proc"),
    calling("kernel.make_a_namespace", "makes a namespace", *NAMESPACES),
    calling("kernel.clone_a_namespace", "starts a process in a namespace", *NAMESPACES),
    calling("kernel.clone_a_namespace_anew", "hides a namespace from the filter", *NAMESPACES),
    calling("kernel.mount_over", "mounts over the system", *NAMESPACES),
    calling("kernel.call_as_x32", "makes calls of the x32 table", FILTER),
    calling("kernel.call_as_i386", "makes calls of the i386 table", FILTER),
    calling("kernel.widen_pipes", "widens its pipes", FILTER),
    calling("kernel.use_message_queues", "has message queues kept", "limit of message queues"),
    calling("kernel.lock_memory", "locks memory", "limit of locked memory"),
    calling(
        "kernel.read_the_first_environment", "reads what its sandbox was started with", "environment of bwrap"
    ),
    calling(
        "kernel.read_its_environment",
        "reads the worker's environment in its own",
        "environment of bwrap",
        "empty environment",
    ),
    calling(
        "files.know_its_name",
        "asks the machine for its name",
        "namespace of names",
        reached_its_goal=lambda seen: seen.result not in (None, "engine"),
    ),
    calling(
        "kernel.use_the_terminal",
        "writes and types on the user's terminal",
        *SESSIONS,
        reached_its_goal=lambda seen: "typed" in seen.terminal,
    ),
]
