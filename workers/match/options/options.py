"""The checked options of a match, as values, and the errors of a match."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path

from engines.records import Termination
from workers.jobs import DrawRule, EngineSpec, ResignRule, RestartMode
from workers.sequential import Sprt


class MatchError(ValueError):
    """A match cannot start or continue; the text is a sentence for the user."""


class MatchOptionError(MatchError):
    """An invalid option; the text begins with its place and quotes it."""


class Format(enum.StrEnum):
    """Who meets whom. An SPRT is a round robin of two engines that ends when the test is decided.

    In a knock-out and a Swiss event a meeting has ``MatchTerms.games``; a Swiss event has so many rounds.
    """

    ROUND_ROBIN = "roundrobin"
    GAUNTLET = "gauntlet"
    SPRT = "sprt"
    KNOCKOUT = "knockout"
    SWISS = "swiss"


ROUND_BY_ROUND = (Format.KNOCKOUT, Format.SWISS)
"""The pairs of a round depend on the results of earlier ones."""


class Order(enum.StrEnum):
    """The order in which the openings of a file are used."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Entrant(EngineSpec):
    """An engine of a match. ``given_command`` is its command before a bundle or program was looked up.

    ``site`` is the address of the site that its bundle was fetched from; empty for one's own.
    """

    restart: RestartMode = RestartMode.AUTO
    margin_ms: int | None = None
    startup_seconds: int | None = None
    given_command: tuple[str, ...] = field(default=(), compare=False)
    site: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Openings:
    """``plies`` random plies, or the openings of ``file`` from number ``start`` on (counted from 1).

    With a file ``plies`` are the first ones of each opening or recorded game; 0 is all of an opening.
    """

    plies: int = 0
    file: Path | None = None
    order: Order = Order.SEQUENTIAL
    start: int = 1


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """What is played: two matches with equal terms have the same games.

    The name of each engine is unique. Engines that meet do so ``rounds`` times on each ladder, each time for
    ``games`` games; each pair of games has one opening. ``time_control`` is for engines without their own;
    ``ply_limit`` None is the game's own.
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
    swaps: bool = True
    """Whether the second game of a pair has the colours reversed."""
    reverse: bool = False
    """Whether the first engine of a meeting has Black in the first game."""


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How a match is played and reported. ``withdraw`` 0 is never; ``log`` None keeps only logs of faults."""

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
    strict: bool = False
    """Whether an option that an engine does not take ends the match, instead of a warning."""
    wait: int = 0
    """Milliseconds of pause before each game."""
    cpus: tuple[int, ...] = ()
    """The only CPUs of the games, one for each game at a time; empty are all."""
    ratinginterval: int = 0
    """A table is printed after this number of games; 0 is at intervals of time."""

    def ends_match(self, termination: str) -> bool:
        """Whether a game that stopped like this is the last one."""
        return not self.recover and termination in (Termination.CRASH, Termination.STALL)
