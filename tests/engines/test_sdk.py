from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from engines.protocol import OptionDeclared
from engines.rules import GAMES, UnknownGame
from engines.sdk import RESIGN, BotTurn, Clock, Session, check, combo, run, spin, text

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 120.0
OVER = "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1"


def first_move(turn: BotTurn) -> str:
    return next(turn.position.legal_moves())


class Talk:
    """An SDK engine in this process, and us as its server; a search is really under way while we speak.

    ``turns`` are those for which it has chosen the first move. Every talk is ended after its test.
    """

    begun: ClassVar[list[Talk]] = []

    def __init__(
        self,
        choose: Callable[[BotTurn], str] | None = None,
        games: Sequence[str] = tuple(GAMES),
        options: Sequence[OptionDeclared] = (),
        on_new_game: Callable[[], None] | None = None,
    ) -> None:
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lines: queue.SimpleQueue[str | threading.Event | None] = queue.SimpleQueue()
        known = [GAMES[code] for code in games]
        self.turns: list[BotTurn] = []
        session = Session(
            choose or self._choose_first, "Tester", "", known, options, on_new_game, self._said.put
        )
        self._thread = threading.Thread(target=session.serve, args=(self._read(),), daemon=True)
        self._thread.start()
        self.begun.append(self)

    def _choose_first(self, turn: BotTurn) -> str:
        self.turns.append(turn)
        return first_move(turn)

    def _read(self) -> Iterator[str]:
        while (line := self._lines.get()) is not None:
            if isinstance(line, threading.Event):
                line.set()
            else:
                yield line

    def say(self, *lines: str | threading.Event) -> None:
        """An event among the lines is set once the engine has taken in all before it."""
        for line in lines:
            self._lines.put(line)

    def hear(self) -> str:
        return self._said.get(timeout=DEADLINE_SECONDS)

    def heard(self, line: str) -> None:
        self._said.put(line)

    def ask(self, *lines: str | threading.Event) -> str:
        self.say(*lines)
        return self.hear()

    def hear_until(self, last: str) -> list[str]:
        heard = [self.hear()]
        while heard[-1] != last:
            heard.append(self.hear())
        return heard

    def end(self, line: str | None = None) -> None:
        """By ``line``, or by the end of the input; whatever was still said is lost."""
        self._lines.put(line)
        self._thread.join(DEADLINE_SECONDS)
        assert not self._thread.is_alive()


@pytest.fixture(autouse=True)
def _all_ended() -> Iterator[None]:
    yield
    while Talk.begun:
        Talk.begun.pop().end()


def test_an_engine_of_all_games_introduces_itself() -> None:
    talk = Talk(
        options=[spin("Depth", 4, 1, 20), check("Book", True), combo("Style", "a", ["a", "b"]), text("File")]
    )
    talk.say("ugi")
    assert talk.hear_until("ugiok") == [
        "id name Tester",
        "id author unknown",
        " var ".join(("option name UGI_Variant type combo default duovallis", *GAMES)),
        "option name UGI_Seed type spin default 0 min 0 max 9223372036854775807",
        "option name Depth type spin default 4 min 1 max 20",
        "option name Book type check default true",
        "option name Style type combo default a var a var b",
        "option name File type string default <empty>",
        "ugiok",
    ]


def test_an_engine_of_one_game_declares_no_variant() -> None:
    talk = Talk(games=["dualma"])
    talk.say("ugi")
    assert not any("UGI_Variant" in line for line in talk.hear_until("ugiok"))
    assert talk.ask("position startpos", "go") == "bestmove a1:a2"


def test_unknown_words_are_ignored() -> None:
    talk = Talk()
    lines = ("hello", "", "gameover p1win crash", "setoption name Nothing value 1", "isready")
    assert talk.ask(*lines) == "readyok"


def test_the_variant_selects_the_game() -> None:
    talk = Talk(games=["dogon-kulei", "dogon-gagara"])
    assert talk.ask("go") == "bestmove a1-"
    start = "6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,6 w 0 0 - - 0"
    chosen = "setoption name ugi_variant value dogon-gagara"
    answer = talk.ask(chosen, f"position fen {start} moves h1+", "go")
    assert answer.startswith("bestmove ")
    assert talk.ask("setoption name UGI_Variant value chess") == "info string Tester does not play 'chess'"


