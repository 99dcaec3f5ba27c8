"""``python -m engines``, in this process where possible, else as a process."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from engines.__main__ import main
from engines.examples import format_examples
from engines.positions import read_hard_positions
from engines.records import format_record
from engines.rules import GAMES
from engines.tasks.finder import find_tasks
from tests.support.records import finished_record, random_moves, record_of

ROOT = Path(__file__).parents[2]
OVER = "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1"
CYCLE = (
    "pass f2- e1+ pass f1- pass d1- pass c1- pass b1- pass a1- b2+ pass a2- pass c2- pass d2- pass e2-"
).split()
CYCLE_START = "0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0"


class Printed(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Printed]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs ``python -m engines`` in this process."""

    def run(*arguments: str) -> Printed:
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return Printed(code, *capsys.readouterr())

    return run


def test_games_are_the_ladders_a_line_each(command: Command) -> None:
    printed = command("games")
    assert printed.out == "duovallis\ndualma\ndogon-kulei\ndogon-gagara\nduploline\n"
    assert (printed.code, printed.err) == (0, "")


@pytest.mark.parametrize(("depth", "count"), [("0", 1), ("1", 8), ("3", 558)])
def test_perft_is_the_count_alone(command: Command, depth: str, count: int) -> None:
    assert command("perft", "dogon-kulei", depth).out == f"{count}\n"


def test_perft_may_start_anywhere(command: Command) -> None:
    assert command("perft", "dogon-kulei", "2", "--fen", OVER).out == "0\n"


@pytest.mark.parametrize("code", GAMES)
def test_moves_are_sorted_bytewise_and_then_the_result(command: Command, code: str) -> None:
    *moves, result = command("moves", code).out.splitlines()
    assert moves == sorted(moves, key=str.encode)
    assert len(moves) == len(set(moves)) > 5
    assert result == "result: *"


def test_a_game_that_is_over_has_no_moves(command: Command) -> None:
    assert command("moves", "dogon-kulei", "--fen", OVER).out == "result: 1/2-1/2 seeds\n"


@pytest.mark.parametrize("code", GAMES)
def test_rules_prints_the_page_and_its_examples(command: Command, code: str) -> None:
    printed = command("rules", code)
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith(GAMES[code].rules.strip())
    assert printed.out.endswith(f"{format_examples(code)}\n")


@pytest.mark.parametrize("code", GAMES)
def test_positions_prints_the_hard_positions_a_line_each(command: Command, code: str) -> None:
    printed = command("positions", code)
    assert printed.out.splitlines() == [str(row) for row in read_hard_positions(code)]
    assert (printed.code, printed.err) == (0, "")


def test_tasks_prints_the_tasks_that_it_finds_a_line_each(command: Command, tmp_path: Path) -> None:
    games = [record_of("dogon-kulei", random_moves("dogon-kulei", seed)) for seed in range(150)]
    path = tmp_path / "games.pgn"
    path.write_text("".join(map(format_record, games)), encoding="utf-8")
    printed = command("tasks", "dogon-kulei", "--seed", "7", str(path))
    assert printed.out.splitlines() == [str(task) for task in find_tasks(GAMES["dogon-kulei"], games, 7)]
    assert (printed.code, printed.err) == (0, "")
    printed = command("tasks", "dualma", str(path))
    assert printed == (2, "", "the records have too few tasks of the kind 'win-in-two'\n")
    path.write_text('[Game "dualma"]\n\n1. a1 nonsense {', encoding="utf-8")
    assert command("tasks", "dualma", str(path)).err.startswith(str(path))


def test_moves_knows_no_match_rules(command: Command) -> None:
    late = "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 998"
    assert command("moves", "dogon-kulei", "--fen", late).out.endswith("f1+\nresult: *\n")
    played = command("play", "dogon-kulei", "--fen", late)
    assert played.out == f"{late}\nresult: 1/2-1/2 ply-limit\n"


def test_play_prints_the_position_and_the_result(command: Command) -> None:
    printed = command("play", "dogon-kulei", "d1+", "c2+")
    assert printed.out == "5,5,0,4,5,5/5,5,4,0,5,5 w 0 0 - - 2\nresult: *\n"


@pytest.mark.parametrize("split", [0, 1, 44])
def test_play_applies_repetition_wherever_the_fen_option_is(command: Command, split: int) -> None:
    moves = [*CYCLE, *CYCLE]
    printed = command("play", "dogon-kulei", *moves[:split], "--fen", CYCLE_START, *moves[split:])
    assert printed.out == CYCLE_START[:-1] + "44\nresult: 0-1 repetition\n"


