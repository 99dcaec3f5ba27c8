"""Kills a match again and again, and checks that every game is played once.

The runner (``python -m workers match``) is ended by ``kill -9`` at random moments, sometimes during its
start, and continues with ``-resume``. Before some runs the record file loses its last bytes, as after
a failure of the machine, or the state file is deleted. At the end the records, the standings and the
state are compared with the plan and with an independent count of the records. The exit code is 1 if
anything is wrong.

    python -m benchmarks.kills --kills 100
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engines.records import Record, verify_record
from engines.rules.base import Result
from tests.support.jobs import processes_with, wait_until
from tests.support.matches import QUICK, Finished, engine, finish_match, read_games, run_match, start_match

MAX_RUN_GAMES: Final = 60
"""The most games that a runner reports before it is killed; on average half of them."""
MOMENT_SECONDS: Final = 0.05
"""It is killed within this time after the last of them, during another game."""
START_EVERY: Final = 5
"""Each such run is killed during its start, at the latest in its first game."""
START_SECONDS: Final = 0.5
"""A little more than the time of a start."""
GAMES_A_RUN: Final = 80
"""More games than a run plays, so that games are left for every run."""
TEAR_EVERY: Final = 3
"""Before each such run the record file loses its end."""
TORN_BYTES: Final = 1500
"""The most bytes that it loses: a game or two."""
FORGET_EVERY: Final = 4
"""Before each such run the state file is deleted."""
DEATH_SECONDS: Final = 1.0
"""The time limit for slots and engines to end after their runner."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome; ``wrong`` are sentences, none if everything is correct."""

    kills: int
    torn: int
    forgotten: int
    games: int
    wrong: tuple[str, ...]


def run_kills(folder: Path, kills: int, games: int, seed: int = 0) -> Outcome:
    """Play a match in ``folder``, which must be empty, with the given number of kills, to its end."""
    mark, dice = f"mark-{uuid.uuid4()}", random.Random(seed)
    words = list(_words(mark, games))
    records, state = folder / "match.pgn", folder / "match.pgn.state"
    killed = torn = forgotten = 0
    wrong: list[str] = []
    for number in range(kills):
        if number % TEAR_EVERY == TEAR_EVERY - 1:
            torn += _tear(records, dice.randint(1, TORN_BYTES))
        if number % FORGET_EVERY == FORGET_EVERY - 1:
            forgotten += _forget(state)
        plays, longest = dice.randint(1, MAX_RUN_GAMES), None
        if number % START_EVERY == 0:
            plays, longest = 1, dice.uniform(0, START_SECONDS)
        life = live(folder, words, mark, plays, dice.uniform(0, MOMENT_SECONDS), longest)
        killed += life.was_killed
        wrong += life.wrong
    ended = finish_match(start_match(folder, *words, "-resume"), folder, seconds=None)
    played = read_games(records)
    wrong += compare_records(played, run_match(folder, *words, "-dry-run").events)
    wrong += compare_standings(played, ended.events)
    wrong += compare_state(played, run_match(folder, *words, "-resume"), state)
    return Outcome(killed, torn, forgotten, len(played), tuple(wrong))


