"""The messages between a match and its slots, one JSON object a line."""

from __future__ import annotations

from dataclasses import dataclass

from engines.rules.base import Result
from workers.jobs import GameJob, JsonValue, SideLog
from workers.play.pool import RestartMode


@dataclass(frozen=True, slots=True)
class SlotSetup(JsonValue):
    """The settings of a slot, given at its start. With ``core`` None it runs on any core.

    ``sandbox_level`` is a level that was probed already; empty is without a sandbox.
    """

    store: str
    cache: str
    core: int | None
    sandbox_level: str = ""


@dataclass(frozen=True, slots=True)
class Assignment(JsonValue):
    """Games for a slot to play, and the headers of the match for their records.

    ``restart``, ``margins_ms`` and ``ready_seconds`` (the time limit of a start) have the order of the job's
    engines. With ``keeps_lines`` the slot returns the lines exchanged with the engines for every game. Before
    each game it pauses for ``wait_ms``.
    """

    job: GameJob
    restart: tuple[RestartMode, RestartMode]
    margins_ms: tuple[int, int]
    ready_seconds: tuple[int, int]
    event: str
    site: str
    round: str
    keeps_lines: bool
    wait_ms: int = 0


@dataclass(frozen=True, slots=True)
class Batch(JsonValue):
    """What a slot plays before it gets more: one assignment, or several of short games."""

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class SlotGame(JsonValue):
    """A finished game: its record as text, and its result for the match.

    The logs are empty unless there was a fault or the assignment wants them. ``chosen`` is the number of
    plies after the opening. ``ms`` is the duration of the game, including the start of engines.
    """

    key: str
    record: str
    result: Result
    termination: str
    fault: str
    evidence: str
    chosen: int
    white: SideLog
    black: SideLog
    ms: int


@dataclass(frozen=True, slots=True)
class IntroducedEngine(JsonValue):
    """An engine that has answered ``ugiok``; ``unsuited`` has a sentence for each option it does not take."""

    name: str
    unsuited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SlotNews(JsonValue):
    """The games that a slot has finished since its last message, in the order of its batch.

    ``is_over``: the batch has ended; games of it that were not returned were not started. ``introduced`` are
    engines that have started since then.
    """

    games: tuple[SlotGame, ...]
    is_over: bool
    introduced: tuple[IntroducedEngine, ...] = ()