@pytest.mark.parametrize("code", GAMES)
def test_show_draws_the_board(command: Command, code: str) -> None:
    assert "a" in command("show", code).out
    svg = command("show", code, "--svg").out
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<style" in svg


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["moves", "chess"], "unknown game 'chess': the games are duovallis, "),
        (["rules", "chess"], "unknown game 'chess'"),
        (["positions", "Dualma"], "unknown game 'Dualma'"),
        (["perft", "Dualma", "1"], "unknown game 'Dualma'"),
        (["moves", "dogon-kulei", "--fen", "4,4 w"], "bad position '4,4 w': 2 fields instead of 7"),
        (["show", "dogon-kulei", "--fen", ""], "bad position ''"),
        (["play", "dogon-kulei", "d1+", "d1+"], "illegal move 'd1+' in position '4,4,4,4,5,5/4,4,4,0,5,5 b "),
        (["play", "dogon-kulei", "--fen", OVER, "c1+"], f"illegal move 'c1+' in position '{OVER}'"),
        (["play", "dogon-kulei", "\0\ud800\n"], "illegal move '\\x00\\ud800\\n' in position"),
        (["verify", "no such file.pgn"], "cannot read 'no such file.pgn': No such file or directory"),
        (["tasks", "dualma", "none.pgn"], "cannot read 'none.pgn': No such file or directory"),
        (["verify", "."], "cannot read '.': Is a directory"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    command: Command, arguments: list[str], complaint: str
) -> None:
    printed = command(*arguments)
    assert printed.code == 2
    assert printed.err.startswith(complaint)
    assert printed.err.count("\n") == 1
    assert printed.out == ""


NONSENSE = """
chess|perft dogon-kulei|perft dogon-kulei x|perft dogon-kulei -1|moves|moves dogon-kulei --fen|verify
moves dogon-kulei d1+|play dogon-kulei --fem x|perft dogon-kulei ٣"""


@pytest.mark.parametrize(
    "words", ["", *NONSENSE[1:].replace("\n", "|").split("|"), f"perft dogon-kulei {'9' * 5000}"]
)
def test_a_command_that_makes_no_sense_is_exit_code_2(command: Command, words: str) -> None:
    printed = command(*words.split())
    assert (printed.code, printed.out) == (2, "")
    assert "error: " in printed.err


def numbered(*games: str) -> str:
    """The records of a file, each with an id of its own."""
    return "\n".join(re.sub(r'\[GameId ".*"\]', f'[GameId "{n}"]', game) for n, game in enumerate(games, 1))


def test_verify_counts_the_games_that_agree(command: Command, tmp_path: Path) -> None:
    good = tmp_path / "good.pgn"
    good.write_text(numbered(*(format_record(finished_record(code)) for code in GAMES)), encoding="utf-8")
    single = tmp_path / "single.pgn"
    single.write_text(format_record(finished_record("dualma")), encoding="utf-8")
    assert command("verify", str(good), str(single)).out == "6 games, none with disagreements\n"
    printed = command("verify", str(single))
    assert (printed.code, printed.out, printed.err) == (0, "1 game, none with disagreements\n", "")


def test_verify_names_every_disagreement_and_its_place(command: Command, tmp_path: Path) -> None:
    good = format_record(record_of("dogon-kulei", ("d1+", "c2+")))
    altered = good.replace("c2+", "zz9").replace("60+0.5", "soon")
    unreadable = good.replace("c2+", "\x00?c2")
    path = tmp_path / "games.pgn"
    path.write_bytes(numbered(good, altered, unreadable, good).encode().replace(b"\x00", b"\xff"))
    printed = command("verify", str(path))
    assert printed.code == 1
    complaints = printed.out.splitlines()
    assert complaints[0].startswith(f"{path}:19: game 2: header TimeControl: cannot read 'soon'")
    assert complaints[1].startswith(f"{path}:35: game 2: ply 2: illegal move 'zz9' in position '4,4,4,4,5,5/")
    assert complaints[2].startswith(f"{path}:53: game 3: ply 2: '\\\\xff?c2' is not spelled as a move")
    assert complaints[3:] == ["4 games, 2 with disagreements"]