def _words(mark: str, games: int) -> Iterator[str]:
    """The arguments of ``python -m workers match``; see docs/match.md."""
    for name, *plan in ("A",), ("B",), ("C", "go:3", "only", r"bestmove resign\n"):
        yield from engine(name, "go:1", "late", "0.01", *plan, mark=mark)
    yield from QUICK
    yield from ("-rounds", str(-(-games // 6)), "-concurrency", "2", "-json")


def _tear(records: Path, count: int) -> bool:
    """Cut bytes off the end of the file, if it has any."""
    size = records.stat().st_size if records.exists() else 0
    if size:
        os.truncate(records, max(0, size - count))
    return size > 0


def _forget(state: Path) -> bool:
    """Delete the state file, if there is one."""
    there = state.exists()
    state.unlink(missing_ok=True)
    return there


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the runner, which may reach the match's end before it is killed."""

    was_killed: bool
    wrong: tuple[str, ...]


def live(
    folder: Path, words: Sequence[str], mark: str, plays: int, moment: float, longest: float | None
) -> Run:
    """Play ``games`` games and ``moment`` seconds more, but at most ``longest`` seconds; then kill it."""
    match = start_match(folder, *words, "-resume")
    assert match.stdout is not None
    killer = threading.Timer(longest or 0.0, match.kill)
    if longest is not None:
        killer.start()
    games = (line for line in match.stdout if json.loads(line)["event"] == "game")
    for _ in zip(range(plays), games, strict=False):
        pass
    with contextlib.suppress(subprocess.TimeoutExpired):
        match.wait(moment)
    match.kill()
    killer.cancel()
    _, errors = match.communicate()
    wrong = [f"it complained: {errors}"] if errors else []
    if match.returncode not in (0, -signal.SIGKILL):
        wrong.append(f"it ended by itself with exit code {match.returncode}")
    if not wait_until(lambda: not processes_with(mark), DEATH_SECONDS):
        wrong.append(f"engines outlived it: {processes_with(mark)}")
    return Run(match.returncode != 0, tuple(wrong))


def compare_records(games: Sequence[Record], plan: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Compare the record file with the planned games."""
    planned = {game["id"]: (game["white"], game["black"]) for game in plan}
    times = Counter(game.header("GameId") for game in games)
    yield from (f"game {key} is missing" for key in planned if not times[key])
    yield from (f"game {key} is there {number} times" for key, number in times.items() if number > 1)
    for game in games:
        key = game.header("GameId")
        if planned.get(key) != (game.header("White"), game.header("Black")):
            yield f"game {key} is not in the plan"
        yield from (f"game {key}: {sentence}" for sentence in verify_record(game))


def compare_standings(games: Sequence[Record], events: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Compare the last runner's table, mostly of games of earlier runs, with a count of the records."""
    rows = {row["name"]: row for row in _only(events, "table")["rows"]}
    points = _half_points(games)
    for name, row in rows.items():
        mine = [half for (_, who), halves in points.items() if who == name for half in halves]
        counted = {"wins": mine.count(2), "draws": mine.count(1), "losses": mine.count(0)}
        pairs = [sum(halves) for (_, who), halves in points.items() if who == name and len(halves) == 2]
        told = {key: row[key] for key in counted}
        if told != counted or row["pairs"] != [pairs.count(score) for score in range(5)]:
            yield f"the table has {row} of {name}, the records {counted} and the pairs {pairs}"


def _half_points(games: Sequence[Record]) -> dict[tuple[str, str], list[int]]:
    """The half points by meeting and engine."""
    worth = {Result.WHITE_WINS: 2, Result.DRAW: 1, Result.BLACK_WINS: 0}
    points: dict[tuple[str, str], list[int]] = {}
    for game in games:
        meeting = game.header("GameId").rpartition("/")[0]
        white = worth[game.result]
        points.setdefault((meeting, game.header("White")), []).append(white)
        points.setdefault((meeting, game.header("Black")), []).append(2 - white)
    return points


def compare_state(games: Sequence[Record], again: Finished, state: Path) -> Iterator[str]:
    """Check that one more runner finds all games played and the right state file."""
    started = _only(again.events, "started")
    if again.code or (started["played"], started["games"]) != (len(games), len(games)):
        yield f"one more runner ended with exit code {again.code} and saw {started}"
    if any(event["event"] == "game" for event in again.events):
        yield "one more runner has played a game"
    terms = json.loads(state.read_text())["terms"]
    if [terms[f"entrants.{number}.spec.name"] for number in (1, 2, 3)] != ["A", "B", "C"]:
        yield f"the state file has other engines: {terms}"


def _only(events: Sequence[dict[str, Any]], kind: str) -> dict[str, Any]:
    (event,) = (event for event in events if event["event"] == kind)
    return event


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.kills", description="Kill a match again and again."
    )
    parser.add_argument("--kills", type=int, default=100, help="how often (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default %(default)s)")
    asked = parser.parse_args(arguments)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_kills(Path(folder), asked.kills, asked.kills * GAMES_A_RUN, asked.seed)
    print(
        f"{outcome.kills} kills, {outcome.torn} torn record files, {outcome.forgotten} lost state files: "
        f"{outcome.games} games in {time.monotonic() - started:.0f} s"
    )
    print("\n".join(outcome.wrong) or "no game missing, none twice; records, standings and state agree")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
