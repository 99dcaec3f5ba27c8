"""The assembler of system call filters."""

from __future__ import annotations

import pytest

from tests.support.bpf import judge
from workers.sandbox.filter.bpf import (
    JUMP_ANY_BIT,
    JUMP_AT_LEAST,
    JUMP_EQUAL,
    MAX_INSTRUCTIONS,
    Branch,
    Label,
    Line,
    ProgramError,
    assemble,
    load,
    return_value,
)


def chosen(code: int, operand: int, number: int) -> int:
    """1 where the jump is taken, else 2."""
    lines: list[Line] = [
        load(0),
        Branch(code, operand, then="yes"),
        return_value(2),
        Label("yes"),
        return_value(1),
    ]
    return judge(assemble(lines), number, 0)


@pytest.mark.parametrize(
    ("code", "operand", "taken", "not_taken"),
    [
        (JUMP_EQUAL, 7, [7], [6, 8]),
        (JUMP_AT_LEAST, 7, [7, 8, 0xFFFFFFFF], [0, 6]),
        (JUMP_ANY_BIT, 6, [2, 4, 6, 7], [0, 1, 8]),
    ],
)
def test_each_jump_tests_its_own_condition(
    code: int, operand: int, taken: list[int], not_taken: list[int]
) -> None:
    assert {chosen(code, operand, number) for number in taken} == {1}
    assert {chosen(code, operand, number) for number in not_taken} == {2}


def test_instructions_are_laid_out_as_the_kernel_reads_them() -> None:
    lines: list[Line] = [
        Branch(JUMP_EQUAL, 0x01020304, otherwise="end"),
        return_value(1),
        Label("end"),
        return_value(2),
    ]
    program = assemble(lines)
    assert program[:8] == bytes.fromhex("1500 00 01 04030201")
    assert program[8:] == bytes.fromhex("0600 00 00 01000000 0600 00 00 02000000")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "does not end with a return"),
        ([load(0)], "does not end with a return"),
        ([Label("a"), Label("a"), return_value(0)], "'a' is defined twice"),
        ([Branch(JUMP_EQUAL, 0, then="b"), return_value(0)], "no label 'b'"),
        ([Label("a"), Branch(JUMP_EQUAL, 0, then="a"), return_value(0)], "is -1 instructions ahead"),
        (
            [Branch(JUMP_EQUAL, 0, then="far"), *[load(0)] * 256, Label("far"), return_value(0)],
            "is 256 instructions",
        ),
        ([*[load(0)] * MAX_INSTRUCTIONS, return_value(0)], "are more than"),
    ],
)
def test_a_program_that_the_kernel_would_refuse_is_refused(lines: list[Line], complaint: str) -> None:
    with pytest.raises(ProgramError, match=complaint):
        assemble(lines)


def test_a_label_as_far_away_as_a_byte_reaches_is_reached() -> None:
    far = Branch(JUMP_EQUAL, 0, then="far")
    lines: list[Line] = [load(0), far, *[return_value(1)] * 255, Label("far"), return_value(2)]
    assert judge(assemble(lines), 0, 0) == 2
