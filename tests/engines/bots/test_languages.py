"""The bots in other languages, as processes: their rules against ours, and games under the referee.

Each is built as the comment on its top says; what it is built or run with must be there.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import engines
from engines.bundles.manifest import check_command, parse_manifest
from engines.protocol import Info, parse_engine_line
from engines.rules.base import Position, Result
from engines.rules.history import History
from engines.rules.perft import perft
from engines.rules.registry import GAMES, find_game
from tests.support.needs import OPTIONAL_TOOLS, TOOLS, need
from tests.support.positions import DRAW
from workers.jobs import EngineSpec, GameJob, GameReport, JobGame
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext

pytestmark = pytest.mark.slow

FOLDER = Path(engines.__file__).parent / "bots" / "languages"
COMPILED = {
    ".c": ["-O2", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"],
    ".go": ["build", "-o"],
    ".java": ["--release", "11", "-Xlint:all", "-Werror", "-d"],
    ".rs": ["-O", "-D", "warnings", "-o"],
}
"""The options of the compiler up to the output, by the suffix of a source."""
OPENING_PLIES = 12
"""All that DuAlma places, and a move more."""


@dataclass(frozen=True)
class Bot:
    """A bot of ``languages/``; ``tool`` is what it cannot do without."""

    source: str
    tool: str
    games: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    def command(self, build: Path) -> tuple[str, ...]:
        tool = need(self.tool) if self.tool in TOOLS | OPTIONAL_TOOLS else self.tool
        source = FOLDER / self.source
        flags = COMPILED.get(source.suffix)
        if flags is None:
            return (tool, str(source))
        program = build / f"{source.stem}{source.suffix}.d" / source.stem
        if not program.parent.exists():
            program.parent.mkdir()
            environment = {**os.environ, "CGO_ENABLED": "0", "GOCACHE": str(build / "cache")}
            output = program.parent if source.suffix == ".java" else program
            subprocess.run([tool, *flags, output, source], check=True, env=environment)
        if source.suffix == ".java":
            return (shutil.which("java") or "java", "-cp", str(program.parent), program.name)
        return (str(program),)


C = Bot("dogon.c", "cc", ("dogon-kulei", "dogon-gagara"))
JAVASCRIPT = Bot("hexagons.js", "node", ("dualma", "duploline"))
SHELL = Bot("moves.sh", "sh", tuple(GAMES), (("Python", sys.executable),))
BOTS = (C, JAVASCRIPT, SHELL)

LADDERS = [pytest.param(bot, code, id=f"{bot.source}-{code}") for bot in BOTS for code in bot.games]
THINKING = [
    pytest.param(bot, code, id=f"{bot.source}-{code}") for bot in (C, JAVASCRIPT) for code in bot.games
]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("languages")


@dataclass
class Conversation:
    """A bot's process; one that says nothing for half a minute is ended."""

    process: subprocess.Popen[str]

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def hear(self) -> str:
        assert self.process.stdout is not None
        watchdog = threading.Timer(30, self.process.kill)
        watchdog.start()
        try:
            return self.process.stdout.readline().rstrip("\n")
        finally:
            watchdog.cancel()

    def hear_until(self, word: str) -> list[str]:
        """The lines up to the one that begins with ``word``, that one included."""
        heard: list[str] = []
        while not heard or not heard[-1].startswith(word):
            heard.append(self.hear())
            assert heard[-1], f"{word} expected after {heard}"
        return heard

    def ask(self, *lines: str) -> str:
        """What it answers in one line."""
        self.say(*lines)
        return self.hear()


Start = Callable[[Bot, str], Conversation]


@pytest.fixture
def start(build: Path) -> Iterator[Start]:
    """Starts a bot and sets it to a ladder; all that were started are ended."""
    processes: list[subprocess.Popen[str]] = []

    def start_bot(bot: Bot, code: str) -> Conversation:
        command = bot.command(build)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=FOLDER.parents[2]
        )
        processes.append(process)
        conversation = Conversation(process)
        options = (("UGI_Variant", code), *bot.options)
        conversation.say(*(f"setoption name {name} value {value}" for name, value in options))
        return conversation

    yield start_bot
    for process in processes:
        process.kill()
        process.communicate()


def best_move(heard: Sequence[str]) -> str:
    return heard[-1].removeprefix("bestmove ")


def random_moves(code: str, seed: int, plies: int) -> tuple[str, ...]:
    """The first moves of a random game that is not over after them."""
    chance = random.Random(seed)
    history = History(find_game(code))
    while len(history.moves) < plies:
        history.play(chance.choice(list(history.position.legal_moves())))
        if history.outcome.decided:
            history = History(find_game(code))
    return tuple(history.moves)


