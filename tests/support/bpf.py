"""Interprets a BPF program: the verdict of a system call filter on a call."""

from __future__ import annotations

import struct
from collections.abc import Sequence

INSTRUCTION = struct.Struct("=HBBI")
CALL = struct.Struct("<iIQ6Q")
"""``struct seccomp_data``: number, architecture, instruction pointer, six arguments."""


def judge(program: bytes, number: int, architecture: int, arguments: Sequence[int] = ()) -> int:
    """The value that the program returns for a call."""
    signed = struct.unpack("<i", struct.pack("<I", number & 0xFFFFFFFF))[0]
    given = (*arguments, *[0] * 6)[:6]
    data = CALL.pack(signed, architecture, 0, *(argument & 0xFFFFFFFFFFFFFFFF for argument in given))
    steps = list(INSTRUCTION.iter_unpack(program))
    word = at = 0
    while True:
        code, then, otherwise, operand = steps[at]
        at += 1
        if code == 0x20:
            word = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x06:
            return int(operand)
        else:
            jumps = {0x15: word == operand, 0x35: word >= operand, 0x45: bool(word & operand)}[code]
            at += then if jumps else otherwise
