"""Matches with real engines, started from the command line."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engines.bots import random_bot
from engines.bundles.store import pack_bundle
from engines.records import Record, verify_record
from tests.support.jobs import processes_with, wait_until
from tests.support.matches import QUICK, engine, finish_match, read_games, run_match, slots_of, start_match

pytestmark = pytest.mark.slow

RANDOM_BOTS = [
    word for name in "AB" for word in ("-engine", "cmd=python3 -m engines.bots.random_bot", f"name={name}")
]
MANIFEST = b"""[bot]
name = "Stray"
version = "2.1"
command = ["python3", "main.py"]
games = ["dogon-kulei"]
"""


def timeless(record: Record) -> tuple[object, ...]:
    """A record without its times and date."""
    headers = [header for header in record.headers if header[0] != "Date"]
    return (headers, [move.token for move in record.moves], record.result)


def test_a_round_robin_is_played_recorded_and_reported(tmp_path: Path) -> None:
    done = run_match(tmp_path, *engine("A"), *engine("B"), *engine("C"), *QUICK, "-concurrency", "2")
    warnings = [] if len(os.sched_getaffinity(0)) > 1 else ["warning: -concurrency 2: there is 1 core"]
    assert (done.code, [line.partition(";")[0] for line in done.err.splitlines()]) == (0, warnings)
    assert len(done.games) == 6
    assert all(verify_record(record) == [] for record in done.games.values())
    met = sorted(f"{record.header('White')}-{record.header('Black')}" for record in done.games.values())
    assert met == ["A-B", "A-C", "B-A", "B-C", "C-A", "C-B"]
    assert "6/6  dogon-kulei" in done.out
    assert done.out.count("dogon-kulei/") == 6


def test_the_same_seed_gives_the_same_games_at_any_concurrency(tmp_path: Path) -> None:
    words = [*RANDOM_BOTS, *"-game dualma -tc nodes=1 -rounds 4 -seed 7".split()]
    played = []
    for slots in ("1", "3"):
        folder = tmp_path / slots
        folder.mkdir()
        done = run_match(folder, *words, "-concurrency", slots)
        played.append({key: timeless(record) for key, record in done.games.items()})
    assert played[0] == played[1]
    assert len(played[0]) == 8
    assert len({str(moves) for _, moves, _ in played[0].values()}) == 8


def test_both_games_of_a_pair_begin_with_one_opening(tmp_path: Path) -> None:
    bot = ["-engine", "cmd=python3 -m engines.bots.random_bot"]
    done = run_match(
        tmp_path,
        *bot,
        "name=A",
        *bot,
        "name=B",
        *"-game dogon-kulei -tc nodes=1 -rounds 2 -openings random:4".split(),
    )
    openings = [[move.token for move in record.moves if move.book] for record in done.games.values()]
    assert [len(opening) for opening in openings] == [4] * 4
    assert openings[0] == openings[1] != openings[2] == openings[3]


def test_engines_with_a_time_control_each_play_by_it_and_the_record_has_it(tmp_path: Path) -> None:
    words = [*engine("A", keys=["tc=20+0"]), *engine("B"), *engine("C"), *QUICK]
    done = run_match(tmp_path, *words, "-log", "logs")
    for record in done.games.values():
        controls = [record.header(f"{side}TimeControl") for side in ("", "White", "Black")]
        own = ["20+0" if record.header(side) == "A" else "5+0" for side in ("White", "Black")]
        assert controls == (["5+0", *own] if "20+0" in own else ["5+0", "", ""])
        log = (tmp_path / "logs" / f"{record.header('GameId').replace('/', '-')}.log").read_text()
        assert ("p1time 20000" in log) == (own[0] == "20+0")
    assert {record.has("WhiteTimeControl") for record in done.games.values()} == {True, False}


# Faults


def test_a_forfeit_is_reported_with_the_engine_s_output_and_the_match_continues(tmp_path: Path) -> None:
    words = [
        *engine("Good"),
        *engine("Bad", "go:2", "leave", "3", "start", "complain", "30"),
        *QUICK,
        "-rounds",
        "2",
    ]
    done = run_match(tmp_path, *words)
    assert done.code == 0
    assert [record.header("Termination") for record in done.games.values()] == ["crash"] * 4
    assert all("exit code 3" in record.header("Evidence") for record in done.games.values())
    for text in (done.out, (tmp_path / "match.pgn.faults").read_text()):
        assert "the last lines of Bad:" in text
        assert "> go" in text
        assert "FIRST" in text
        assert "lines of Good" not in text


def test_without_recovery_a_crash_ends_the_match(tmp_path: Path) -> None:
    words = [*engine("Good"), *engine("Bad", "go:1", "leave", "3"), *QUICK, "-rounds", "5", "-recover", "off"]
    done = run_match(tmp_path, *words)
    assert done.code == 3
    assert len(done.games) == 1, "not even the other game of the pair is played"
    assert "Bad is at fault" in done.out


def test_an_engine_that_forfeits_again_and_again_is_withdrawn(tmp_path: Path) -> None:
    words = [
        *engine("A"),
        *engine("Bad", "go", "leave", "3"),
        *engine("B"),
        *QUICK,
        "-rounds",
        "3",
        "-withdraw",
        "3",
    ]
    done = run_match(tmp_path, *words)
    assert done.code == 1
    bad = [
        record for record in done.games.values() if "Bad" in (record.header("White"), record.header("Black"))
    ]
    assert len(bad) == 4
    assert len(done.games) == 4 + 6
    assert "Bad (withdrawn)" in done.out
    assert "8 games were left out" in done.out


# Interrupting and continuing


def test_an_interrupted_match_finishes_its_games_and_can_be_resumed(tmp_path: Path, mark: str) -> None:
    """Interrupt a match whose third game waits for the interrupt."""
    note, gate = tmp_path / "note", tmp_path / "gate"
    plan = ("go:7", "note", f"A {note}", "go:7", "wait", str(gate))
    words = [*engine("A", *plan, mark=mark), *engine("B", mark=mark), *QUICK, "-rounds", "10"]
    match = start_match(tmp_path, *words)
    assert match.stdout is not None
    lines = [match.stdout.readline() for _ in range(4)]
    assert lines[-1].startswith(" 2/20")
    assert wait_until(note.exists)
    match.send_signal(signal.SIGINT)
    assert "the running games are finished" in match.stdout.readline()
    gate.touch()
    stopped = finish_match(match, tmp_path)
    assert stopped.code == 3
    assert "continue with -resume" in stopped.out
    assert 3 <= len(stopped.games) < 20
    assert processes_with(mark) == []
    done = run_match(tmp_path, *words, "-resume")
    assert (done.code, len(read_games(done.records)), len(done.games)) == (0, 20, 20)


def test_a_second_interrupt_aborts_the_games_of_a_match(tmp_path: Path, mark: str) -> None:
    words = [*engine("A", "go", "resist", "-", mark=mark), *engine("B", mark=mark), *QUICK]
    match = start_match(tmp_path, *words[: words.index("-tc")], "-tc", "60+0")
    assert wait_until(lambda: len(processes_with(mark)) == 2)
    match.send_signal(signal.SIGTERM)
    assert match.stdout is not None
    assert [match.stdout.readline() for _ in range(3)] == [
        "2 games\n",
        "Clocks count wall time, also when the machine is busy: engines run without a sandbox.\n",
        "the running games are finished; interrupt again to abort them\n",
    ]
    match.send_signal(signal.SIGTERM)
    stopped = finish_match(match, tmp_path)
    assert stopped.code == 3
    assert stopped.games == {}
    assert processes_with(mark) == []


def test_games_of_a_slot_that_is_killed_are_played_again(tmp_path: Path, mark: str) -> None:
    gate = tmp_path / "gate"
    words = [*engine("A", "go:2", "wait", str(gate), mark=mark), *engine("B", mark=mark), *QUICK]
    match = start_match(tmp_path, *words, "-rounds", "2")
    assert wait_until(lambda: len(processes_with(mark)) == 2)
    (slot,) = slots_of(match)
    os.kill(slot, signal.SIGKILL)
    gate.touch()
    done = finish_match(match, tmp_path)
    assert (done.code, len(done.games)) == (0, 4)
    assert "a slot ended unexpectedly; game dogon-kulei/1/1/" in done.out
    assert processes_with(mark) == []


def open_files(process: int) -> set[str]:
    """Files and pipes, without those of standard input and output."""
    folder = Path(f"/proc/{process}/fd")
    found = {os.readlink(entry) for entry in folder.iterdir() if int(entry.name) > 2}
    return {name for name in found if not name.startswith("anon_inode:")}


def test_a_slot_shares_only_its_two_pipes_with_the_match_and_nothing_with_other_slots(
    tmp_path: Path, mark: str
) -> None:
    """So it ends with the match, and leaves the record file unlocked."""
    words = [*engine("A", "go:1", "hang", "-", mark=mark), *engine("B", mark=mark), *QUICK]
    match = start_match(tmp_path, *words, "-rounds", "2", "-concurrency", "2")
    assert wait_until(lambda: len(processes_with(mark)) == 4)
    one, two = map(open_files, slots_of(match))
    of_match = open_files(match.pid)
    assert any(name.endswith("match.pgn") for name in of_match)
    assert (len(one & of_match), len(two & of_match), len(one & two)) == (2, 2, 0)
    match.kill()
    finish_match(match, tmp_path)
    assert wait_until(lambda: not processes_with(mark))


def test_a_test_ends_a_match_when_it_is_decided(tmp_path: Path) -> None:
    words = [*engine("Good"), *engine("Bad", "go:3", "leave", "3"), *QUICK, "-json"]
    done = run_match(tmp_path, *words, *"-sprt elo0=0 elo1=100 -concurrency 2".split())
    assert done.code == 0
    sprt, ended = done.events[-2:]
    assert (sprt["event"], sprt["verdict"]) == ("sprt", "H1")
    assert sprt["llr"] >= sprt["upper"]
    assert ended["why"] == "decided"
    assert 2 * sum(sprt["pairs"]) <= ended["played"] == len(done.games) < 200


def test_a_match_that_cannot_write_names_the_file_and_can_be_continued(tmp_path: Path) -> None:
    words = [*engine("Good"), *engine("Bad", "go:2", "leave", "3"), *QUICK]
    faults = tmp_path / "match.pgn.faults"
    faults.mkdir()
    stopped = run_match(tmp_path, *words)
    assert (stopped.code, len(stopped.games)) == (3, 1)
    assert stopped.err == (
        "match.pgn.faults: cannot be written: Is a directory; continue with -resume when it can be\n"
    )
    faults.rmdir()
    done = run_match(tmp_path, *words, "-resume")
    assert (done.code, len(done.games)) == (0, 2)


def test_a_match_is_only_continued_with_the_same_terms(tmp_path: Path) -> None:
    words = [*engine("A"), *engine("B"), *QUICK]
    assert run_match(tmp_path, *words).code == 0
    again = run_match(tmp_path, *words)
    assert (again.code, again.err) == (
        2,
        "-records match.pgn: the file already has games; continue them with -resume\n",
    )
    other = run_match(tmp_path, *words, "-seed", "3", "-resume")
    assert other.code == 2
    assert "match.pgn is from a match with other terms: seed was 0, not 3" in other.err
    assert run_match(tmp_path, *words, "-rounds", "2", "-resume").code == 0
    assert len(read_games(other.records)) == 4


# Engines


def test_a_bundle_plays_as_it_is(tmp_path: Path) -> None:
    source = Path(random_bot.__file__).read_bytes()
    (tmp_path / "bot.zip").write_bytes(pack_bundle({"bot.toml": MANIFEST, "main.py": source}))
    done = run_match(tmp_path, "-engine", "cmd=bot.zip", *engine("B"), *QUICK)
    assert (done.code, done.err) == (0, "")
    first = next(iter(done.games.values()))
    assert (first.header("White"), first.header("WhiteVersion")) == ("Stray", "2.1")


@pytest.mark.parametrize(("restart", "processes"), [("on", 4), ("auto", 1), ("off", 1)])
def test_engines_are_kept_or_restarted_as_asked(tmp_path: Path, restart: str, processes: int) -> None:
    note = tmp_path / "starts"
    starter = f"sh -c 'echo >> {note}; exec \"$@\"' sh"
    cmd = engine("A")[2].removeprefix("cmd=")
    words = ["-engine", "name=A", f"cmd={starter} {cmd}", *engine("B"), *QUICK, "-rounds", "2"]
    assert run_match(tmp_path, *words, "-each", f"restart={restart}").code == 0
    assert len(note.read_text().splitlines()) == processes


def test_the_lines_of_every_game_are_kept_on_request(tmp_path: Path) -> None:
    run_match(tmp_path, *engine("A"), *engine("B"), *QUICK, "-log", "logs")
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == [
        "dogon-kulei-1-1-1.log",
        "dogon-kulei-1-1-2.log",
    ]
    assert "> position startpos moves d1+" in (tmp_path / "logs" / "dogon-kulei-1-1-1.log").read_text()