def positions(code: str, count: int) -> Iterator[Position]:
    """Of random games and out of the blue, also such as are over."""
    position_type = find_game(code).position
    rng = random.Random(count)
    yield position_type.initial()
    for number in range(count):
        yield position_type.parse(DRAW[code](rng))
        position = position_type.initial()
        for token in random_moves(code, number, number % 20):
            position = position.play(token)
        yield position


# What they say of themselves


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.source)
def test_the_manifest_on_top_of_a_bot_is_one_and_names_its_ladders(bot: Bot, build: Path) -> None:
    bot.command(build)
    source = (FOLDER / bot.source).read_text()
    shown = re.search(r"cat > bot\.toml <<'END'\n(.*?)\n[ */#]+END\n", source, re.DOTALL)
    assert shown is not None
    manifest = parse_manifest(re.sub(r"^[ */#]*", "", shown[1], flags=re.MULTILINE).encode())
    check_command(manifest, [bot.source, Path(bot.source).stem])
    assert manifest.games == bot.games


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.source)
def test_a_bot_introduces_itself_and_declares_its_ladders(bot: Bot, start: Start) -> None:
    conversation = start(bot, bot.games[0])
    conversation.say("ugi", "isready", "what is this?")
    heard = conversation.hear_until("readyok")
    assert heard[0].startswith("id name ")
    assert heard[-2] == "ugiok"
    choices = "".join(f" var {code}" for code in bot.games)
    assert f"option name UGI_Variant type combo default {bot.games[0]}{choices}" in heard


# Their rules against ours


@pytest.mark.parametrize(("bot", "code"), THINKING)
def test_its_rules_count_the_same_moves_and_lead_to_the_same_positions(
    bot: Bot, code: str, start: Start
) -> None:
    conversation = start(bot, code)
    depth = 1 if bot is JAVASCRIPT else 2
    rng = random.Random(1)
    for position in positions(code, 40):
        count = conversation.ask(f"position fen {position}", f"perft {depth}")
        assert int(count) == perft(position, depth), position
        tokens = list(position.legal_moves())
        for token in rng.sample(tokens, min(len(tokens), 5)):
            after = conversation.ask(f"position fen {position} moves {token}", "fen")
            assert after == str(position.play(token)), (position, token)


@pytest.mark.parametrize(
    ("bot", "code", "depth", "count"),
    [
        (C, "dogon-kulei", 5, 37434),
        (C, "dogon-gagara", 4, 23570),
        (JAVASCRIPT, "dualma", 1, 3540),
        (JAVASCRIPT, "duploline", 2, 3000),
    ],
    ids=str,
)
def test_its_perft_numbers_are_the_known_ones(
    bot: Bot, code: str, depth: int, count: int, start: Start
) -> None:
    assert start(bot, code).ask("position startpos", f"perft {depth}") == str(count)


# Games


@pytest.mark.parametrize(("bot", "code"), LADDERS)
def test_games_against_random_are_played_without_a_fault(bot: Bot, code: str, build: Path) -> None:
    """Timed ones, with ten times the usual margin; the shell, slow and no thinker, plays a few moves only."""
    short = bot is SHELL
    engine = EngineSpec(bot.source, "1", bot.command(build), options=bot.options)
    other = EngineSpec("random", "1", ("python3", "-m", "engines.bots.random_bot"))
    job = GameJob(
        job=str(uuid.uuid4()),
        game=code,
        engines=(engine, other),
        games=tuple(JobGame(f"t/1/{code}/{white}", str(uuid.uuid4()), white) for white in (0, 1)),
        time_control="5/move" if short else "3+0.01;0.05/move",
        opening=random_moves(code, 5, OPENING_PLIES),
        ply_limit=OPENING_PLIES + 3 if short else None,
        margin_ms=500,
    )
    reports: list[GameReport] = []
    play_batch([job], WorkerContext("test", build, build), Callbacks(reports.append, lambda progress: None))
    assert len(reports) == 2
    for report in reports:
        assert (report.fault, report.evidence) == ("none", ""), report
        assert report.termination in ("rules", "repetition", "ply limit")


@pytest.mark.parametrize(("bot", "code"), THINKING)
def test_it_beats_a_player_who_moves_at_random(bot: Bot, code: str, start: Start) -> None:
    conversation = start(bot, code)
    history = History(find_game(code))
    chance = random.Random(3)
    mine = history.position.side
    while not history.outcome.decided:
        token = chance.choice(list(history.position.legal_moves()))
        if history.position.side is mine:
            moves = " ".join(["moves", *history.moves]) if history.moves else ""
            conversation.say(f"position startpos {moves}", "go nodes 6000 movetime 1000")
            token = best_move(conversation.hear_until("bestmove"))
        history.play(token)
    assert history.outcome.result == Result.win_for(mine)


