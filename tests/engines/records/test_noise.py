"""Reading any bytes as a file of records yields its games and errors, and raises nothing."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, example, given, settings

from engines.__main__ import COMPRESSED, DISAGREES, main
from engines.console import BAD_INPUT
from engines.records import Record, RecordError, find_disagreements, format_record, read_records
from engines.rules import GAMES
from tests.support.effort import EXAMPLES
from tests.support.fuzz import noise
from tests.support.records import random_moves, record_of

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
    assert code in ([BAD_INPUT] if content.startswith(tuple(COMPRESSED)) else [0, DISAGREES])
