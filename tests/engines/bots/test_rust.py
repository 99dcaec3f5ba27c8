"""The bot in Rust, held to what the other bots in ``languages/`` are. Skipped without a Rust compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.bots import test_languages as others
from tests.engines.bots.test_languages import Bot, Start, build, start  # noqa: F401

pytestmark = pytest.mark.slow

RUST = Bot("duovallis.rs", "rustc", ("duovallis",))
(LADDER,) = RUST.games
SHARED: list[Callable[[Bot, str, Start], None]] = [
    others.test_its_rules_count_the_same_moves_and_lead_to_the_same_positions,
    others.test_it_beats_a_player_who_moves_at_random,
    others.test_the_node_limit_is_not_exceeded,
    others.test_an_endless_search_answers_isready_and_obeys_stop,
]


def test_it_introduces_itself_with_its_manifest(start: Start, build: Path) -> None:  # noqa: F811
    others.test_the_manifest_on_top_of_a_bot_is_one_and_names_its_ladders(RUST, build)
    others.test_a_bot_introduces_itself_and_declares_its_ladders(RUST, start)


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__.removeprefix("test_"))
def test_it_does_what_the_other_bots_do(test: Callable[[Bot, str, Start], None], start: Start) -> None:  # noqa: F811
    test(RUST, LADDER, start)


def test_its_perft_number_is_the_known_one(start: Start) -> None:  # noqa: F811
    assert start(RUST, LADDER).ask("position startpos", "perft 8") == "85637"


def test_its_games_have_no_fault(build: Path) -> None:  # noqa: F811
    others.test_games_against_random_are_played_without_a_fault(RUST, LADDER, build)


def test_it_knows_when_a_game_is_over_and_ends_when_told(start: Start) -> None:  # noqa: F811
    others.test_there_is_no_move_in_a_game_that_is_over(RUST, start)
    others.test_a_bot_ends_with_quit_and_with_its_input(RUST, start)


def test_sowings_that_never_end_are_no_moves(start: Start) -> None:  # noqa: F811
    over = "2b,0,0,0,0,0/0,1w,0,1b,0,1w/1w,0,0,0,0,1w1b/0,1b,2w,0,1b,0 w 0 0 0"
    assert start(RUST, LADDER).ask(f"position fen {over}", "go movetime 500") == "bestmove none"
