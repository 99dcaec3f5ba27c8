from __future__ import annotations

import pytest

from engines.rules import GAMES, Reason, Side, UnknownGame, Variant, find_game
from engines.rules.registry import ENDINGS, family_credits, picture


def test_the_ladders_are_listed_in_their_order() -> None:
    assert list(GAMES) == ["duovallis", "dualma", "dogon-kulei", "dogon-gagara", "duploline"]


def test_a_game_is_found_by_its_code() -> None:
    assert [find_game(code).code for code in GAMES] == list(GAMES)


@pytest.mark.parametrize("code", ["", "dogon", "Duovallis", "duovallis ", "chess"])
def test_an_unknown_game_is_refused_with_the_known_ones(code: str) -> None:
    with pytest.raises(UnknownGame) as refusal:
        find_game(code)
    assert repr(code) in str(refusal.value)
    assert all(known in str(refusal.value) for known in GAMES)


def test_black_starts_in_dualma_alone() -> None:
    assert [code for code, game in GAMES.items() if game.first is Side.BLACK] == ["dualma"]


def test_the_default_ply_limits_are_the_published_ones() -> None:
    assert [game.ply_limit for game in GAMES.values()] == [500, 400, 500, 700, 200]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_rules_page_has_its_parts(game: Variant) -> None:
    assert game.rules.startswith("# ")
    assert "**[reading]**" in game.rules
    assert game.credit.split(",")[0] in game.rules
    assert str(game.position.initial()) in game.rules or game.code == "dogon-gagara"
    assert str(game.ply_limit) in game.rules


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_rules_page_defines_repetition_and_the_order_of_endings(game: Variant) -> None:
    page = " ".join(game.rules.split())
    assert "the position before the first move counts" in page
    assert "first by its own rules, then by repetition, then by the ply limit" in page


def test_every_reason_has_a_clause_for_readers() -> None:
    assert set(ENDINGS) == set(Reason) - {Reason.NONE}
    assert all(clause and not clause.endswith(".") for clause in ENDINGS.values())


def test_the_picture_is_a_position_that_is_still_played() -> None:
    position = picture()
    assert position.ply > 0
    assert not position.outcome().decided


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_score_has_a_unit(game: Variant) -> None:
    """Only games with scores have a unit."""
    outcome = game.position.initial().outcome_by_match_rule(Reason.PLY_LIMIT)
    assert (outcome.white_score is not None) == bool(game.score_unit)


def test_every_family_has_one_credit() -> None:
    inventors = family_credits()
    assert all(inventors[game.family] == game.credit for game in GAMES.values())
