"""On system calls, on the environment, and on the user's terminal."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, brought_home, more_than

FILTER = ("system call filter",)
NAMESPACES = ("system call filter", "no namespaces within")

ATTACKS = [
    Attack("makes every call of the list", at_move("kernel.ask_for_every_call"), brought_home, FILTER),
    Attack(
        "makes calls with every argument of the list",
        at_move("kernel.ask_with_every_argument"),
        brought_home,
        FILTER,
    ),
    Attack(
        "asks for what is said to be done",
        at_move("kernel.ask_what_is_pretended"),
        brought_home,
        FILTER,
    ),
    Attack("asks for all kinds of networks", at_move("kernel.ask_for_families"), brought_home, FILTER),
    Attack("has its sockets filtered", at_move("kernel.filter_a_socket"), brought_home, FILTER),
    Attack("has its own calls filtered", at_move("kernel.filter_its_calls"), brought_home, FILTER),
    Attack("uses up the terminals", at_move("kernel.open_terminals"), brought_home, ("no terminals",)),
    Attack(
        "asks to be spared when memory runs out",
        at_move("kernel.be_spared"),
        brought_home,
        ("read-only /proc",),
    ),
    Attack(
        "has its crashes told to a program of the machine",
        at_move("kernel.have_its_crashes_told"),
        brought_home,
        FILTER,
    ),
    Attack("asks for odd protocols", at_move("kernel.ask_for_protocols"), brought_home, FILTER),
    Attack("sets timers without end", at_move("kernel.set_timers"), more_than(256), ("limit of signals",)),
    Attack("turns the kernel's knobs", at_move("kernel.turn_knobs"), brought_home, ("read-only /proc",)),
    Attack("makes a namespace", at_move("kernel.make_a_namespace"), brought_home, NAMESPACES),
    Attack("starts a process in a namespace", at_move("kernel.clone_a_namespace"), brought_home, NAMESPACES),
    Attack(
        "hides a namespace from the filter",
        at_move("kernel.clone_a_namespace_anew"),
        brought_home,
        NAMESPACES,
    ),
    Attack("mounts over the system", at_move("kernel.mount_over"), brought_home, NAMESPACES),
    Attack("makes calls by a younger table", at_move("kernel.call_as_x32"), brought_home, FILTER),
    Attack("makes calls by an older table", at_move("kernel.call_as_i386"), brought_home, FILTER),
    Attack("widens its pipes", at_move("kernel.widen_pipes"), brought_home, FILTER),
    Attack(
        "has message queues kept",
        at_move("kernel.use_message_queues"),
        brought_home,
        ("limit of message queues",),
    ),
    Attack("locks memory", at_move("kernel.lock_memory"), brought_home, ("limit of locked memory",)),
    Attack(
        "reads what its sandbox was started with",
        at_move("kernel.read_the_first_environment"),
        brought_home,
        ("environment of bwrap",),
    ),
    Attack(
        "reads the worker's environment in its own",
        at_move("kernel.read_its_environment"),
        brought_home,
        ("environment of bwrap", "empty environment"),
    ),
    Attack(
        "asks the machine for its name",
        at_move("files.know_its_name"),
        lambda seen: seen.loot not in (None, "engine"),
        ("namespace of names",),
    ),
    Attack(
        "writes and types on the user's terminal",
        at_move("kernel.use_the_terminal"),
        lambda seen: "typed" in seen.terminal,
        ("session of bwrap", "session of the worker", "system call filter"),
    ),
]
