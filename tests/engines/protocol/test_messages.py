from __future__ import annotations

from collections.abc import Callable

import pytest

from engines.protocol import (
    BestMove,
    EngineMessage,
    GameOver,
    Go,
    IdAuthor,
    IdName,
    Info,
    IsReady,
    OptionDeclared,
    OptionType,
    ProtocolError,
    Query,
    Question,
    Quit,
    ReadyOk,
    Response,
    Score,
    ServerMessage,
    SetOption,
    SetPosition,
    Stop,
    Ugi,
    UgiNewGame,
    UgiOk,
    Winner,
    format_message,
    last_info,
    parse_engine_line,
    parse_number,
    parse_server_line,
)

FEN = "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0"

TO_ENGINE: dict[str, ServerMessage] = {
    "ugi": Ugi(),
    "isready": IsReady(),
    "uginewgame": UgiNewGame(),
    "stop": Stop(),
    "quit": Quit(),
    "setoption name Hash value 16": SetOption("Hash", "16"),
    "setoption name Clear Hash": SetOption("Clear Hash"),
    "setoption name Book File value my book.bin": SetOption("Book File", "my book.bin"),
    "position startpos": SetPosition(),
    "position startpos moves c1+ f2-": SetPosition(None, ("c1+", "f2-")),
    f"position fen {FEN}": SetPosition(FEN),
    f"position fen {FEN} moves pass": SetPosition(FEN, ("pass",)),
    "go": Go(),
    "go p1time 60000 p2time 59500 p1inc 500 p2inc 500": Go(60000, 59500, 500, 500),
    "go movetime 100 nodes 5000 depth 4": Go(movetime_ms=100, nodes=5000, depth=4),
    "gameover p2win time forfeit": GameOver(Winner.P2, "time forfeit"),
    "gameover draw": GameOver(Winner.DRAW),
    "query gameover": Query(Question.GAME_OVER),
    "query p1turn": Query(Question.P1_TURN),
    "query result": Query(Question.RESULT),
}

FROM_ENGINE: dict[str, EngineMessage] = {
    "id name Stone Age 1.2": IdName("Stone Age 1.2"),
    "id author Ana and Bo": IdAuthor("Ana and Bo"),
    "option name UGI_Variant type combo default dualma var dualma var dogon-kulei": OptionDeclared(
        "UGI_Variant", OptionType.COMBO, "dualma", choices=("dualma", "dogon-kulei")
    ),
    "option name Hash type spin default 16 min 1 max 1024": OptionDeclared(
        "Hash", OptionType.SPIN, "16", 1, 1024
    ),
    "option name Default min type type spin default 1 min 0 max 9": OptionDeclared(
        "Default min type", OptionType.SPIN, "1", 0, 9
    ),
    "option name Style type combo default Very Solid var Very Solid var wild default": OptionDeclared(
        "Style", OptionType.COMBO, "Very Solid", choices=("Very Solid", "wild default")
    ),
    "option name Book type string default min 3 type var": OptionDeclared(
        "Book", OptionType.STRING, "min 3 type var"
    ),
    "option name Clear Hash type button": OptionDeclared("Clear Hash", OptionType.BUTTON),
    "option name Book type string default": OptionDeclared("Book", OptionType.STRING, ""),
    "option name Ponder type check default false": OptionDeclared("Ponder", OptionType.CHECK, "false"),
    "ugiok": UgiOk(),
    "readyok": ReadyOk(),
    "info depth 12 seldepth 14 score cp 35 time 104 nodes 12034 nps 115711 pv b1 c4": Info(
        12, 14, Score(35), 104, 12034, 115711, ("b1", "c4")
    ),
    "info score mate -4": Info(score=Score(mate=-4)),
    "info string depth 3 is a lie": Info(string="depth 3 is a lie"),
    "info": Info(),
    "bestmove Dd4:Rd5-e5": BestMove("Dd4:Rd5-e5"),
    "bestmove resign": BestMove("resign"),
    "bestmove": BestMove(""),
    "response p1win": Response("p1win"),
}


@pytest.mark.parametrize(("line", "message"), TO_ENGINE.items())
def test_a_line_of_the_server_is_parsed_and_formatted_again(line: str, message: ServerMessage) -> None:
    assert parse_server_line(line) == message
    assert format_message(message) == line


@pytest.mark.parametrize(("line", "message"), FROM_ENGINE.items())
def test_a_line_of_an_engine_is_parsed_and_formatted_again(line: str, message: EngineMessage) -> None:
    assert parse_engine_line(line) == message
    assert format_message(message) == line


@pytest.mark.parametrize(
    "line", ["", " ", "\r\n", "hello", "BESTMOVE c1", "bestmovec1", "\0bestmove c1", "uciok"]
)
def test_unknown_words_are_no_message(line: str) -> None:
    assert parse_engine_line(line) is None
    assert parse_server_line(line) is None


