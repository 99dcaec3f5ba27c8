"""Attacks with system calls, on the environment, and on the user's terminal."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, more_than, returned_something

FILTER = ("system call filter",)
NAMESPACES = ("system call filter", "no namespaces within")

ATTACKS = [
    Attack("makes every call of the list", at_move("kernel.ask_for_every_call"), returned_something, FILTER),
    Attack(
        "makes calls with every argument of the list",
        at_move("kernel.ask_with_every_argument"),
        returned_something,
        FILTER,
    ),
    Attack(
        "makes calls whose success is only pretended",
        at_move("kernel.ask_for_pretended_calls"),
        returned_something,
        FILTER,
    ),
    Attack("asks for all kinds of networks", at_move("kernel.ask_for_families"), returned_something, FILTER),
    Attack("has its sockets filtered", at_move("kernel.filter_a_socket"), returned_something, FILTER),
    Attack("has its own calls filtered", at_move("kernel.filter_its_calls"), returned_something, FILTER),
    Attack("uses up the terminals", at_move("kernel.open_terminals"), returned_something, ("no terminals",)),
    Attack(
        "asks to be spared when memory runs out",
        at_move("kernel.be_spared"),
        returned_something,
        ("read-only /proc",),
    ),
    Attack(
        "has its crashes reported to a program of the machine",
        at_move("kernel.set_core_limit"),
        returned_something,
        FILTER,
    ),
    Attack("asks for odd protocols", at_move("kernel.ask_for_protocols"), returned_something, FILTER),
    Attack("sets timers without end", at_move("kernel.set_timers"), more_than(256), ("limit of signals",)),
    Attack(
        "changes the kernel's settings",
        at_move("kernel.change_settings"),
        returned_something,
        ("read-only /proc",),
    ),
    Attack("makes a namespace", at_move("kernel.make_a_namespace"), returned_something, NAMESPACES),
    Attack(
        "starts a process in a namespace", at_move("kernel.clone_a_namespace"), returned_something, NAMESPACES
    ),
    Attack(
        "hides a namespace from the filter",
        at_move("kernel.clone_a_namespace_anew"),
        returned_something,
        NAMESPACES,
    ),
    Attack("mounts over the system", at_move("kernel.mount_over"), returned_something, NAMESPACES),
    Attack("makes calls of the x32 table", at_move("kernel.call_as_x32"), returned_something, FILTER),
    Attack("makes calls of the i386 table", at_move("kernel.call_as_i386"), returned_something, FILTER),
    Attack("widens its pipes", at_move("kernel.widen_pipes"), returned_something, FILTER),
    Attack(
        "has message queues kept",
        at_move("kernel.use_message_queues"),
        returned_something,
        ("limit of message queues",),
    ),
    Attack("locks memory", at_move("kernel.lock_memory"), returned_something, ("limit of locked memory",)),
    Attack(
        "reads what its sandbox was started with",
        at_move("kernel.read_the_first_environment"),
        returned_something,
        ("environment of bwrap",),
    ),
    Attack(
        "reads the worker's environment in its own",
        at_move("kernel.read_its_environment"),
        returned_something,
        ("environment of bwrap", "empty environment"),
    ),
    Attack(
        "asks the machine for its name",
        at_move("files.know_its_name"),
        lambda seen: seen.result not in (None, "engine"),
        ("namespace of names",),
    ),
    Attack(
        "writes and types on the user's terminal",
        at_move("kernel.use_the_terminal"),
        lambda seen: "typed" in seen.terminal,
        ("session of bwrap", "session of the worker", "system call filter"),
    ),
]