def test_the_turn_shows_the_game_so_far() -> None:
    talk = Talk(games=["dogon-kulei"])
    talk.ask("position startpos moves d1+ c2+ c1+", "go p1time 1000 p2time 900 p1inc 10 p2inc 20 depth 3")
    (turn,) = talk.turns
    assert turn.game is GAMES["dogon-kulei"]
    assert str(turn.position).endswith("b 0 0 - - 3")
    assert turn.moves == tuple(turn.history.moves) == ("d1+", "c2+", "c1+")
    assert (turn.clock.left_ms, turn.clock.increment_ms, turn.clock.depth) == (900, 20, 3)
    assert turn.seed is None


def test_a_position_repeated_with_more_moves_is_not_replayed() -> None:
    talk = Talk(games=["dogon-kulei"])
    talk.ask("position startpos moves d1+", "go")
    talk.ask("position startpos moves d1+ c2+ c1+", "go")
    talk.ask("position startpos moves d1- c2+", "go")
    first, second, third = talk.turns
    assert first.history is second.history
    assert third.history is not second.history
    assert third.moves == ("d1-", "c2+")
    assert first.moves == ("d1+",)


def test_a_new_game_begins_anew() -> None:
    begun: list[int] = []
    talk = Talk(games=["dogon-kulei"], on_new_game=lambda: begun.append(len(talk.turns)))
    talk.ask("position startpos moves d1+", "go")
    talk.ask("uginewgame", "go")
    assert begun == [1]
    assert talk.turns[1].moves == ()


@pytest.mark.parametrize(
    ("position", "complaint"),
    [
        ("startpos moves d1+ zz", "info string illegal move 'zz' in position "),
        ("fen nonsense", "info string bad position 'nonsense'"),
        ("fen", "info string bad position ''"),
        (f"fen {OVER} moves d2-", "info string illegal move 'd2-' in position "),
    ],
)
def test_a_position_that_the_rules_refuse_is_reported(position: str, complaint: str) -> None:
    talk = Talk(games=["dogon-kulei"])
    assert talk.ask(f"position {position}").startswith(complaint)
    assert talk.ask("go") == "info string there is no position to search"
    assert talk.hear() == "bestmove none"
    assert talk.ask("query gameover") == "response false"
    assert talk.ask("query result") == "response none"
    assert talk.ask("position startpos moves d1+", "query p1turn") == "response false"


def test_a_game_that_is_over_is_not_searched() -> None:
    talk = Talk(games=["dogon-kulei"])
    assert talk.ask(f"position fen {OVER}", "go") == "info string the game is over"
    assert talk.hear() == "bestmove none"
    assert not talk.turns


CYCLE = "pass f2- e1+ pass f1- pass d1- pass c1- pass b1- pass a1- b2+ pass a2- pass c2- pass d2- pass e2-"
CYCLING = f"fen 0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0 moves {CYCLE}"


@pytest.mark.parametrize(
    ("game", "position", "over", "p1_turn", "result"),
    [
        ("dogon-kulei", "startpos", "false", "true", "none"),
        ("dogon-kulei", "startpos moves d1+", "false", "false", "none"),
        ("dogon-kulei", f"fen {OVER}", "true", "false", "draw"),
        ("dogon-kulei", CYCLING, "false", "true", "none"),
        ("dogon-kulei", f"{CYCLING} {CYCLE}", "true", "true", "p2win"),
        ("dogon-kulei", f"{CYCLING} {CYCLE} pass", "true", "false", "p2win"),
        ("dogon-kulei", "fen 4,4,4,4,4,5/4,4,0,5,5,5 b 0 0 - - 1", "false", "false", "none"),
        ("dualma", "startpos", "false", "true", "none"),
        ("dualma", "fen 5/6/7/8/9/8/7/6/b,w,3 w 1", "false", "false", "none"),
        (
            "dualma",
            "fen 5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 399 moves pass",
            "true",
            "true",
            "draw",
        ),
    ],
)
def test_other_runners_may_query_the_state_of_the_game(
    game: str, position: str, over: str, p1_turn: str, result: str
) -> None:
    talk = Talk(games=[game])
    talk.say(f"position {position}")
    assert talk.ask("query gameover") == f"response {over}"
    assert talk.ask("query p1turn") == f"response {p1_turn}"
    assert talk.ask("query result") == f"response {result}"


def test_a_runner_with_other_match_rules_is_played_on_with() -> None:
    talk = Talk(games=["dogon-kulei"])
    assert talk.ask(f"position {CYCLING} {CYCLE} pass", "go") == "bestmove f2+"


