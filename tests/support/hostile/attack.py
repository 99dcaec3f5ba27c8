"""An attack as data: what it tries, which protection stops it, and how its success shows from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.hostile.observation import Observation
from workers.sandbox.levels import Level
from workers.sandbox.limits import MEBIBYTE

SMALL = {"memory": 64 * MEBIBYTE}
FILTER = "system call filter"


@dataclass(frozen=True, slots=True)
class Attack:
    """``plan`` has the arguments of the bad engine, ``opponent`` those of the engine it plays against.

    ``reached_its_goal`` decides from the observation of a game whether the attack succeeded. It must fail in
    the complete sandbox and succeed without ``protections``; where each of several protections stops it,
    they are removed together. If success cannot be shown, ``unshown`` gives the reason.
    ``verdict`` is the termination of the game in the complete sandbox; with ``plays_on`` the game may also
    go on, because only a child of the attacker was ended.
    ``level`` is the lowest level at which the attack fails.
    """

    name: str
    plan: tuple[str, ...]
    reached_its_goal: Callable[[Observation], bool]
    protections: tuple[str, ...] = ()
    level: Level = Level.B
    opponent: tuple[str, ...] = ()
    verdict: str = "ply limit"
    plays_on: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    unshown: str = ""
    time_control: str = "30+0"


def at_move(what: str) -> tuple[str, ...]:
    """The plan of an engine that calls this function at its second move."""
    return ("go:2", "attack", f"{what} {{facts}}")


def calling(what: str, name: str, *protections: str, **more: Any) -> Attack:
    """The attack of calling this function at its second move; by default its result shows the success."""
    return Attack(
        name, at_move(what), **{"reached_its_goal": returned_something, "protections": protections, **more}
    )


def returned_something(seen: Observation) -> bool:
    return bool(seen.result)


def passed_the_number(seen: Observation) -> bool:
    return bool(seen.opponent_result == seen.number)


def more_than(bound: int) -> Callable[[Observation], bool]:
    return lambda seen: seen.result is not None and seen.result > bound
