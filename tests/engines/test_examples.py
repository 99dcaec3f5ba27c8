"""The examples of the rules pages: each kind of move, capture and ending has one, and all of it is true."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from engines.examples import Example, format_examples, load_examples
from engines.rules import GAMES, History, Reason, Variant
from engines.svg.sowings import trace_sowing
from tests.literal import LITERAL
from tests.literal.match import LiteralMatch

DOGON = """
    anticlockwise clockwise black laps reach single after-a-pass turning-limit no-limit
    capture-two capture-three four-are-safe chain gap clockwise-chain own-row everything
    pass seeds cannot-pay repetition ply-limit
"""
KINDS = {
    "duovallis": """
        white-path black-path colours choice back-row-first front-row another-lap exactly-half neutral-lap
        majority empty-neutral start-included endless
        capture capture-front black-captures no-stones corner own-stones only-own-stones exchange supply
        refilled
        no-move no-move-either only-endless repetition ply-limit
    """,
    "dualma": """
        placement last-placement one-cell onto-own onto-other two-cells jump full-stack landing bounce
        bounce-back no-bounce pass
        three-in-a-row slanting-row four-in-a-row repetition ply-limit
    """,
    "dogon-kulei": DOGON,
    "dogon-gagara": DOGON,
    "duploline": """
        first-turns add move-disc move-ring order locked connection connection-each-action replacement
        second-replaced no-replacement one-action supply
        four-discs second-action-wins four-rings board-full full-and-won no-action ply-limit
    """,
}
"""By ladder: moves, then captures, then endings, as the rules list them; Dogon's rare pass after captures."""

MATCH_RULES = {Reason.REPETITION, Reason.PLY_LIMIT}
ENDINGS = {
    "duovallis": {Reason.NO_MOVE, *MATCH_RULES},
    "dualma": {Reason.THREE_IN_A_ROW, *MATCH_RULES},
    "dogon-kulei": {Reason.SEEDS, Reason.CANNOT_PAY, *MATCH_RULES},
    "dogon-gagara": {Reason.SEEDS, Reason.CANNOT_PAY, *MATCH_RULES},
    # every action adds a piece or locks two, so no position of DuploLine occurs twice
    "duploline": {
        *(Reason.FOUR_DISCS, Reason.FOUR_RINGS, Reason.BOARD_FULL, Reason.NO_ACTION),
        Reason.PLY_LIMIT,
    },
}

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)


def all_examples() -> Iterator[object]:
    for code, game in GAMES.items():
        for example in load_examples(code):
            yield pytest.param(game, example, id=f"{code} {example.name}")


every_example = pytest.mark.parametrize(("game", "example"), list(all_examples()))


@every_game
def test_every_kind_of_move_capture_and_ending_has_an_example(game: Variant) -> None:
    assert [example.name for example in load_examples(game.code)] == KINDS[game.code].split()


@every_game
def test_every_reason_for_which_a_game_ends_has_an_example(game: Variant) -> None:
    shown = {example.result.partition(" ")[2] for example in load_examples(game.code)} - {""}
    assert shown == ENDINGS[game.code]


def test_every_reason_is_one_of_a_game() -> None:
    assert set.union(*ENDINGS.values()) == set(Reason) - {Reason.NONE}


@every_example
def test_an_example_is_played_alike_by_both_implementations(game: Variant, example: Example) -> None:
    history = History(game, game.position.parse(example.position))
    literal = LiteralMatch(LITERAL[game.code].parse(example.position), game.ply_limit)
    for token in example.moves:
        assert token in literal.position.legal()
        assert not history.outcome.decided, "no move follows the end"
        history.play(token)
        literal.play(token)
    assert str(history.position) == literal.position.text() == example.after
    ended = literal.outcome()
    result = f"{history.outcome.result} {history.outcome.reason}" if history.outcome.decided else ""
    assert result == ("" if ended is None else f"{ended[0]} {ended[1]}") == example.result
    assert [str(position) for position in example.play(game)][-1] == example.after


@every_example
def test_what_an_example_calls_illegal_is_illegal_in_place_of_its_last_move(
    game: Variant, example: Example
) -> None:
    positions = example.play(game)
    before = positions[-2] if example.moves else positions[0]
    literal = LITERAL[game.code].parse(str(before))
    for token in example.refused:
        assert not before.is_legal(token)
        assert token not in literal.legal()


@every_example
def test_an_example_captures_the_holes_it_names(game: Variant, example: Example) -> None:
    captured: tuple[str, ...] = ()
    if example.moves:
        *_, before, after = example.play(game)
        sowing = trace_sowing(before, after, example.moves[-1])
        captured = sowing.captured if sowing else ()
    assert sorted(captured) == sorted(example.captured)
    assert all(hole in example.caption for hole in captured) or len(captured) > 5


@every_example
def test_an_example_has_a_name_for_addresses_and_a_caption_of_whole_sentences(
    game: Variant, example: Example
) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", example.name)
    assert example.caption.endswith(".")
    assert example.caption[0].isupper() or example.caption[:2] in game.position.initial().board()


@every_game
def test_the_steps_of_the_minute_are_sentences_and_end_with_the_end_of_the_game(game: Variant) -> None:
    steps = [example for example in load_examples(game.code) if example.minute]
    assert all(step.minute[0].isupper() and step.minute.endswith(".") for step in steps)
    assert [bool(step.result) for step in steps] == [False, False, False, False, False, True]


@every_game
def test_the_examples_in_words_name_every_position_and_move(game: Variant) -> None:
    text = format_examples(game.code)
    for example in load_examples(game.code):
        assert f"### {example.title}\n" in text
        assert f"`{example.position}`" in text
        assert not example.moves or f"`{' '.join(example.moves)}`" in text


def test_a_ladder_without_a_file_has_no_examples() -> None:
    assert load_examples("chess") == ()