# Limits


@pytest.mark.parametrize(("bot", "code"), THINKING)
def test_the_node_limit_is_not_exceeded(bot: Bot, code: str, start: Start) -> None:
    conversation = start(bot, code)
    conversation.say("position startpos", "go nodes 5000", "position startpos", "go nodes 0")
    said = [parse_engine_line(line) for line in conversation.hear_until("bestmove")]
    nodes = [info.nodes or 0 for info in said if isinstance(info, Info)]
    assert nodes
    assert max(nodes) <= 5000
    initial = find_game(code).position.initial()
    assert initial.is_legal(best_move(conversation.hear_until("bestmove")))


@pytest.mark.parametrize(("bot", "code"), THINKING)
def test_an_endless_search_answers_isready_and_obeys_stop(bot: Bot, code: str, start: Start) -> None:
    conversation = start(bot, code)
    moves = random_moves(code, 2, 2)
    conversation.say(f"position startpos moves {' '.join(moves)}", "go")
    assert conversation.hear().startswith("info ")
    conversation.say("isready")
    assert "readyok" in conversation.hear_until("readyok")
    conversation.say("stop")
    position = find_game(code).position.initial()
    for token in moves:
        position = position.play(token)
    assert position.is_legal(best_move(conversation.hear_until("bestmove")))


@pytest.mark.parametrize(("bot", "code"), THINKING)
def test_the_first_search_of_a_process_needs_little_more_than_later_ones(
    bot: Bot, code: str, start: Start
) -> None:
    """What a runtime loads and compiles is done before the clock of the first move runs.

    The difference is less than the default margin of a move, in processor time.
    """
    conversation = start(bot, code)
    conversation.say("ugi", "isready")
    conversation.hear_until("readyok")
    used_ns = []
    for _ in range(2):
        before_ns = processor_time_ns(conversation.process.pid)
        conversation.say("position startpos", "go nodes 100")
        conversation.hear_until("bestmove")
        used_ns.append(processor_time_ns(conversation.process.pid) - before_ns)
    assert used_ns[0] - used_ns[1] < 50_000_000


def processor_time_ns(process: int) -> int:
    """That of its threads which have not ended."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)


def test_the_search_in_javascript_is_over_at_once_when_stop_follows_go(start: Start) -> None:
    """It would end by itself too, but not before it has held a move against its replies."""
    conversation = start(JAVASCRIPT, "dualma")
    conversation.say("position startpos", "go\nstop\ngo")
    assert not [line for line in conversation.hear_until("bestmove") if line.startswith("info depth 2")]
    assert [line for line in conversation.hear_until("bestmove") if line.startswith("info depth 2")]


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.source)
def test_there_is_no_move_in_a_game_that_is_over(bot: Bot, start: Start) -> None:
    over = {
        "dogon-kulei": "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1",
        "dualma": "5/6/7/8/bw,bw,bw,bw,bw,bw,bw,bw,bw/bw,bw,6/7/6/5 w 31",
        "duovallis": "0,0,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0 w 0 0 0",
    }
    code = next(code for code in bot.games if code in over)
    assert find_game(code).position.parse(over[code]).outcome().decided
    assert start(bot, code).ask(f"position fen {over[code]}", "go movetime 500") == "bestmove none"


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.source)
def test_a_bot_ends_with_quit_and_with_its_input(bot: Bot, start: Start) -> None:
    quitting, abandoned = start(bot, bot.games[0]), start(bot, bot.games[0])
    quitting.say("quit")
    assert abandoned.process.stdin is not None
    abandoned.process.stdin.close()
    assert [each.process.wait(timeout=30) for each in (quitting, abandoned)] == [0, 0]
    abandoned.process.stdin = None


def test_the_shell_draws_the_same_move_from_the_same_seed_and_lines_may_end_in_two_characters(
    start: Start,
) -> None:
    conversation = start(SHELL, "dogon-gagara")
    moves = [
        conversation.ask(f"setoption name UGI_Seed value {seed}\r", "position startpos moves d1+\r", "go\r")
        for seed in (1, 1, 2, 3, 4)
    ]
    assert moves[0] == moves[1]
    assert len(set(moves)) > 1


def test_the_commands_in_the_readme_print_the_given_numbers(tmp_path: Path) -> None:
    C.command(tmp_path)
    (tmp_path / "engines").symlink_to(FOLDER.parents[1])
    page = (FOLDER.parents[1] / "README.md").read_text()
    (block,) = (
        lines for lines in re.findall(r"```shell\n(.*?)```", page, re.DOTALL) if "like the command" in lines
    )
    (promised,) = re.findall(r"# (\d+), like the command", block)
    done = subprocess.run(["sh", "-ec", block], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [promised]
