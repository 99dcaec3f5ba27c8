"""The settings and the outcome of a soak test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
STUCK_S = 120.0
"""The longest time that a game may be without progress, or the site without a result."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of one run."""

    games: int
    """Approximate number."""
    database: str = SQLITE
    calm: bool = False
    """No faults; the other runs are compared with this one."""
    hosts: bool = False
    """Each worker runs on a host of its own, and one host is disconnected for a while; no other faults."""
    ladders: bool = False
    """No tournaments: the ladders play, and are stopped after ``games``."""
    workers: int = 3
    """Processes of ``python -m workers start``; the clocks of the second and third are wrong by an hour."""
    slots: int = 1
    """Games at a time in each worker."""
    pace: float = 1.0
    """A factor for the frequency of kills."""
    lease_s: int = 30
    seed: int = 1
    most_s: float = 3600.0
    """The time limit, in seconds."""
    keep_logs: str = ""
    """A folder for the processes' logs if anything is wrong."""

    @property
    def title(self) -> str:
        how = "calm" if self.calm else "hosts, one cut off" if self.hosts else "soaked"
        what = ", ladders" if self.ladders else ""
        return f"{self.database}{what}, {how}, {self.workers} × {self.slots} slots"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run; ``wrong`` are sentences, none if everything is correct."""

    terms: Terms
    seconds: float
    done: Mapping[str, int]
    """Counts of faults and of their effects in the site."""
    longest: Mapping[str, float]
    """The longest waits, in seconds."""
    wrong: tuple[str, ...]
    games: str
    """A digest of all games: players, moves and result by key."""
    tables: str
    """A digest of all standings and of the tournaments' own ratings."""
