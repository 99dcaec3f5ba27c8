"""An assembler for the part of classic BPF that a system call filter needs.

A program is a sequence of instructions and labels. Jumps name labels and lead forward, as the kernel
requires. Source: ``Documentation/networking/filter.rst`` of the Linux kernel.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

LOAD_WORD = 0x20
"""``BPF_LD | BPF_W | BPF_ABS``: the 32-bit word at this offset."""
RETURN = 0x06
"""``BPF_RET | BPF_K``."""
JUMP_EQUAL = 0x15
"""``BPF_JMP | BPF_JEQ | BPF_K``; the next two are ``BPF_JGE`` and ``BPF_JSET``."""
JUMP_AT_LEAST = 0x35
JUMP_ANY_BIT = 0x45

MAX_INSTRUCTIONS = 4096
MAX_JUMP = 255
INSTRUCTION = struct.Struct("=HBBI")
"""``struct sock_filter``: code, jump if true, jump if false, operand; in the machine's byte order."""


class ProgramError(ValueError):
    """A program that the kernel would refuse."""


@dataclass(frozen=True, slots=True)
class Label:
    """A jump target: the instruction after it."""

    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction without a jump."""

    code: int
    operand: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A jump that depends on the word loaded last; an empty label means the next instruction."""

    code: int
    operand: int
    then: str = ""
    otherwise: str = ""


Line = Label | Step | Branch


def load(offset: int) -> Step:
    return Step(LOAD_WORD, offset)


def return_value(value: int) -> Step:
    """End the program and return this value."""
    return Step(RETURN, value)


def assemble(lines: Sequence[Line]) -> bytes:
    """The program's bytes, in the form for ``seccomp(2)`` and bwrap.

    Raises ``ProgramError`` for an unknown or repeated label, a jump backwards or too far, an end without a
    return, and a program that is too long.
    """
    places: dict[str, int] = {}
    steps: list[Step | Branch] = []
    for line in lines:
        if isinstance(line, Label):
            if line.name in places:
                raise ProgramError(f"the label {line.name!r} is defined twice")
            places[line.name] = len(steps)
        else:
            steps.append(line)
    if not steps or steps[-1].code != RETURN:
        raise ProgramError("the program does not end with a return")
    if len(steps) > MAX_INSTRUCTIONS:
        raise ProgramError(f"{len(steps)} instructions are more than {MAX_INSTRUCTIONS}")
    return b"".join(_assembled(step, at, places) for at, step in enumerate(steps))


def _assembled(step: Step | Branch, at: int, places: dict[str, int]) -> bytes:
    if isinstance(step, Step):
        return INSTRUCTION.pack(step.code, 0, 0, step.operand)
    then, otherwise = (_distance(name, at, places) for name in (step.then, step.otherwise))
    return INSTRUCTION.pack(step.code, then, otherwise, step.operand)


def _distance(name: str, at: int, places: dict[str, int]) -> int:
    """How many instructions the jump at ``at`` skips."""
    if not name:
        return 0
    if name not in places:
        raise ProgramError(f"there is no label {name!r}")
    distance = places[name] - at - 1
    if not 0 <= distance <= MAX_JUMP:
        raise ProgramError(f"the label {name!r} is {distance} instructions ahead, not 0 to {MAX_JUMP}")
    return distance