def test_stop_ends_a_search_that_watches_for_it() -> None:
    searching = threading.Event()

    def choose(turn: BotTurn) -> str:
        while not turn.should_stop():
            searching.set()
        return RESIGN

    talk = Talk(choose)
    talk.say("position startpos", "go")
    assert searching.wait(DEADLINE_SECONDS)
    assert talk.ask("isready") == "readyok"
    assert talk.ask("stop") == "bestmove resign"
    assert talk.ask("stop", "isready") == "readyok"
    assert talk.ask("go", "stop") == "bestmove resign"
    searching.clear()
    talk.say("go")
    assert searching.wait(DEADLINE_SECONDS), "the stop of an earlier search must not end this one"
    assert talk.ask("stop") == "bestmove resign"


def test_it_is_ready_only_when_all_earlier_messages_are_processed() -> None:
    asked = threading.Event()

    def forget() -> None:
        assert asked.wait(DEADLINE_SECONDS)
        talk.heard("forgotten")

    talk = Talk(on_new_game=forget)
    talk.ask("go")
    assert talk.ask("uginewgame", "isready", asked) == "forgotten"
    assert talk.hear() == "readyok"


@pytest.mark.parametrize("last", ["quit", None])
def test_quit_and_the_end_of_the_input_end_a_search_too(last: str | None) -> None:
    def choose(turn: BotTurn) -> str:
        while not turn.should_stop():
            pass
        return first_move(turn)

    talk = Talk(choose)
    talk.say("go")
    talk.end(last)


@pytest.mark.parametrize("limit", ["movetime 30", "p1time 500 p2time 0", "p1time 0 p2time 9 p1inc 30"])
def test_should_stop_keeps_to_the_time(limit: str) -> None:
    def choose(turn: BotTurn) -> str:
        while not turn.should_stop():
            pass
        return RESIGN

    talk = Talk(choose)
    assert talk.ask(f"go {limit}") == "bestmove resign"


def searched(limits: str, *, reports: Callable[[BotTurn, int], None] = lambda turn, count: None) -> int:
    """How often a search that only asks ``should_stop`` goes round under these limits."""
    rounds = 0

    def choose(turn: BotTurn) -> str:
        nonlocal rounds
        while not turn.should_stop():
            rounds += 1
            reports(turn, rounds)
        return RESIGN

    talk = Talk(choose)
    talk.say(f"go {limits}")
    talk.hear_until("bestmove resign")
    return rounds


def test_should_stop_counts_its_calls_as_nodes_and_knows_nodes_and_depths_that_were_reported() -> None:
    assert searched("nodes 50") == searched("depth 9 nodes 50") == 50
    assert searched("nodes 50", reports=lambda turn, count: turn.info(nodes=20 * count)) == 3
    for limits in ("depth 4", "depth 4 movetime 60000"):
        assert searched(limits, reports=lambda turn, count: turn.info(depth=count)) == 4


def test_should_stop_ends_a_search_by_depth_that_reports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engines.sdk.turn.DEPTH_MS", 5)
    assert searched("depth 4") > 0


def test_a_search_that_has_reported_a_depth_takes_its_time_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engines.sdk.turn.DEPTH_MS", 0)
    turns: list[bool] = []

    def choose(turn: BotTurn) -> str:
        turn.info(depth=1)
        turns.extend((turn.should_stop(), turn.stopped))
        return RESIGN

    talk = Talk(choose)
    talk.say("go depth 2")
    talk.hear_until("bestmove resign")
    assert turns == [False, False]


@pytest.mark.parametrize(
    ("clock", "budget_ms"),
    [
        (Clock(), None),
        (Clock(depth=3, nodes=9), None),
        (Clock(10_000, 1, 100, 1), 10_000 / 25 + 75),
        (Clock(1, 10_000, 1, 100, mover_is_p1=False), 10_000 / 25 + 75),
        (Clock(100, 100, 1_000, 1_000), 80),
        (Clock(-5, 5), 0),
        (Clock(movetime_ms=100), 90),
        (Clock(1_000, 1_000, movetime_ms=100), 40),
    ],
)
def test_a_budget_is_within_every_limit(clock: Clock, budget_ms: float | None) -> None:
    assert clock.budget_ms == (None if budget_ms is None else pytest.approx(budget_ms))


