"""What a match and its slots say to each other, a JSON object a line."""

from __future__ import annotations

from dataclasses import dataclass

from engines.rules.base import Result
from workers.jobs import GameJob, JsonValue, SideLog
from workers.play.pool import RestartMode


@dataclass(frozen=True, slots=True)
class SlotSetup(JsonValue):
    """A slot's own, given when it is started. ``core`` None is whichever there are.

    ``walls`` is the level of the sandbox, tried out already; empty is none.
    """

    store: str
    cache: str
    core: int | None
    walls: str = ""


@dataclass(frozen=True, slots=True)
class Assignment(JsonValue):
    """Games for a slot to play, and what their records say of the match.

    ``restart`` goes by the job's engines. ``keeps_lines`` asks for the lines exchanged in every game.
    """

    job: GameJob
    restart: tuple[RestartMode, RestartMode]
    event: str
    site: str
    round: str
    keeps_lines: bool


@dataclass(frozen=True, slots=True)
class Batch(JsonValue):
    """What a slot plays before it is asked again: one assignment, or several of quick games."""

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class SlotGame(JsonValue):
    """A game a slot has played: its record as text, and what the match needs to know of it.

    The logs are empty unless somebody is at fault or the assignment asked for them. ``ms`` is how long it
    took, whatever had to be started for it included.
    """

    key: str
    record: str
    result: Result
    termination: str
    fault: str
    evidence: str
    white: SideLog
    black: SideLog
    ms: int


@dataclass(frozen=True, slots=True)
class SlotNews(JsonValue):
    """The games a slot has played since it last spoke, in the order of its batch.

    ``is_over``: the batch is; whatever of it was not handed back was not begun.
    """

    games: tuple[SlotGame, ...]
    is_over: bool
