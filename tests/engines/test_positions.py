"""The hard positions: two implementations agree on the counts, and every broken rule changes one of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.positions import FOLDER, HardPosition, read_hard_positions
from engines.rules import GAMES, Variant, perft
from tests.engines.rules.test_against_literal import literal_perft
from tests.literal import LITERAL
from tests.literal.base import LiteralGame
from tests.support.agreement import as_literal, result_in_words
from tests.support.mutations import MUTATIONS, Mutation, break_rule

MAX_COUNTED = {"duploline": 6000}
"""The largest count that the literal rules check in a quick test; their moves are slow to find."""
MAX_VISITED = 3000
"""The most positions visited for such a count."""
FAST_VISITED = 5000
"""The same for the rules themselves."""

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)


def counts(row: HardPosition) -> Iterator[tuple[int, int, int]]:
    """Each depth with its count and the number of positions to visit for it."""
    for depth, (visited, count) in enumerate(zip((1, *row.counts), row.counts, strict=False), start=1):
        yield depth, count, visited


def is_quick(code: str, count: int, visited: int) -> bool:
    """Whether the literal rules count so many sequences, visiting so many positions, in a second or two."""
    return visited <= MAX_VISITED and count <= MAX_COUNTED.get(code, count)


# The table


@every_game
def test_every_game_has_positions_and_each_counts_to_depth_three_where_that_is_feasible(
    game: Variant,
) -> None:
    rows = read_hard_positions(game.code)
    assert rows[0].counts
    assert len(rows) >= 8
    assert str(game.position.initial()) in {row.position for row in rows}
    for row in rows:
        assert len(row.counts) >= 3 or row.counts[-1] > 10_000, row


@every_game
def test_a_line_is_read_and_written_the_same(game: Variant) -> None:
    text = (FOLDER / f"{game.code}.txt").read_text(encoding="ascii")
    assert "".join(f"{row}\n" for row in read_hard_positions(game.code)) == text
    positions = [row.position for row in read_hard_positions(game.code)]
    assert len(set(positions)) == len(positions)


@every_game
def test_the_rules_count_as_the_table_says(game: Variant) -> None:
    for row in read_hard_positions(game.code):
        position = game.position.parse(row.position)
        assert result_in_words(as_literal(position.outcome())) == row.result
        for depth, count, visited in counts(row):
            if visited <= FAST_VISITED:
                assert perft(position, depth) == count, (row.position, depth)


@pytest.mark.thorough
@every_game
def test_the_rules_count_all_depths_as_the_table_says(game: Variant) -> None:
    for row in read_hard_positions(game.code):
        position = game.position.parse(row.position)
        assert [perft(position, depth) for depth, _, _ in counts(row)] == list(row.counts), row.position


@pytest.mark.slow
@every_game
def test_the_literal_rules_count_as_the_table_says(game: Variant) -> None:
    for row in read_hard_positions(game.code):
        position = LITERAL[game.code].parse(row.position)
        assert result_in_words(position.outcome()) == row.result
        for depth, count, visited in counts(row):
            if is_quick(game.code, count, visited):
                assert literal_perft(position, depth) == count, (row.position, depth)


def test_a_ladder_without_a_file_has_no_positions() -> None:
    assert read_hard_positions("chess") == ()


# Broken rules


def all_mutations() -> Iterator[object]:
    for code, mutations in MUTATIONS.items():
        for mutation in mutations:
            yield pytest.param(code, mutation, id=f"{code}: {mutation.belief}")


@pytest.mark.slow
@pytest.mark.parametrize(("code", "mutation"), list(all_mutations()))
def test_a_program_that_gets_a_rule_wrong_fails_the_table(code: str, mutation: Mutation) -> None:
    assert found_depth(code, break_rule(code, mutation), mutation.depth) is not None


@every_game
def test_the_table_finds_nothing_wrong_with_the_rules_themselves(game: Variant) -> None:
    assert found_depth(game.code, LITERAL[game.code], 2) is None


def test_a_rule_shows_at_depth_three_unless_it_concerns_what_an_earlier_move_left() -> None:
    deep = {
        mutation.belief for mutations in MUTATIONS.values() for mutation in mutations if mutation.depth > 3
    }
    assert deep == {
        "the first sowing of a run is a change",
        "own stones in a captured hole count for the exchange",
        "a capture exchanges once",
        "the remainder of an exchange is lost",
    }


def test_every_game_has_every_rule_broken_once() -> None:
    assert MUTATIONS.keys() == GAMES.keys()
    for mutations in MUTATIONS.values():
        beliefs = [mutation.belief for mutation in mutations]
        assert len(set(beliefs)) == len(beliefs) > 50


def found_depth(code: str, literal: type[LiteralGame], deepest: int) -> int | None:
    """The least depth at which a row of the table differs, 0 for a result; None if none does."""
    rows = read_hard_positions(code)
    if any(is_wrong(row.position, row.result, literal) for row in rows):
        return 0
    for depth in range(1, deepest + 1):
        for row in rows:
            for at, count, visited in counts(row):
                wanted = at == depth and is_quick(code, count, visited)
                if wanted and differs(literal, row.position, depth, count):
                    return depth
    return None


def is_wrong(position: str, result: str, literal: type[LiteralGame]) -> bool:
    return result_in_words(literal.parse(position).outcome()) != result


def differs(literal: type[LiteralGame], position: str, depth: int, count: int) -> bool:
    """A broken game that fails with an exception differs as well."""
    try:
        return literal_perft(literal.parse(position), depth) != count
    except (AssertionError, KeyError, ValueError, IndexError, RecursionError):
        return True
