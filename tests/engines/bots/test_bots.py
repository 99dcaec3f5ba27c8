"""The sample bots over the protocol, in this process or as processes of their own."""

from __future__ import annotations

import importlib
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

import engines
from engines.bots import SAMPLE_BOTS, SampleBot
from engines.bots.candidates import GUIDES
from engines.bots.evaluation import EVALUATIONS
from engines.bots.mcts_bot import SCALES
from engines.protocol import Info, parse_engine_line
from engines.rules.base import Position, Result
from engines.rules.history import History
from engines.rules.registry import GAMES, find_game
from engines.sdk import BotTurn, Session

ALL_BOTS = [*SAMPLE_BOTS, SampleBot("mcts_bot", "MCTS", "", tuple(GAMES))]
BOTS = [bot.module for bot in ALL_BOTS]
ROOT = Path(engines.__file__).parents[1]
DEADLINE_SECONDS = 120


def chooser(module: str) -> Callable[[BotTurn], str]:
    choose: Callable[[BotTurn], str] = importlib.import_module(f"engines.bots.{module}").choose
    return choose


def converse(module: str, lines: Sequence[str]) -> list[str]:
    """What a bot answers to these lines, given to it in this process; the input ends when all is answered."""
    said: list[str] = []
    answers = threading.Semaphore(0)

    def say(line: str) -> None:
        said.append(line)
        if line.startswith("bestmove"):
            answers.release()

    def feed() -> Iterator[str]:
        yield from lines
        for line in lines:
            if line.startswith("go"):
                assert answers.acquire(timeout=DEADLINE_SECONDS)

    Session(chooser(module), module, "", list(GAMES.values()), (), None, say).serve(feed())
    return said


def ask(module: str, code: str, position: str, go: str = "go nodes 60", seed: int = 1) -> list[str]:
    setup = [
        f"setoption name UGI_Variant value {code}",
        f"setoption name UGI_Seed value {seed}",
        "uginewgame",
    ]
    return converse(module, [*setup, f"position {position}", go])


def best_move(said: Sequence[str]) -> str:
    return said[-1].removeprefix("bestmove ")


def infos(said: Sequence[str]) -> list[Info]:
    return [message for line in said if isinstance(message := parse_engine_line(line), Info)]


def some_positions(code: str, seed: int, plies: int) -> Iterator[Position]:
    """A random game, a position a ply, none of them over."""
    chance = random.Random(seed)
    history = History(find_game(code))
    while not history.outcome.decided and len(history.moves) < plies:
        yield history.position
        history.play(chance.choice(list(history.position.legal_moves())))


def test_every_sample_bot_is_a_file_of_this_package_that_plays_known_games() -> None:
    assert [bot.name for bot in SAMPLE_BOTS] == ["Random", "Greedy", "Alphabeta"]
    for bot in SAMPLE_BOTS:
        assert bot.path.is_file()
        assert set(bot.games) == set(GAMES)


def test_naming_the_sample_bots_does_not_import_them() -> None:
    code = "import sys, engines.bots; sys.exit(any('_bot' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("bot", ALL_BOTS, ids=BOTS)
def test_a_bot_imports_shared_modules_and_no_other_bot(bot: SampleBot) -> None:
    imported = re.findall(r"^from (engines[.\w]*) import", bot.path.read_text(), re.MULTILINE)
    assert imported
    assert not any(name.endswith("_bot") for name in imported)
    assert all(name.startswith(("engines.sdk", "engines.rules.", "engines.bots.")) for name in imported)


@pytest.mark.parametrize("module", BOTS)
@pytest.mark.parametrize("code", GAMES)
def test_a_bot_plays_legal_moves(module: str, code: str) -> None:
    for position in list(some_positions(code, seed=3, plies=30))[::6]:
        said = ask(module, code, f"fen {position}")
        assert position.is_legal(best_move(said)), said


@pytest.mark.parametrize("module", BOTS)
def test_a_bot_plays_a_game_for_which_it_has_neither_evaluation_nor_guide(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for known in (EVALUATIONS, GUIDES, SCALES):
        monkeypatch.delitem(known, "dualma")
    position = list(some_positions("dualma", seed=3, plies=30))[-1]
    said = ask(module, "dualma", f"fen {position}")
    assert position.is_legal(best_move(said)), said


@pytest.mark.parametrize("bot", ALL_BOTS, ids=BOTS)
def test_a_bot_runs_as_a_loose_file_far_from_the_package(bot: SampleBot, tmp_path: Path) -> None:
    shutil.copy(bot.path, tmp_path / "main.py")
    lines = ["ugi", "setoption name UGI_Variant value dualma", "isready", "position startpos", "go nodes 20"]
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=True,
    )
    said = done.stdout.splitlines()
    assert f"id name {bot.name}" in said
    assert "readyok" in said
    assert GAMES["dualma"].position.initial().is_legal(best_move(said))


