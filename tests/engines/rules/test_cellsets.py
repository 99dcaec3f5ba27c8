"""Sets of cells as machine words, against the same functions cell by cell."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.rules.cellsets import (
    BOARD,
    FULL,
    count_steps,
    has_line,
    joined,
    leavers,
    may_leave,
    next_to,
    parting,
)
from engines.rules.hexagon import cells_of

anywhere = st.sets(st.sampled_from(BOARD.cells))
seeds = st.integers(0, 10**9)


def as_set(cells: set[int]) -> int:
    return sum(1 << cell for cell in cells)


def named(names: str) -> int:
    return as_set({BOARD.numbers[name] for name in names.split()})


def neighbours(cell: int) -> set[int]:
    return set(cells_of(BOARD.around[cell]))


def reached_from(cell: int, within: set[int]) -> set[int]:
    found, border = {cell}, [cell]
    while border:
        new = neighbours(border.pop()) & within - found
        found |= new
        border += new
    return found


def is_one_group(cells: set[int]) -> bool:
    return not cells or reached_from(min(cells), cells) == cells


def grown_group(seed: int) -> set[int]:
    """A connected group of any size, thin or fat."""
    rng = random.Random(seed)
    group = [rng.choice(BOARD.cells)]
    fatness = rng.random()
    for _ in range(rng.randrange(60)):
        border = [near for cell in group for near in neighbours(cell) if near not in group]
        thin = [cell for cell in border if len(neighbours(cell) & set(group)) == 1]
        if border:
            group.append(rng.choice(border if rng.random() < fatness or not thin else thin))
    return set(group)


@given(anywhere, anywhere)
def test_steps_are_counted_from_each_cell_of_one_set_to_each_neighbour_in_the_other(
    origins: set[int], targets: set[int]
) -> None:
    targets -= origins
    steps = sum(len(neighbours(origin) & targets) for origin in origins)
    assert count_steps(as_set(origins), as_set(targets)) == steps


def test_the_most_steps_there_can_be_are_counted_without_a_carry() -> None:
    origins = {cell for row in BOARD.rows[::2] for cell in row}
    targets = set(BOARD.cells) - origins
    assert count_steps(as_set(origins), as_set(targets)) == sum(
        len(neighbours(origin) & targets) for origin in origins
    )


@given(anywhere)
def test_the_cells_next_to_a_set_have_a_neighbour_in_it(cells: set[int]) -> None:
    assert next_to(as_set(cells)) == as_set({cell for cell in BOARD.cells if neighbours(cell) & cells})


@given(anywhere, anywhere)
def test_a_set_is_joined_within_another_when_one_group_holds_it(goal: set[int], others: set[int]) -> None:
    within = goal | others
    assert joined(as_set(goal), as_set(within)) == (not goal or goal <= reached_from(min(goal), within))


@given(seeds)
def test_a_cell_may_leave_a_group_that_stays_one_group_without_it(seed: int) -> None:
    group = grown_group(seed)
    free = {cell for cell in group if is_one_group(group - {cell})}
    assert leavers(as_set(group), as_set(group)) == as_set(free)
    assert all(may_leave(1 << cell, as_set(group)) == (cell in free) for cell in group)


def test_leavers_are_only_among_the_given_cells() -> None:
    assert leavers(named("c3 d3"), named("c3 d3 e3")) == named("c3")
    assert leavers(0, FULL) == 0


@given(anywhere)
def test_members_in_more_than_one_row_around_a_cell_part_it(cells: set[int]) -> None:
    parted = {
        cell for cell in BOARD.cells if not is_one_group(neighbours(cell) & cells)
    }  # round a cell, neighbours stand in one row exactly when they are one group
    assert parting(as_set(cells)) == as_set(parted)


@given(anywhere)
def test_four_consecutive_cells_are_a_line(cells: set[int]) -> None:
    whole = as_set(cells)
    assert has_line(whole) == any(row & whole == row for row in BOARD.lines(4))


@pytest.mark.parametrize("row", BOARD.lines(4))
def test_every_row_of_four_is_a_line_and_none_of_three_is(row: int) -> None:
    assert has_line(row)
    assert not any(has_line(row ^ 1 << cell) for cell in cells_of(row))