def test_info_is_sent_in_the_words_of_the_protocol() -> None:
    def choose(turn: BotTurn) -> str:
        turn.info(depth=3, score=-20, nodes=1000, pv=["d1+", "c2+"])
        turn.info(mate=4, string="two\nlines\0")
        return first_move(turn)

    talk = Talk(choose)
    first = talk.ask("go").split()
    assert first[:6] == ["info", "depth", "3", "score", "cp", "-20"]
    assert first[6] == "time"
    assert first[8:10] == ["nodes", "1000"]
    assert first[-3:] == ["pv", "d1+", "c2+"]
    second = talk.hear()
    assert second.startswith("info score mate 4 time ")
    assert second.endswith(" string two lines")


def test_options_are_read_by_their_type_and_checked() -> None:
    options = [
        spin("Depth", 4, 1, 20),
        check("Book", True),
        combo("Style", "calm", ["calm", "wild"]),
        text("My File"),
    ]
    talk = Talk(options=options)
    talk.ask("go")
    assert talk.turns[0].options == {"Depth": 4, "Book": True, "Style": "calm", "My File": ""}
    for line in ("depth value 7", "Book value false", "Style value wild", "my file value a b"):
        talk.say(f"setoption name {line}")
    talk.ask("go")
    assert talk.turns[1].options == {"Depth": 7, "Book": False, "Style": "wild", "My File": "a b"}
    for line, takes in (
        ("Depth value 21", "'Depth' takes a number from 1 to 20, not '21'"),
        ("Book value yes", "'Book' takes true or false, not 'yes'"),
        ("Style", "'Style' takes one of calm, wild, not ''"),
    ):
        assert talk.ask(f"setoption name {line}") == f"info string option {takes}"


def test_an_option_with_an_impossible_default_is_the_author_s_mistake() -> None:
    with pytest.raises(ValueError, match="takes a number from 1 to 3, not '9'"):
        Session(first_move, "x", "", list(GAMES.values()), [spin("Depth", 9, 1, 3)], None, print)


def test_a_ladder_that_does_not_exist_is_the_author_s_mistake() -> None:
    with pytest.raises(UnknownGame, match="'chess'"):
        run(first_move, name="x", games=["chess"])


def test_the_same_seed_gives_the_same_chances_at_the_same_ply() -> None:
    def choose(turn: BotTurn) -> str:
        turn.info(string=f"{turn.random.random()} {turn.random.random()}")
        return first_move(turn)

    def chances(*lines: str) -> str:
        told = talk.ask(*lines, "go").split(" string ")[1]
        talk.hear()
        return told

    talk = Talk(choose, ["dogon-kulei"])
    one = chances("setoption name UGI_Seed value 7", "uginewgame", "position startpos")
    later = chances("position startpos moves d1+ c2+")
    assert chances("setoption name UGI_Seed value 8", "position startpos") != one
    assert chances("setoption name UGI_Seed value 7", "position startpos moves d1+ c2+") == later != one


# As real processes


def run_engine(code: str, said: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, input=said, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )


def engine(body: str) -> str:
    return f"""
from engines.sdk import run
def choose(turn):
    {body}
run(choose, name="Tester", games=["dogon-kulei"])
"""


def test_the_end_of_the_input_ends_the_process_after_its_last_answer() -> None:
    done = run_engine(
        engine("return next(turn.position.legal_moves())"), "ugi\r\nisready\r\nposition startpos\r\ngo"
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[-2:] == ["readyok", "bestmove a1-"]
    assert done.stderr == ""


def test_what_an_engine_prints_goes_to_its_log() -> None:
    done = run_engine(engine("print('bestmove zz'); return 'a1-'"), "go\nquit\n")
    assert done.stdout == "bestmove a1-\n"
    assert done.stderr == "bestmove zz\n"


def test_an_exception_is_logged_and_ends_the_process() -> None:
    done = run_engine(engine("raise KeyError('lost')"), "go\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.endswith("KeyError: 'lost'\n")


def test_a_choice_that_is_no_move_is_an_exception_that_names_it() -> None:
    done = run_engine(engine("return None"), "position startpos\ngo depth 1\nisready\n")
    assert "TypeError: choose returned None, which is not a move" in done.stderr
    assert "bestmove" not in done.stdout


def test_a_search_that_never_ends_does_not_outlive_quit() -> None:
    done = run_engine(engine("\n    while True: pass"), "go\nquit\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_engine_with_a_closed_output_ends_without_an_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", engine("return 'a1-'")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write("ugi\n")
        process.stdin.flush()
        assert process.wait(DEADLINE_SECONDS) == 0
        assert process.stderr.read() == ""