@pytest.mark.parametrize(
    ("module", "go"), [*((module, "go nodes 60") for module in BOTS), ("alphabeta_bot", "go depth 3")]
)
@pytest.mark.parametrize("code", GAMES)
def test_the_same_seed_gives_the_same_search(module: str, code: str, go: str) -> None:
    *_, position = some_positions(code, seed=8, plies=14)
    first, again = (ask(module, code, f"fen {position}", go, seed=5) for _ in range(2))
    assert best_move(first) == best_move(again)
    assert [(told.depth, told.score, told.nodes, told.pv) for told in infos(first)] == [
        (told.depth, told.score, told.nodes, told.pv) for told in infos(again)
    ]


def test_another_seed_gives_another_game() -> None:
    moves = {best_move(ask("random_bot", "dogon-gagara", "startpos", seed=seed)) for seed in range(12)}
    assert len(moves) > 3


def winning_positions(code: str) -> Iterator[tuple[Position, set[str]]]:
    """Positions of random games in which some, but not all, moves win at once."""
    for seed in range(200):
        for position in some_positions(code, seed, plies=200):
            if position.ply < 6 or (code == "dualma" and position.ply < 12):
                continue
            moves = list(position.legal_moves())
            win = Result.win_for(position.side)
            wins = {token for token in moves if position.play(token).outcome().result is win}
            if wins and len(wins) < len(moves):
                yield position, wins
                break


@pytest.mark.parametrize(
    ("module", "go"), [("greedy_bot", "depth 2"), ("alphabeta_bot", "depth 3"), ("mcts_bot", "nodes 200")]
)
@pytest.mark.parametrize("code", GAMES)
def test_a_win_in_one_is_found_and_announced_as_a_mate_by_those_that_search(
    module: str, go: str, code: str
) -> None:
    for position, wins in islice(winning_positions(code), 3):
        said = ask(module, code, f"fen {position}", f"go {go}")
        assert best_move(said) in wins, position
        if module != "greedy_bot":
            told = [info for info in infos(said) if info.score is not None][-1]
            assert told.score is not None
            assert (told.score.mate, told.pv) == (1, (best_move(said),))


@pytest.mark.parametrize(
    ("module", "go"), [("alphabeta_bot", "go nodes 150"), ("mcts_bot", "go nodes 100 depth 3")]
)
@pytest.mark.parametrize("code", GAMES)
def test_every_line_announced_can_be_played_and_is_no_deeper_than_its_depth(
    module: str, go: str, code: str
) -> None:
    for position in list(some_positions(code, seed=4, plies=28))[::9]:
        for info in infos(ask(module, code, f"fen {position}", go)):
            if info.score is None:
                continue  # the count of nodes at the end
            after = position
            for token in info.pv:
                after = after.play(token)
            assert 1 <= len(info.pv) <= (info.depth or 0)
            assert "depth 3" not in go or (info.depth or 0) <= 3


@pytest.mark.parametrize("go", ["go nodes 1", "go nodes 0", "go depth 0", "go depth -1", "go movetime 0"])
def test_next_to_no_search_is_enough_for_a_legal_move(go: str) -> None:
    for code, game in GAMES.items():
        said = ask("alphabeta_bot", code, "startpos", go)
        assert game.position.initial().is_legal(best_move(said))


@pytest.mark.parametrize("code", GAMES)
def test_an_endless_search_obeys_stop(code: str) -> None:
    variant = f"setoption name UGI_Variant value {code}"
    said = converse("alphabeta_bot", [variant, "position startpos", "go", "stop"])
    assert GAMES[code].position.initial().is_legal(best_move(said))


@pytest.mark.parametrize(
    ("go", "ms"),
    [
        ("go movetime 30", 30),
        ("go p1time 500 p2time 500 p1inc 0 p2inc 0", 20),
        ("go p1time 500 p2time 500 p1inc 20 p2inc 20", 35),
        ("go p1time 1 p2time 1 p1inc 20 p2inc 20", 20),
        ("go p1time 60000 p2time 60000 p1inc 0 p2inc 0 movetime 30", 30),
        ("go p1time 60000 p2time 60000 p1inc 0 p2inc 0 nodes 5", 100),
    ],
)
@pytest.mark.parametrize("module", BOTS)
@pytest.mark.usefixtures("processor_clock")
def test_every_time_control_is_kept_ten_times_over(module: str, go: str, ms: int) -> None:
    for code in GAMES:
        position = list(some_positions(code, seed=9, plies=10))[-1]
        told = infos(ask(module, code, f"fen {position}", go))
        assert all((info.time_ms or 0) < 10 * ms for info in told), code
