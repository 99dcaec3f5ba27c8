"""An assembler for classic BPF, as far as a system call filter needs it.

A program is a sequence of instructions and labels; jumps name labels and lead forward, as
the kernel demands. Source: ``Documentation/networking/filter.rst`` of the Linux kernel.
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
"""``BPF_JMP | BPF_JEQ | BPF_K``, and the like."""
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
    """A place to jump to: the instruction after it."""

    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction without a jump."""

    code: int
    operand: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A jump on the word loaded last; an empty label is the next instruction."""

    code: int
    operand: int
    then: str = ""
    otherwise: str = ""


Line = Label | Step | Branch


def load(offset: int) -> Step:
    return Step(LOAD_WORD, offset)


def give_back(value: int) -> Step:
    """End the program with this value."""
    return Step(RETURN, value)


def assemble(lines: Sequence[Line]) -> bytes:
    """The program's bytes, as ``seccomp(2)`` and bwrap take them.

    Raises ``ProgramError`` for a label that is not ahead within reach, an end without a
    return, and a program that is too long.
    """
    places: dict[str, int] = {}
    steps: list[Step | Branch] = []
    for line in lines:
        if isinstance(line, Label):
            if line.name in places:
                raise ProgramError(f"the label {line.name!r} stands twice")
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
    """How many instructions to skip from the one at ``at``."""
    if not name:
        return 0
    if name not in places:
        raise ProgramError(f"there is no label {name!r}")
    distance = places[name] - at - 1
    if not 0 <= distance <= MAX_JUMP:
        raise ProgramError(f"the label {name!r} is {distance} instructions ahead, not 0 to {MAX_JUMP}")
    return distance
