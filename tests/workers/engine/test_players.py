"""UGI from the side of an engine: the lines that it receives, and when."""

from __future__ import annotations

import errno
import re
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from engines.records.seeds import derive_seed
from tests.support.jobs import bad_engine, job_of, nothing_left, play_job
from workers.engine import players
from workers.jobs import EngineSpec, GameReport

pytestmark = pytest.mark.slow

DECLARES_SEED = r"option name UGI_Seed type spin default 0"
DECLARES_VARIANT = r"option name UGI_Variant type combo default duovallis var duovallis var dogon-kulei\n"


def play(one: EngineSpec, two: EngineSpec | None = None, **more: Any) -> list[GameReport]:
    return play_job(job_of(one, two or bad_engine(), **more)).reports


def lines_sent(lines: str) -> list[str]:
    """The lines sent to the engine, without their times."""
    return re.findall(r"^ *[\d.]+ > (.*)$", lines, re.MULTILINE)


def test_the_lines_of_a_game_are_sent_in_the_protocol_s_order() -> None:
    (report,) = play(bad_engine(), ply_limit=3, time_control="5+0.5;depth=9")
    assert report.termination == "ply limit"
    sent = lines_sent(report.white.lines)
    go = r"go p1time \d+ p2time \d+ p1inc 500 p2inc 500 depth 9"
    expected = [
        "ugi",
        "uginewgame",
        "isready",
        "position startpos",
        go,
        r"position startpos moves d1\+ d2-",
        go,
        r"gameover (p1win|p2win|draw) ply limit",
    ]
    assert len(sent) == len(expected)
    assert all(re.fullmatch(pattern, line) for pattern, line in zip(expected, sent, strict=True)), sent


def test_a_given_position_is_sent_with_the_moves_since() -> None:
    fen = "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 10"
    (report,) = play(bad_engine(), fen=fen, opening=("d1+", "d2-"), ply_limit=13, time_control="nodes=5")
    assert f"position fen {fen} moves d1+ d2-" in lines_sent(report.white.lines)
    assert "go nodes 5" in lines_sent(report.white.lines)


def test_the_second_game_of_a_process_needs_no_handshake() -> None:
    second = play(bad_engine(options=(("Hash", "16"),)), games=2, ply_limit=2)[1]
    assert lines_sent(second.black.lines)[:2] == ["uginewgame", "isready"]


def test_options_are_set_before_the_first_game() -> None:
    options = (("Hash", "16"), ("Style Of Play", "very bold"), ("Empty", ""))
    (report,) = play(bad_engine(options=options))
    assert lines_sent(report.white.lines)[1:4] == [
        "setoption name Hash value 16",
        "setoption name Style Of Play value very bold",
        "setoption name Empty value ",
    ]
    assert not any("UGI_" in line for line in lines_sent(report.white.lines))


def test_the_variant_is_set_first_if_it_was_declared() -> None:
    (report,) = play(bad_engine("ugi", "also", DECLARES_VARIANT, options=(("Hash", "16"),)))
    assert lines_sent(report.white.lines)[1] == "setoption name UGI_Variant value dogon-kulei"


# Seeds


def seeds(declared: str, **more: Any) -> list[int]:
    """The seeds that an engine receives in the games of a job."""
    reports = play(bad_engine("ugi", "also", declared + r"\n"), ply_limit=1, games=2, **more)
    found = (re.findall(r"UGI_Seed value (.*)", r.white.lines + r.black.lines) for r in reports)
    return [int(seed) for (seed,) in found]


@pytest.mark.parametrize(
    ("bounds", "least", "most"),
    [
        ("min 5 max 9", 5, 9),
        ("min 0 max 9223372036854775807", 0, 2**31 - 1),
        ("min -5 max 3", 0, 3),
        ("min 7 max 3", 7, 7),
        ("", 0, 2**31 - 1),
    ],
)
def test_seeds_are_sent_in_the_declared_range(bounds: str, least: int, most: int) -> None:
    sent = seeds(f"{DECLARES_SEED} {bounds}", seed=3)
    assert len(sent) == 2
    assert all(least <= seed <= most for seed in sent)


def test_a_seed_depends_on_the_run_and_the_game() -> None:
    sent = seeds(DECLARES_SEED, seed=3)
    assert sent == [derive_seed(3, "spring/1/1/1"), derive_seed(3, "spring/1/1/2")]
    assert sent == seeds(DECLARES_SEED, seed=3)
    assert len({*sent, *seeds(DECLARES_SEED, seed=4)}) == 4


def test_seeds_are_the_same_on_every_machine() -> None:
    assert derive_seed(0, "a/1/2/3") == 815678050


# Time


def test_the_time_of_a_move_is_its_own_and_is_recorded() -> None:
    (report,) = play(bad_engine("go:1", "late", "0.5"), ply_limit=3)
    first, second, third = (float(comment.removesuffix("s")) for _, comment in report.moves)
    assert first >= 0.5
    assert min(second, third) < 0.5


def test_the_search_info_of_an_engine_is_recorded() -> None:
    info = r"info depth 3 score cp 12 nodes 7\ninfo nodes 900 pv d1+ d2-\n"
    (report,) = play(bad_engine("go", "also", info), ply_limit=1)
    assert re.fullmatch(r"\+0\.12/3 \d\.\d{3}s 900n pv d1\+ d2-", report.moves[0][1])


def test_without_a_clock_an_engine_that_hangs_is_still_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "UNTIMED_SECONDS", 0.2)
    (report,) = play(bad_engine("go", "hang", "-"), time_control="depth=1")
    assert (report.termination, report.fault) == ("time forfeit", "white")


# What is whose fault


def test_a_missing_program_is_the_author_s_fault() -> None:
    missing, denied = "No such file or directory", "Permission denied"
    for program, why in (("/nowhere/engine", missing), ("/etc/passwd", denied), ("no-such-program", missing)):
        (report,) = play(EngineSpec("None", "1", (program,)))
        assert (report.termination, report.fault) == ("crash", "white")
        assert report.evidence == f"the program cannot be started: {why}"


def test_a_machine_that_cannot_start_a_process_is_not_the_engine_s_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", no_room)
    (report,) = play(bad_engine())
    assert (report.termination, report.fault) == ("void", "infrastructure")
    assert report.evidence == "no process can be started: Resource temporarily unavailable"
    assert list(tmp_path.iterdir()) == []


# The end


def test_an_engine_that_ignores_quit_is_ended_after_half_a_second() -> None:
    mark = f"mark-{uuid.uuid4()}"
    with nothing_left(mark):
        play(bad_engine("quit", "resist", "-", mark=mark), bad_engine(mark=mark), ply_limit=1)


def test_both_engines_receive_the_end_of_the_game() -> None:
    (report,) = play(bad_engine("go:2", "only", r"bestmove x\n"))
    assert "gameover p2win illegal move" in lines_sent(report.black.lines)
    assert lines_sent(report.black.lines)[-1].startswith("gameover")


def test_times_in_the_log_count_from_the_games_start() -> None:
    started = time.monotonic()
    second = play(bad_engine("go:1", "late", "0.5"), games=2, ply_limit=2)[1]
    took = time.monotonic() - started
    times = [float(line.split()[0]) for line in second.white.lines.splitlines()]
    assert times == sorted(times)
    assert times[0] < 0.5, "the first game took longer"
    assert times[-1] < took