def test_verify_continues_after_a_file_it_cannot_read(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "good.pgn"
    path.write_text(format_record(finished_record("duploline")), encoding="utf-8-sig", newline="\r\n")
    printed = command("verify", "missing.pgn", str(path))
    assert (printed.code, printed.out) == (2, "1 game, none with disagreements\n")
    assert printed.err == "cannot read 'missing.pgn': No such file or directory\n"


def test_a_game_that_is_in_a_file_twice_is_named(command: Command, tmp_path: Path) -> None:
    game = format_record(finished_record("dualma"))
    path = tmp_path / "games.pgn"
    path.write_text(numbered(game, game, game).replace('"3"]', '"1"]'), encoding="utf-8")
    printed = command("verify", str(path))
    assert printed.code == 1
    complaint, summary = printed.out.splitlines()
    assert re.fullmatch(r".*games\.pgn:\d+: game 3: GameId '1' is that of game 1 too", complaint)
    assert summary == "3 games, 1 with disagreements"


def test_a_file_without_a_game_is_no_success(command: Command, tmp_path: Path) -> None:
    empty, good = tmp_path / "empty.pgn", tmp_path / "good.pgn"
    empty.touch()
    good.write_text(format_record(finished_record("dualma")), encoding="utf-8")
    printed = command("verify", str(empty), str(good))
    assert (printed.code, printed.err) == (1, "")
    assert printed.out == f"{empty}: the file has no game\n1 game, none with disagreements\n"


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"\x28\xb5\x2f\xfd\x04", "zstd"),
        (lzma.compress(b"[Event]"), "xz"),
        (bz2.compress(b"[Event]"), "bzip2"),
        (b"PK\x03\x04..", "zip"),
    ],
    ids=["zstd", "xz", "bzip2", "zip"],
)
def test_a_compressed_file_is_named_as_such(data: bytes, form: str, command: Command, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn.packed"
    path.write_bytes(data)
    printed = command("verify", str(path))
    assert (printed.code, printed.out) == (2, "")
    told = f"cannot read '{path}': it is compressed with {form}: unpack it first, with "
    assert printed.err.startswith(told)


def test_a_file_compressed_with_gzip_is_read_also_from_a_pipe(command: Command, tmp_path: Path) -> None:
    path, whole = tmp_path / "games.pgn.gz", format_record(finished_record("dualma")).encode()
    half = len(whole) // 2
    path.write_bytes(gzip.compress(whole[:half]) + gzip.compress(whole[half:]))
    told = "1 game, none with disagreements\n"
    assert command("verify", str(path)).out == told
    piped = f"cat {path} | {sys.executable} -m engines verify /dev/stdin"
    done = subprocess.run(("sh", "-c", piped), cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (told, "")


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8b", b"\x1f\x8b\x08zzzzzzzzzzzzzzz", gzip.compress(b"[Event]", mtime=0)[:-3]],
    ids=["empty", "damaged", "cut off"],
)
def test_a_damaged_compressed_file_is_refused(data: bytes, command: Command, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn.gz"
    path.write_bytes(data)
    printed = command("verify", str(path))
    assert (printed.code, printed.err) == (
        2,
        f"cannot read '{path}': its compressed data is cut off or damaged\n",
    )


def test_a_reader_that_had_enough_ends_the_command_quietly() -> None:
    command = f"{sys.executable} -m engines moves dualma | head -n 1"
    done = subprocess.run(("sh", "-c", command), cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("a1:a2\n", "")


def test_a_closed_output_causes_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "engines", "games"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == b""


def run_in_shell(command: str) -> tuple[int, str, str]:
    """Exit code, output and complaint of ``python -m engines``, with redirections as a shell knows them."""
    words = ("sh", "-c", f"{sys.executable} -m engines {command}")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["games", "verify /dev/null"])
def test_an_output_that_takes_nothing_is_named_in_a_sentence(command: str) -> None:
    full = (2, "", "cannot write to standard output: No space left on device\n")
    assert run_in_shell(f"{command} >/dev/full") == full
    assert run_in_shell(f"{command} >&-") == (2, "", "cannot write to standard output: it is closed\n")


def test_a_complaint_never_goes_to_standard_output() -> None:
    assert run_in_shell("moves chess 2>&-") == (2, "", "")


def test_a_file_that_fails_while_it_is_read_is_named() -> None:
    complaint = "cannot read '/proc/self/mem': Input/output error\n"
    assert run_in_shell("verify /proc/self/mem") == (2, "", complaint)
