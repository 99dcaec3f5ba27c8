"""The checked options of a match, as values."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from workers.jobs import DrawRule, EngineSpec, ResignRule
from workers.sequential import Sprt


class Format(enum.StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "roundrobin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"


class Order(enum.StrEnum):
    """The order in which the openings of a file are used."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Openings:
    """``plies`` random plies, or the openings of ``file`` from number ``start`` on (counted from 1)."""

    plies: int = 0
    file: Path | None = None
    order: Order = Order.SEQUENTIAL
    start: int = 1


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """What is played: two matches with equal terms have the same games.

    The names of ``engines`` are unique. Engines that meet do so ``rounds`` times on each ladder, each time
    for one or two games with one opening. ``time_control`` is for engines without their own; ``ply_limit``
    None is the game's own.
    """

    engines: tuple[EngineSpec, ...]
    ladders: tuple[str, ...]
    time_control: str
    format: Format = Format.ROUND_ROBIN
    rounds: int = 1
    games: int = 2
    openings: Openings = Openings()
    sprt: Sprt | None = None
    """A test of two engines: the match ends when it is decided."""
    margin_ms: int = 50
    ply_limit: int | None = None
    draw: DrawRule | None = None
    resign: ResignRule | None = None
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(engine.name for engine in self.engines)


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How a match is played and reported. ``log`` None keeps only logs of faults."""

    terms: MatchTerms
    records: Path = Path("match.pgn")
    resume: bool = False
    concurrency: int = 1
    pin: bool = True
    restart: bool = False
    recover: bool = True
    log: Path | None = None
    event: str = "Match"
    site: str = ""
    json: bool = False
    sandbox: bool = False
