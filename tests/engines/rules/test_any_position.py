"""Any valid position, reachable or not: the rules against `tests/literal`, and general properties."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.rules import Reason, find_game
from tests.literal import LITERAL
from tests.support.agreement import assert_same, assert_same_refusal, assert_same_verdict, misspelled
from tests.support.valid_positions import VALID, any_valid_position

every_ladder = pytest.mark.parametrize("code", VALID)
patient = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
PLIES = 3
"""How deep a position is played on."""
EDITS = "0123456789,/ wbpDdRr+-"
TRIED = 3
"""Legal tokens that are misspelled in each position."""


@every_ladder
@patient
@given(data=st.data())
def test_both_implementations_agree_on_any_valid_position_and_the_moves_after_it(
    code: str, data: st.DataObject
) -> None:
    text = data.draw(VALID[code])
    fast, slow = find_game(code).position.parse(text), LITERAL[code].parse(text)
    for _ in range(PLIES):
        tokens = assert_same(fast, slow)
        rng = data.draw(st.randoms(use_true_random=False))
        for token in misspelled(rng.sample(tokens, min(TRIED, len(tokens))) or ["pass"], rng):
            assert_same_verdict(fast, token, tokens)
        if not tokens:
            return
        token = data.draw(st.sampled_from(tokens))
        fast, slow = fast.play(token), slow.play(token)
    assert_same(fast, slow)


@given(any_valid_position(*VALID), st.data())
def test_both_implementations_agree_on_damaged_position_strings(
    drawn: tuple[str, str], data: st.DataObject
) -> None:
    code, text = drawn
    places = st.integers(0, len(text) - 1)
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(places) % len(text)
        text = text[:place] + data.draw(st.sampled_from(["", *EDITS])) + text[place + 1 :]
    assert_same_refusal(find_game(code).position, LITERAL[code], text)


# What holds in any position


@given(any_valid_position(*VALID))
def test_the_game_is_over_exactly_when_there_is_no_move(drawn: tuple[str, str]) -> None:
    code, text = drawn
    position = find_game(code).position.parse(text)
    assert position.outcome().decided == (position.count_moves() == 0) == (not list(position.legal_moves()))


@given(
    st.sampled_from(["dogon-kulei", "dogon-gagara"]).flatmap(
        lambda code: st.tuples(st.just(code), VALID[code])
    )
)
def test_no_seed_of_dogon_is_ever_lost(drawn: tuple[str, str]) -> None:
    code, text = drawn
    position = find_game(code).position.parse(text)
    seeds = 48 if code == "dogon-kulei" else 96
    for token in position.legal_moves():
        after = position.play(token)
        _, _, white, black, *_ = str(after).split(" ")
        assert sum(map(int, (white, black, *after.board().values()))) == seeds
    for outcome in (position.outcome(), position.outcome_by_match_rule(Reason.PLY_LIMIT)):
        if outcome.decided:
            assert (outcome.white_score or 0) + (outcome.black_score or 0) == seeds


@given(VALID["duovallis"])
def test_white_plus_3_black_and_3_white_plus_black_never_grow(text: str) -> None:
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


@given(VALID["duovallis"])
def test_duovallis_is_the_same_game_for_black_on_the_board_turned_round(text: str) -> None:
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


@given(VALID["dualma"])
@patient
def test_in_dualma_both_players_are_never_stuck(text: str) -> None:
    position = find_game("dualma").position.parse(text)
    if position.is_legal("pass"):
        assert not position.play("pass").is_legal("pass")
