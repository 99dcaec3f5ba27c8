"""Each sentence of the rules with its examples: a table for each ladder, in `tests/data/rules`.

Below a sentence stand positions, and below a position what is asked of it: ``moves`` is answered by the legal
moves or their number, ``result`` by the outcome, a token by the position after it or by ``!`` and why it is
illegal.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.rules import GAMES, IllegalMove, Position
from tests.literal import LITERAL
from tests.support.agreement import as_literal, result_in_words

FOLDER = Path(__file__).parents[2] / "data" / "rules"


def sentences() -> Iterator[object]:
    for path in sorted(FOLDER.iterdir()):
        for block in path.read_text(encoding="utf-8").removeprefix("# ").split("\n\n# "):
            sentence, *lines = block.rstrip("\n").split("\n")
            yield pytest.param(path.stem, lines, id=f"{path.stem}: {sentence}")


@pytest.mark.parametrize(("code", "lines"), list(sentences()))
def test_the_rules_say_that(code: str, lines: list[str]) -> None:
    position = GAMES[code].position.initial()
    for line in lines:
        if not line.startswith("  "):
            position = GAMES[code].position.parse(line)
            continue
        asked, _, answer = line[2:].partition(" => ")
        if asked == "moves":
            moves = sorted(position.legal_moves())
            assert answer in (" ".join(moves), str(len(set(moves)))), position
        elif asked == "result":
            assert result_in_words(as_literal(position.outcome())) == answer, position
        elif answer.startswith("! "):
            assert_illegal(position, asked, answer[2:])
        else:
            assert position.is_legal(asked)
            assert str(position.play(asked)) == answer, (position, asked)
            assert LITERAL[code].parse(str(position)).play(asked).text() == answer


def assert_illegal(position: Position, token: str, why: str) -> None:
    """Every method refuses the token."""
    assert not position.is_legal(token)
    assert token not in set(position.legal_moves())
    with pytest.raises(IllegalMove) as refused:
        position.play(token)
    assert (refused.value.token, refused.value.position) == (token, position)
    assert repr(token) in str(refused.value)
    assert str(refused.value).endswith(f" in position {str(position)!r}: {why}")


def test_every_ladder_has_a_table() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(GAMES)
