"""Engines that cannot be started, and options that they do not take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.matches import QUICK, engine, game_of, run_match
from workers.engine.declared import Unsuited
from workers.jobs import EngineSpec, SideLog
from workers.match.director import EngineStarts
from workers.match.slots.messages import IntroducedEngine, SlotGame

FIRST = "dogon-kulei/1/1/1"
OPTIONS = (
    r"option\x20name\x20Hash\x20type\x20spin\x20default\x204\x20min\x201\x20max\x209\n"
    r"option\x20name\x20Style\x20type\x20combo\x20default\x20a\x20var\x20a\x20var\x20b\n"
)


def failed(**game: Any) -> SlotGame:
    log = SideLog(stderr="no such file: net.bin\n")
    return SlotGame(game_of(FIRST, "A", "B", **game), "", "no ugiok within 10 seconds", log, log)


ENGINES = [EngineSpec(name, "", ("/bin/bot", "--x y"), directory="/d") for name in "AB"]


def test_an_engine_that_never_started_is_reported_with_command_and_standard_error() -> None:
    report = EngineStarts().explain_failure(
        failed(termination="stall", fault="black", has_moves=False), ENGINES
    )
    assert report.splitlines()[:3] == [
        "the match ends: B never answered ugiok",
        "  the command of B: /bin/bot '--x y' (in /d)",
        "  no ugiok within 10 seconds",
    ]
    assert "no such file: net.bin" in report


def test_an_engine_that_once_started_or_that_lost_later_is_not_reported() -> None:
    known = EngineStarts()
    known.add(IntroducedEngine("B", ()))
    assert known.explain_failure(failed(termination="stall", fault="black", has_moves=False), ENGINES) == ""
    assert EngineStarts().explain_failure(failed(termination="crash", fault="black"), ENGINES) == ""
    assert EngineStarts().explain_failure(failed(), ENGINES) == ""


def test_an_option_that_does_not_suit_is_named_once() -> None:
    known = EngineStarts()
    unsuited = Unsuited("X", "it declares no option 'X'")
    assert known.add(IntroducedEngine("A", (unsuited,))) == [unsuited]
    assert known.add(IntroducedEngine("A", (unsuited,))) == []
    assert known.add(IntroducedEngine("B", (unsuited,))) == [unsuited]


@pytest.mark.slow
def test_an_engine_that_never_answers_ends_the_match_and_no_game_is_lost(tmp_path: Path) -> None:
    words = [*engine("Good"), *engine("Bad", "ugi", "complain", "40", "ugi", "leave", "127"), *QUICK]
    done = run_match(tmp_path, *words, "-rounds", "50")
    assert done.code == 3
    assert "the match ends: Bad never answered ugiok" in done.out
    assert "  the command of Bad: " in done.out
    assert "exit code 127" in done.out
    assert "FIRST" in done.out
    assert done.games == {}


@pytest.mark.slow
def test_a_test_is_not_decided_by_engines_that_do_not_start(tmp_path: Path) -> None:
    """The engine starts once; its second game crashes at the start, and so do all further ones."""
    note = tmp_path / "started"
    script = f'if [ -e {note} ]; then exit 3; fi; exec "$@"'
    words = engine("Bad", "go:1", "note", f"x {note}", "go:3", "leave", "4")
    command = words[2].removeprefix("cmd=")
    words[2] = f"cmd=sh -c '{script}' sh {command}"
    done = run_match(tmp_path, *engine("Good"), *words, *QUICK, *"-sprt elo0=0 elo1=100".split())
    assert done.code == 3
    assert "Bad failed 10 times in a row before its first move" in done.out
    assert "The test is undecided" in done.out
    assert "games are forfeits (Bad 1" in done.out


@pytest.mark.slow
def test_two_engines_that_cannot_start_are_both_reported(tmp_path: Path) -> None:
    words = [*engine("A", "ugi", "leave", "1"), *engine("B", "ugi", "leave", "1"), *QUICK]
    done = run_match(tmp_path, *words)
    assert (done.code, done.games) == (3, {})
    assert "the match ends: A and B never answered ugiok" in done.out


@pytest.mark.slow
def test_an_option_that_an_engine_does_not_take_is_warned_of_once(tmp_path: Path) -> None:
    keys = ["option.Foo=7", "option.hash=12", "option.Style=b", "restart=on"]
    done = run_match(tmp_path, *engine("A", "ugi", "also", OPTIONS, keys=keys), *engine("B"), *QUICK)
    assert done.code == 0
    assert done.out.count("warning: A: it declares no option 'Foo'; it was set all the same") == 1
    assert done.out.count("warning: A: option 'hash' takes a whole number from 1 to 9, not '12'") == 1
    assert done.out.count("warning") == 2


@pytest.mark.slow
def test_a_strict_match_refuses_such_an_option(tmp_path: Path) -> None:
    done = run_match(tmp_path, *engine("A", keys=["option.Foo=7"]), *engine("B"), *QUICK, "-strict")
    assert (done.code, done.games) == (2, {})
    assert "the match ends: -strict: A: it declares no option 'Foo'" in done.out


@pytest.mark.slow
def test_a_ladder_that_an_engine_does_not_declare_is_not_played(tmp_path: Path) -> None:
    ladders = r"option\x20name\x20UGI_Variant\x20type\x20combo\x20default\x20dualma\x20var\x20dualma\n"
    done = run_match(tmp_path, *engine("A", "ugi", "also", ladders), *engine("B"), *QUICK)
    assert (done.code, done.games) == (2, {})
    assert "the match ends: A: option 'UGI_Variant' takes one of 'dualma', not 'dogon-kulei'" in done.out


@pytest.mark.slow
def test_each_ladder_of_a_match_must_be_declared(tmp_path: Path) -> None:
    ladders = (
        r"option\x20name\x20UGI_Variant\x20type\x20combo\x20default\x20dogon-kulei\x20var\x20dogon-kulei\n"
    )
    words = [*engine("A", "ugi", "also", ladders), *engine("B"), *QUICK]
    done = run_match(tmp_path, *words, "-game", "dogon-kulei", "dogon-gagara")
    assert done.code == 2
    assert "A: option 'UGI_Variant' takes one of 'dogon-kulei', not 'dogon-gagara'" in done.out


@pytest.mark.slow
def test_a_line_without_an_end_is_named_and_logged(tmp_path: Path) -> None:
    words = [*engine("Bad", "ugi", "only", "ugiok"), *engine("Good"), *QUICK, "-startup", "1"]
    done = run_match(tmp_path, *words)
    assert done.code == 3
    assert "no ugiok within 1 seconds: 5 bytes have no line end: 'ugiok'" in done.out
    assert "< ugiok" in done.out


@pytest.mark.slow
def test_a_margin_and_a_time_to_start_of_one_engine(tmp_path: Path) -> None:
    slow = ["ugi:1", "late", "1.5", "go:2", "late", "0.9"]
    words = [*engine("A", *slow, keys=["timemargin=60000"]), *engine("B"), *QUICK[:2], "-openings", "none"]
    done = run_match(tmp_path, *words, *"-plylimit 6 -tc 0.2/move".split())
    assert done.code == 0
    assert "time forfeit" not in done.out
    (tmp_path / "match.pgn").unlink()
    done = run_match(tmp_path, *words, *"-plylimit 6 -tc 60+0 -startup 1".split())
    assert done.code == 3
    assert "no ugiok within 1 seconds" in done.out
