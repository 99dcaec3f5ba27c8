"""Runs matches as commands, with engines of ``bad_engines``."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.records import Record, read_records
from engines.rules.base import Result
from tests.support import bad_engines
from tests.support.jobs import processes_with
from workers.match.options.flags import read_options
from workers.match.options.options import Entrant, MatchTerms
from workers.match.results import GameResult

ROOT = Path(__file__).resolve().parent.parent.parent
DEADLINE_SECONDS = 120
QUICK = "-game dogon-kulei -tc 5+0 -plylimit 6 -openings none".split()
"""Games of six plies."""


def engine(name: str, *plan: str, mark: str = "mark", keys: Sequence[str] = ()) -> list[str]:
    """The words of an engine; ``plan`` is WHEN, WHAT and DETAIL as ``bad_engines`` has them."""
    command = shlex.join(("python3", "-S", bad_engines.__file__, mark, *plan))
    return ["-engine", f"name={name}", f"cmd={command}", *keys]


@dataclass(frozen=True, slots=True)
class Finished:
    """A match that has ended, and its record file."""

    code: int
    out: str
    err: str
    records: Path

    @property
    def events(self) -> list[dict[str, Any]]:
        """Of a match with ``-json``."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def games(self) -> dict[str, Record]:
        """By their ids, in the order of the file."""
        return {record.header("GameId"): record for record in read_games(self.records)}


def read_games(path: Path) -> list[Record]:
    """All records of a file; the test fails if one cannot be read."""
    with path.open(encoding="utf-8") as file:
        read = list(read_records(file, path.name))
    games = [record for record in read if isinstance(record, Record)]
    assert games == read
    return games


def start_match(folder: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    """Start a match in ``folder``, with additional environment variables; Python finds our packages there."""
    return subprocess.Popen(
        [sys.executable, "-m", "workers", "match", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_match(folder: Path, *words: str) -> Finished:
    """Play a match to its end."""
    return finish_match(start_match(folder, *words), folder)


def finish_match(
    match: subprocess.Popen[str], folder: Path, seconds: float | None = DEADLINE_SECONDS
) -> Finished:
    """Wait for the end of a match; None means without a limit."""
    try:
        out, err = match.communicate(timeout=seconds)
    finally:
        match.kill()
    return Finished(match.returncode, out, err, folder / "match.pgn")


def slots_of(match: subprocess.Popen[str]) -> list[int]:
    """The processes of a match that play its games: its forks."""
    words = Path(f"/proc/{match.pid}/task/{match.pid}/children").read_text().split()
    return [int(word) for word in words if int(word) in processes_with("match")]


def entrants(names: str) -> tuple[Entrant, ...]:
    return tuple(Entrant(name, "", ("true",)) for name in names.split())


def terms_of(names: str = "A B", ladders: str = "dogon-kulei", **more: Any) -> MatchTerms:
    return MatchTerms(entrants(names), tuple(ladders.split()), "1+0", **more)


def options_of(folder: Path, *words: str) -> Any:
    return read_options(words, folder / "store")


def game_of(key: str, white: str, black: str, result: str = "1-0", **more: Any) -> GameResult:
    fields: dict[str, Any] = {"termination": "rules", "fault": "none", **more}
    return GameResult(key, key.partition("/")[0], white, black, Result(result), **fields)
