"""MCTS: its proofs are true, and it keeps to its limits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from engines.bots import mcts_bot, tree
from engines.bots.candidates import GUIDES, Candidates, Guide, guide_of
from engines.bots.mcts_bot import MEMORY
from engines.protocol import Info
from engines.rules.base import Position, Result, Side
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.engines.bots.test_alphabeta_bot import REPEATED, REPEATING
from tests.engines.bots.test_bots import ask, best_move, converse, infos, some_positions

BOT = "mcts_bot"
SOURCE = Path(mcts_bot.__file__)


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    MEMORY.forget()


def last_info(code: str, position: str, go: str) -> Info:
    return infos(ask(BOT, code, position, go))[-1]


def mate_of(code: str, position: str, go: str) -> int | None:
    score = last_info(code, position, go).score
    assert score is not None
    return score.mate


@pytest.mark.parametrize("code", GAMES)
def test_exactly_the_node_limit_is_searched(code: str) -> None:
    *_, position = some_positions(code, seed=2, plies=13)
    for nodes in (1, 2, 77):
        info = last_info(code, f"fen {position}", f"go nodes {nodes}")
        decided = info.score is not None and info.score.mate is not None
        assert info.nodes == nodes or (decided and (info.nodes or 0) < nodes)


@pytest.mark.parametrize("code", GAMES)
def test_a_depth_alone_is_a_search_that_ends(code: str) -> None:
    *_, position = some_positions(code, seed=6, plies=13)
    info = last_info(code, f"fen {position}", "go depth 1")
    assert info.depth == 1
    assert (info.nodes or 0) <= mcts_bot.NODES_A_PLY


def test_the_clock_is_spared_where_there_is_one_move_only() -> None:
    forced = f"fen {REPEATED}"
    assert best_move(ask(BOT, "dogon-kulei", forced, "go p1time 60000 p2time 60000")) == "pass"
    assert last_info("dogon-kulei", forced, "go p1time 60000 p2time 60000").nodes == 1
    assert last_info("dogon-kulei", forced, "go nodes 2").nodes == 2


def test_a_full_tree_grows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcts_bot, "MAX_SIZE", 100)
    assert last_info("duploline", "startpos", "go nodes 300").nodes == 300
    assert MEMORY.root is not None
    assert mcts_bot.size_of(MEMORY.root) < 200


def play_itself(code: str, plies: int, seed: int) -> list[str]:
    """A game in one process, so that trees are kept from move to move."""
    MEMORY.forget()
    history = History(GAMES[code])
    while len(history.moves) < plies and not history.outcome.decided:
        moves = " ".join(["moves", *history.moves]) if history.moves else ""
        setup = [f"setoption name UGI_Variant value {code}", f"setoption name UGI_Seed value {seed}"]
        history.play(best_move(converse(BOT, [*setup, f"position startpos {moves}", "go nodes 40"])))
    return history.moves


@pytest.mark.parametrize("code", GAMES)
def test_with_nodes_and_a_seed_whole_games_can_be_repeated(code: str) -> None:
    assert play_itself(code, plies=8, seed=5) == play_itself(code, plies=8, seed=5)


def test_another_seed_gives_another_game() -> None:
    assert len({tuple(play_itself("dualma", plies=3, seed=seed)) for seed in range(4)}) > 1


def test_the_tree_is_kept_for_the_next_move_of_the_game() -> None:
    first = last_info("dogon-gagara", "startpos", "go nodes 1000")
    grown = MEMORY.root
    assert grown is not None
    position = f"startpos moves {' '.join(first.pv[:2])}"
    later = last_info("dogon-gagara", position, "go nodes 1")
    assert MEMORY.root is not None
    assert MEMORY.root is not grown
    assert MEMORY.root.visits > 10
    assert (later.depth or 0) > 1


def test_a_tree_grown_before_a_repetition_came_near_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one reply that is looked at leads to the repetition."""

    def candidates(position: Position) -> Candidates:
        return ["e2-" if position.is_legal("e2-") else next(position.legal_moves())], False

    guide = Guide(candidates, lambda position: None)
    monkeypatch.setitem(GUIDES, "dogon-kulei", guide)
    monkeypatch.setattr(tree, "WIDENING", 0)
    *way, last = REPEATING.split()
    told = last_info("dogon-kulei", f"fen {REPEATED} moves {' '.join(way)}", "go nodes 4")
    assert told.pv[:2] == (last, "e2-")
    later = last_info("dogon-kulei", f"fen {REPEATED} moves {REPEATING} e2-", "go nodes 1")
    assert later.depth == 1
    assert MEMORY.root is None


