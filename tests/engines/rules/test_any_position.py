"""Any valid position, reachable or not: the rules against `tests/literal`, and general properties."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from engines.rules import Reason, find_game
from tests.literal import LITERAL
from tests.support.agreement import assert_same_refusal
from tests.support.positions import DRAW

EDITS = "0123456789,/ wbpDdRr+-"


def drawn(*codes: str) -> st.SearchStrategy[tuple[str, str]]:
    """One of these ladders' codes, of all by default, and a position string of it."""
    seeds = st.integers(0, 2**32)
    return st.sampled_from(codes or tuple(DRAW)).flatmap(
        lambda code: st.tuples(st.just(code), seeds.map(lambda seed: DRAW[code](random.Random(seed))))
    )


@given(drawn(), st.data())
def test_both_implementations_agree_on_damaged_position_strings(
    position: tuple[str, str], data: st.DataObject
) -> None:
    code, text = position
    places = st.integers(0, len(text) - 1)
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(places) % len(text)
        text = text[:place] + data.draw(st.sampled_from(["", *EDITS])) + text[place + 1 :]
    assert_same_refusal(find_game(code).position, LITERAL[code], text)


# What holds in any position


@given(drawn())
def test_the_game_is_over_exactly_when_there_is_no_move(position_string: tuple[str, str]) -> None:
    code, text = position_string
    position = find_game(code).position.parse(text)
    assert position.outcome().decided == (position.count_moves() == 0) == (not list(position.legal_moves()))


@given(drawn("dogon-kulei", "dogon-gagara"))
def test_no_seed_of_dogon_is_ever_lost(position_string: tuple[str, str]) -> None:
    code, text = position_string
    position = find_game(code).position.parse(text)
    seeds = 48 if code == "dogon-kulei" else 96
    for token in position.legal_moves():
        after = position.play(token)
        _, _, white, black, *_ = str(after).split(" ")
        assert sum(map(int, (white, black, *after.board().values()))) == seeds
    for outcome in (position.outcome(), position.outcome_by_match_rule(Reason.PLY_LIMIT)):
        if outcome.decided:
            assert (outcome.white_score or 0) + (outcome.black_score or 0) == seeds


@given(drawn("duovallis"))
def test_white_plus_3_black_and_3_white_plus_black_never_grow(position_string: tuple[str, str]) -> None:
    _, text = position_string
    position = find_game("duovallis").position.parse(text)
    for token in position.legal_moves():
        for after, before in zip(weights(str(position.play(token))), weights(text), strict=True):
            assert after <= before


def weights(text: str) -> tuple[int, int]:
    """White + 3·black and 3·white + black, kept stones counted."""
    board, _, black_before_white, white_before_black, _ = text.split(" ")
    white = sum(map(int, re.findall("([0-9]+)w", board))) + int(white_before_black)
    black = sum(map(int, re.findall("([0-9]+)b", board))) + int(black_before_white)
    return white + 3 * black, 3 * white + black


@given(drawn("duovallis"))
def test_duovallis_is_the_same_game_for_black_on_the_board_turned_round(
    position_string: tuple[str, str],
) -> None:
    _, text = position_string
    parse = find_game("duovallis").position.parse
    position, turned = parse(text), parse(turn_round(text))
    assert {turn_name(name) for name in position.legal_moves()} == set(turned.legal_moves())
    for name in position.legal_moves():
        after = turned.play(turn_name(name))
        assert parse(turn_round(str(position.play(name)))).key() == after.key()


def turn_name(name: str) -> str:
    return chr(ord("a") + ord("f") - ord(name[0])) + str(5 - int(name[1]))


def turn_round(text: str) -> str:
    """The same position seen by the other player, with the colours changed, at the first ply there is."""
    board, side, white_kept, black_kept, ply = text.split(" ")
    swapped = re.sub("([0-9]+w)?([0-9]+b)?", lambda hole: swap_colours(hole[1], hole[2]), board)
    rows = "/".join(",".join(rank.split(",")[::-1]) for rank in swapped.split("/")[::-1])
    return f"{rows} {'b' if side == 'w' else 'w'} {black_kept} {white_kept} {1 - int(ply) % 2}"


def swap_colours(white: str | None, black: str | None) -> str:
    return (black or "").replace("b", "w") + (white or "").replace("w", "b")


@given(drawn("dualma"))
def test_in_dualma_both_players_are_never_stuck(position_string: tuple[str, str]) -> None:
    _, text = position_string
    position = find_game("dualma").position.parse(text)
    if position.is_legal("pass"):
        assert not position.play("pass").is_legal("pass")
