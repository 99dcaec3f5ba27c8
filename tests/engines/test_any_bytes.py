"""Any bytes as messages, as a file of records, as arguments: an answer or a sentence, and no exception."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engines.__main__ import DISAGREES, main
from engines.console import BAD_INPUT
from engines.files import COMPRESSED, GZIP
from engines.protocol import (
    Info,
    ProtocolError,
    format_message,
    last_info,
    parse_engine_line,
    parse_number,
    parse_server_line,
)
from engines.records import Record, RecordError, find_disagreements, format_record, read_records
from engines.rules import GAMES
from tests.engines.protocol.test_messages import FROM_ENGINE, TO_ENGINE
from tests.engines.rules.test_position_strings import TEXTS, TOKENS
from tests.support.effort import EXAMPLES
from tests.support.fuzz import noise
from tests.support.records import random_moves, record_of

lines = noise([*TO_ENGINE, *FROM_ENGINE])


@settings(max_examples=2 * EXAMPLES)
@given(lines)
def test_any_bytes_are_a_message_or_none(line: str) -> None:
    parse_engine_line(line)
    parse_server_line(line)
    parse_number(line)


@settings(max_examples=2 * EXAMPLES)
@given(lines)
def test_a_parsed_message_is_formatted_and_parsed_the_same_or_refused(line: str) -> None:
    for parse in (parse_engine_line, parse_server_line):
        message = parse(line)
        if message is None:
            continue
        try:
            written = format_message(message)
        except ProtocolError:
            continue
        assert "\n" not in written
        assert parse(written) == message


@given(st.lists(lines.map(str.encode) | st.binary(max_size=100) | lines, max_size=6))
def test_the_last_info_of_any_bytes_is_one(said: list[bytes | str]) -> None:
    assert isinstance(last_info(said), Info)


GOOD = [format_record(record_of(code, random_moves(code, 1)[:20], book=2)) for code in GAMES]
files = noise(GOOD)
patient = settings(suppress_health_check=[HealthCheck.too_slow])


@patient
@given(files)
@example('[FEN "' + "9" * 100_000 + '"]\n\n*')
@example('[Game "dualma"]\n[PlyLimit "' + "9" * 5000 + '"]\n\n1. ' + "x" * 100_000 + " *")
@example("{" * 50_000 + "\n" + "(" * 50_000)
def test_any_bytes_are_records_and_errors(text: str) -> None:
    for record in read_records(io.StringIO(text), "games.pgn"):
        if isinstance(record, RecordError):
            assert "\n" not in str(record)
            continue
        assert isinstance(record, Record)
        for disagreement in find_disagreements(record):
            assert disagreement.sentence


@patient
@given(files)
@example("\0" + GOOD[0])
def test_a_good_game_after_any_bytes_is_read(text: str) -> None:
    (good,) = read_records(io.StringIO(GOOD[0]), "good.pgn")
    *_, last = read_records(io.StringIO(f"{text}\n\n{GOOD[0]}"), "games.pgn")
    assert last == good


@settings(parent=patient, max_examples=EXAMPLES // 2)
@given(files)
@example("BZh")
def test_verify_finds_games_or_faults_in_any_file_and_refuses_only_compressed_ones(text: str) -> None:
    content = text.encode("utf-8", "surrogateescape")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "games.pgn"
        path.write_bytes(content)
        code = main(["verify", str(path)])
    assert code in ([BAD_INPUT] if content.startswith((GZIP, *COMPRESSED)) else [0, DISAGREES])


codes = st.sampled_from([*GAMES]) | noise([*GAMES])
fens = st.sampled_from(TEXTS) | noise(TEXTS)
move_tokens = st.sampled_from(TOKENS) | noise(TOKENS)
starts: st.SearchStrategy[list[str]] = st.builds(list) | fens.map(lambda fen: ["--fen", fen])


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    """A command line that makes sense at first sight; ``perft`` stays shallow."""
    name = draw(st.sampled_from(["codes", "perft", "moves", "play", "show", "verify", "zap"]))
    words = [] if name == "codes" else [draw(codes)]
    if name == "perft":
        words.append(draw(st.sampled_from(["0", "1", "-1", "01", "x", "", "9" * 5000, "\u0661"])))
    if name == "play":
        words += draw(st.lists(move_tokens, max_size=4))
    if name == "show":
        words += draw(st.sampled_from([[], ["--svg"]]))
    return [name, *words, *draw(starts)]


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(commands() | st.lists(noise(["moves", *GAMES]), max_size=4))
def test_any_arguments_are_answered_or_refused_in_a_sentence(arguments: list[str]) -> None:
    out, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    assert code in (0, 2)
    assert bool(complaint.getvalue()) == (code == 2)