def test_a_tree_of_another_position_is_not_used() -> None:
    ask(BOT, "dogon-kulei", "startpos", "go nodes 300")
    ask(BOT, "dogon-kulei", "fen 5,5,0,4,5,5/5,5,4,0,5,5 w 0 0 - - 8", "go nodes 1")
    assert MEMORY.root is not None
    assert MEMORY.root.visits == 2


def test_the_score_is_the_chance_to_win_by_its_logarithm() -> None:
    """Far ahead in the store, with the percentage beside it."""
    position = "fen 2,1,3,0,1,2/2,1,0,3,1,1 w 22 9 - - 40"
    info = last_info("dogon-kulei", position, "go nodes 10")
    assert info.score is not None
    assert info.score.centipawns is not None
    match = re.fullmatch(r"([\d.]+)% to win", info.string or "")
    assert match is not None
    chance = float(match[1]) / 100
    assert chance > 0.7
    scale = GAMES["dogon-kulei"].score_scale
    assert info.score.centipawns == pytest.approx(scale * math.log(chance / (1 - chance)), abs=scale / 25)


def test_the_ply_limit_is_seen_coming() -> None:
    """One ply before the limit White, behind in the store but not at home, takes a win by counting."""
    position = f"fen 0,1,0,0,0,0/0,0,12,12,0,0 w 11 12 - - {GAMES['dogon-kulei'].ply_limit - 2}"
    assert mate_of("dogon-kulei", position, "go nodes 400") == 2


def test_a_repetition_is_seen_coming(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle gone through twice but for its last move, which ends the game: it is the only one looked at."""
    guide = Guide(lambda position: (["e2-"], False), lambda position: None)
    monkeypatch.setitem(GUIDES, "dogon-kulei", guide)
    once, twice = f"moves {REPEATING}", f"moves {REPEATING} e2- {REPEATING}"
    assert mate_of("dogon-kulei", f"fen {REPEATED} {once}", "go nodes 2") is None
    MEMORY.forget()
    assert mate_of("dogon-kulei", f"fen {REPEATED} {twice}", "go nodes 2") == 1


# What is proven, against a search of everything


def is_forced(position: Position, winner: Side, plies: int) -> bool:
    """Whether ``winner`` can force his win within so many plies."""
    outcome = position.outcome()
    if outcome.decided or plies == 0:
        return outcome.result is Result.win_for(winner)
    wins = (is_forced(position.play(token), winner, plies - 1) for token in position.legal_moves())
    return any(wins) if position.side is winner else all(wins)


def endings(code: str, seeds: Sequence[int], before: int) -> list[Position]:
    """Positions a few plies before the end of random games."""
    return [list(some_positions(code, seed, plies=400))[-before] for seed in seeds]


def first_only(guide: Guide) -> Guide:
    """A guide that takes the first of the moves for the only one worth looking at."""

    def candidates(position: Position) -> Candidates:
        return guide.candidates(position)[0][:1], False

    return Guide(candidates, guide.winning_move)


@pytest.mark.slow
@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("code", ["duovallis", "dogon-kulei"])
def test_mates_announced_are_mates_however_few_moves_were_looked_at_first(
    code: str, guided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if guided:
        monkeypatch.setitem(GUIDES, code, first_only(guide_of(code)))
        monkeypatch.setattr(tree, "WIDENING", 0)
    announced = 0
    for position in endings(code, range(12), before=3):
        MEMORY.forget()
        mate = mate_of(code, f"fen {position}", "go nodes 3000")
        if mate is None or abs(mate) > 7:
            continue
        announced += 1
        winner = position.side if mate > 0 else position.side.other
        assert is_forced(position, winner, abs(mate)), (position, mate)
    assert announced >= 2