def test_unknown_words_in_front_of_a_message_are_ignored() -> None:
    assert parse_engine_line("joho bestmove c1") == BestMove("c1")
    assert parse_server_line("joho isready") == IsReady()


def test_words_after_the_move_are_ignored() -> None:
    assert parse_engine_line("bestmove c1 ponder c4\r\n") == BestMove("c1")


@pytest.mark.parametrize("line", ["bestmove c1\r\n", "\tbestmove\t \tc1  ", "  bestmove   c1\n"])
def test_spaces_tabs_and_both_line_ends_separate_words(line: str) -> None:
    assert parse_engine_line(line) == BestMove("c1")


@pytest.mark.parametrize("glue", ["\xa0", "\u2028", "\x1c", "\v", "\x85", "\0"])
def test_no_other_space_separates_words(glue: str) -> None:
    assert parse_engine_line(f"bestmove c1{glue}x") == BestMove(f"c1{glue}x")


def test_info_fields_may_be_in_any_order_among_unknown_ones() -> None:
    line = "info nodes 7 currmove b1 pv c1 c4 hashfull 3 wdl 1 2 depth 2 multipv 1 time 9"
    assert parse_engine_line(line) == Info(depth=2, time_ms=9, nodes=7, pv=("c1", "c4"))


def test_the_bound_of_a_score_is_ignored() -> None:
    assert parse_engine_line("info score cp -5 upperbound nodes 3") == Info(score=Score(-5), nodes=3)


def test_a_field_without_its_number_does_not_swallow_the_next() -> None:
    assert parse_engine_line("info depth nodes 5 time x score cp pv") == Info(nodes=5)


@pytest.mark.parametrize(
    "number", ["9" * 5000, "1" * 20, "0x10", "1_000", "٣", "1.5", "--1", "-", "½", "1e9"]
)
def test_a_word_that_is_not_a_plain_number_is_ignored(number: str) -> None:
    assert parse_number(number) is None
    assert parse_engine_line(f"info depth {number} score cp {number} nodes 4") == Info(nodes=4)
    assert parse_server_line(f"go movetime {number} depth 3") == Go(depth=3)


def test_numbers_may_have_a_sign_and_nineteen_digits() -> None:
    assert parse_number("-12") == -12
    assert parse_number("+7") == 7
    assert parse_number("9" * 19) == 10**19 - 1


HALF_DECLARATIONS = """
option|option name|option name X|option type spin|option name X type wheel|id|id x y
option type spin default 3 min 1"""
HALF_ORDERS = """
setoption|setoption name|setoption value 3|position|position moves c1|query|query luck
gameover|gameover none|gameover white"""


@pytest.mark.parametrize(
    ("parse", "lines"), [(parse_engine_line, HALF_DECLARATIONS), (parse_server_line, HALF_ORDERS)]
)
def test_half_a_message_is_none(parse: Callable[[str], object], lines: str) -> None:
    for line in lines.strip().replace("\n", "|").split("|"):
        assert parse(line) is None, line


def test_a_position_string_may_be_missing_and_is_the_rules_to_judge() -> None:
    assert parse_server_line("position fen moves c1") == SetPosition("", ("c1",))


def test_uci_s_other_limits_are_ignored() -> None:
    assert parse_server_line("go infinite wtime 5 movestogo 40 p1time -20") == Go(p1_time_ms=-20)


@pytest.mark.parametrize(
    "message",
    [
        SetOption("Book", "a\nquit"),
        IdName("a\rb"),
        Info(string="a\0b"),
        SetPosition("x\ny"),
        BestMove("c1\nc2"),
    ],
)
def test_a_message_that_would_be_two_lines_is_not_written(message: ServerMessage | EngineMessage) -> None:
    with pytest.raises(ProtocolError, match=r"cannot hold '\\[nrx]"):
        format_message(message)


def test_a_score_is_one_thing_or_the_other() -> None:
    with pytest.raises(ValueError, match="either"):
        Score()
    with pytest.raises(ValueError, match="either"):
        Score(1, 2)


def test_the_last_of_each_field_is_found_across_lines() -> None:
    lines = [
        b"info depth 1 score cp 10 time 1 nodes 10 pv a1",
        b"info depth 2 score cp 20 time 2 nodes 20",
        b"nonsense \xff",
        b"info depth 3 string almost there",
        b"info score mate 4",
    ]
    info = last_info(lines)
    assert info.depth == 3
    assert info.score == Score(mate=4)
    assert (info.time_ms, info.nodes, info.pv) == (2, 20, ("a1",))
    assert last_info([]) == Info()


def test_reading_backwards_ends_when_all_fields_are_found() -> None:
    full = b"info depth 0 score cp 0 time 0 nodes 0 pv a1"
    assert last_info(["info seldepth 9", full]).seldepth is None
