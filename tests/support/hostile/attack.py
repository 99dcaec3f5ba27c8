"""An attack as data: what it tries, which wall holds it, and how it would be seen from outside to succeed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support.hostile.seen import Seen
from workers.sandbox.levels import Level
from workers.sandbox.limits import MEBIBYTE

SMALL = {"memory": 64 * MEBIBYTE}
USERS_APART = "the namespace of users, of which all others hang, holds it by itself"


@dataclass(frozen=True, slots=True)
class Attack:
    """``plan`` is a bad engine's, ``opponent`` that of the engine it plays against.

    ``succeeded`` judges a game. It must not have with all walls, and must have without ``walls``,
    which are taken away together where one alone already holds. Where that cannot be shown,
    ``unshown`` says why. ``verdict`` is how the game ends behind all walls; ``plays_on``: where
    that cost the attacker a child alone it may go on as well. ``level`` is the lowest at
    which they hold.
    """

    name: str
    plan: tuple[str, ...]
    succeeded: Callable[[Seen], bool]
    walls: tuple[str, ...] = ()
    level: Level = Level.B
    opponent: tuple[str, ...] = ()
    verdict: str = "ply limit"
    plays_on: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    unshown: str = ""
    time_control: str = "30+0"


def at_move(what: str) -> tuple[str, ...]:
    """The plan to do this at its second move."""
    return ("go:2", "attack", f"{what} {{facts}}")


def brought_home(seen: Seen) -> bool:
    return bool(seen.loot)


def reached(listener: str) -> Callable[[Seen], bool]:
    return lambda seen: listener in seen.contacts


def handed_over(seen: Seen) -> bool:
    return bool(seen.heard == seen.number)


def more_than(bound: int) -> Callable[[Seen], bool]:
    return lambda seen: seen.loot is not None and seen.loot > bound
