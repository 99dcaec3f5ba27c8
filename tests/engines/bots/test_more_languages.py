"""The bots in Go, Java and Rust, held to what the other bots in ``languages/`` are.

Each is skipped where its compiler is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.bots import test_languages as others
from tests.engines.bots.test_languages import Bot, Start, build, start  # noqa: F401

pytestmark = pytest.mark.slow

BOTS = (
    Bot("dogon.go", "go", ("dogon-kulei", "dogon-gagara")),
    Bot("Duovallis.java", "javac", ("duovallis",)),
    Bot("duovallis.rs", "rustc", ("duovallis",)),
)
LADDERS = [pytest.param(bot, code, id=f"{bot.source}-{code}") for bot in BOTS for code in bot.games]
SHARED: list[Callable[[Bot, str, Start], None]] = [
    others.test_its_rules_count_the_same_moves_and_lead_to_the_same_positions,
    others.test_it_beats_a_player_who_moves_at_random,
    others.test_the_node_limit_is_not_exceeded,
    others.test_an_endless_search_answers_isready_and_obeys_stop,
    others.test_the_first_search_of_a_process_needs_little_more_than_later_ones,
]
KNOWN = {"dogon-kulei": (5, 37434), "dogon-gagara": (4, 23570), "duovallis": (8, 85637)}
ENDLESS = "2b,0,0,0,0,0/0,1w,0,1b,0,1w/1w,0,0,0,0,1w1b/0,1b,2w,0,1b,0 w 0 0 0"


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.source)
def test_it_introduces_itself_with_its_manifest(bot: Bot, start: Start, build: Path) -> None:  # noqa: F811
    others.test_the_manifest_on_top_of_a_bot_is_one_and_names_its_ladders(bot, build)
    others.test_a_bot_introduces_itself_and_declares_its_ladders(bot, start)


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__.removeprefix("test_"))
@pytest.mark.parametrize(("bot", "code"), LADDERS)
def test_it_does_what_the_other_bots_do(
    bot: Bot,
    code: str,
    test: Callable[[Bot, str, Start], None],
    start: Start,  # noqa: F811
) -> None:
    test(bot, code, start)


@pytest.mark.parametrize(("bot", "code"), LADDERS)
def test_its_perft_number_is_the_known_one(bot: Bot, code: str, start: Start) -> None:  # noqa: F811
    depth, count = KNOWN[code]
    assert start(bot, code).ask("position startpos", f"perft {depth}") == str(count)


@pytest.mark.parametrize(("bot", "code"), LADDERS)
def test_its_games_have_no_fault(bot: Bot, code: str, build: Path) -> None:  # noqa: F811
    others.test_games_against_random_are_played_without_a_fault(bot, code, build)


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.source)
def test_it_knows_when_a_game_is_over_and_ends_when_told(bot: Bot, start: Start) -> None:  # noqa: F811
    others.test_there_is_no_move_in_a_game_that_is_over(bot, start)
    others.test_a_bot_ends_with_quit_and_with_its_input(bot, start)


@pytest.mark.parametrize("bot", BOTS[1:], ids=lambda bot: bot.source)
def test_sowings_that_never_end_are_no_moves(bot: Bot, start: Start) -> None:  # noqa: F811
    assert start(bot, "duovallis").ask(f"position fen {ENDLESS}", "go movetime 500") == "bestmove none"
