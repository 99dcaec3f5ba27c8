"""An attack as data: what it tries, which protection stops it, and how its success shows from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support.hostile.seen import Seen
from workers.sandbox.levels import Level
from workers.sandbox.limits import MEBIBYTE

SMALL = {"memory": 64 * MEBIBYTE}
USERS_APART = "the user namespace, which all others need, stops it alone"


@dataclass(frozen=True, slots=True)
class Attack:
    """``plan`` is a bad engine's, ``opponent`` that of the engine it plays against.

    ``succeeded`` judges a game. The attack must fail in the complete sandbox, and must succeed without
    ``protections``; where each of several protections stops it, they are removed together. If success
    cannot be shown, ``unshown`` says why. ``verdict`` is the termination of the game in the complete
    sandbox; with ``plays_on`` the game may also go on, because only a child of the attacker was ended.
    ``level`` is the lowest level at which the attack fails.
    """

    name: str
    plan: tuple[str, ...]
    succeeded: Callable[[Seen], bool]
    protections: tuple[str, ...] = ()
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
