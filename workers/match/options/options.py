"""What a match is, once everything asked for has been understood and checked. Values only."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path

from workers.jobs import DrawRule, EngineSpec, ResignRule
from workers.play.pool import RestartMode
from workers.statistics import Model


class Format(enum.StrEnum):
    """Who meets whom. An SPRT is a round robin of two that ends when its question is answered."""

    ROUND_ROBIN = "roundrobin"
    GAUNTLET = "gauntlet"
    SPRT = "sprt"


@dataclass(frozen=True, slots=True)
class Entrant:
    """An engine that takes part; ``spec.name`` is its own within a match."""

    spec: EngineSpec
    restart: RestartMode = RestartMode.AUTO
    asked: tuple[str, ...] = field(default=(), compare=False)
    """The command as it was given, before a bundle was opened or a program looked for."""

    @property
    def name(self) -> str:
        return self.spec.name


class Order(enum.StrEnum):
    """How the openings of a file are taken."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Openings:
    """Where games begin: ``plies`` drawn at random, or the lines of ``file`` from line ``start`` (from 1)."""

    plies: int = 0
    file: Path | None = None
    order: Order = Order.SEQUENTIAL
    start: int = 1


@dataclass(frozen=True, slots=True)
class Sprt:
    """The question of a test, and the risks of answering it wrongly."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = Model.NORMALIZED


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """What is played: two matches of equal terms have the same games. ``ply_limit`` None is each game's own.

    Every two who meet do so ``rounds`` times a ladder, for ``games`` games, of which each
    two share an opening. ``time_control`` is that of engines that have none of their own.
    """

    entrants: tuple[Entrant, ...]
    ladders: tuple[str, ...]
    time_control: str
    format: Format = Format.ROUND_ROBIN
    rounds: int = 1
    games: int = 2
    openings: Openings = Openings()
    sprt: Sprt | None = None
    margin_ms: int = 50
    ply_limit: int | None = None
    draw: DrawRule | None = None
    resign: ResignRule | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How it is played and told of. ``withdraw`` 0 is never; ``log`` None keeps the lines of faults alone."""

    terms: MatchTerms
    records: Path = Path("match.pgn")
    resume: bool = False
    concurrency: int = 1
    pin: bool = True
    recover: bool = True
    withdraw: int = 0
    log: Path | None = None
    event: str = "Match"
    site: str = ""
    json: bool = False
    dry_run: bool = False
    sandbox: bool = False
