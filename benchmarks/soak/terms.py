"""What a soak is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
STUCK_S = 120.0
"""A game that is given out must not be without a sign of life for longer, nor the site without a result."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Of one run."""

    games: int
    """About as many."""
    database: str = SQLITE
    calm: bool = False
    """Nothing is broken: what the others are to be compared with."""
    hosts: bool = False
    """Each worker on a host of its own, one of which is cut off for a while; nothing else is broken."""
    ladders: bool = False
    """No tournament: the permanent ladders play, and are stopped after so many games."""
    workers: int = 3
    """Processes of ``python -m workers start``; the clocks of the second and the third are an hour off."""
    slots: int = 1
    """Games at a time in each of them."""
    pace: float = 1.0
    """Times as often as usual that something is killed."""
    lease_s: int = 30
    seed: int = 1
    most_s: float = 3600.0
    """After so many seconds it is over, done or not."""
    keep_logs: str = ""
    """A folder for the processes' logs, if anything was wrong."""

    @property
    def title(self) -> str:
        how = "calm" if self.calm else "hosts, one cut off" if self.hosts else "soaked"
        what = ", ladders" if self.ladders else ""
        return f"{self.database}{what}, {how}, {self.workers} × {self.slots} slots"


@dataclass(frozen=True, slots=True)
class Outcome:
    """``wrong`` are sentences; where there is none, all is well."""

    terms: Terms
    seconds: float
    done: Mapping[str, int]
    """What was done to the site, and what it noticed of it."""
    longest: Mapping[str, float]
    """Seconds."""
    wrong: tuple[str, ...]
    games: str
    """A digest of all games: by key the players, moves and result."""
    tables: str
    """A digest of all standings and of the tournaments' own ratings."""
