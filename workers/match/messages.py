"""What a match and its slots say to each other, a JSON object a line."""

from __future__ import annotations

from dataclasses import dataclass

from engines.rules.base import Result
from workers.jobs import GameJob, JsonValue, SideLog
from workers.match.options import Restart


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
    restart: tuple[Restart, Restart]
    event: str
    site: str
    round: str
    keeps_lines: bool


@dataclass(frozen=True, slots=True)
class SlotGame(JsonValue):
    """A game a slot has played: its record as text, and what the match needs to know of it.

    The logs are empty unless somebody is at fault or the assignment asked for them.
    """

    key: str
    record: str
    result: Result
    termination: str
    fault: str
    evidence: str
    white: SideLog
    black: SideLog
