"""Whether a game of a tournament is rated: by its players, their owners, and the terms of its ladder.

Of games that repeat each other only the first is rated (``engines.arithmetic.ratings.fingerprint``).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from engines.rules.registry import GAMES
from engines.timecontrol import TimeControl, format_time_control, parse_time_control

MAX_TIMES: Final = 4
"""A rated game may have up to so many times the ladder's time control."""


class Unrated(StrEnum):
    """Why a game is not rated, as its record says it; the first that applies."""

    EVENT = "event"
    BOT = "bot"
    OWNER = "owner"
    TIME_CONTROL = "time-control"
    OPENINGS = "openings"
    PLY_LIMIT = "ply-limit"
    REPEAT = "repeat"
    PERSON = "person"


UNRATED: Final = {
    Unrated.BOT: "both players are versions of one bot",
    Unrated.OWNER: "both bots have one owner",
    Unrated.TIME_CONTROL: "the time control is not on the ladder's terms",
    Unrated.OPENINGS: "the openings are not on the ladder's terms",
    Unrated.PLY_LIMIT: "the ply limit is not on the ladder's terms",
    Unrated.REPEAT: "it repeats an earlier game move by move",
}
"""In words."""


@dataclass(frozen=True, slots=True)
class LadderTerms:
    """How the games of a ladder are played. Games of tournaments are rated only if they are played so."""

    time_control: str
    opening_plies: int

    @property
    def longest(self) -> TimeControl:
        """The longest time control of a rated game; the shortest is that of the ladder."""
        return parse_time_control(self.time_control).times(MAX_TIMES)

    @property
    def longest_text(self) -> str:
        return format_time_control(self.longest)

    def __str__(self) -> str:
        plies = f"{self.opening_plies} random opening pl{'y' if self.opening_plies == 1 else 'ies'}"
        return f"{self.time_control} to {self.longest_text}, {plies}"

    def why_off(
        self, ladder: str, time_control: str, opening_plies: int | None, ply_limit: int | None
    ) -> Unrated | None:
        """Why games played so are not on these terms; None if they are.

        ``opening_plies`` is None for openings of a book, ``ply_limit`` None for the ladder's.
        """
        shortest = parse_time_control(self.time_control)
        if not parse_time_control(time_control).is_within(shortest, self.longest):
            return Unrated.TIME_CONTROL
        if opening_plies != self.opening_plies:
            return Unrated.OPENINGS
        return None if ply_limit in {None, GAMES[ladder].ply_limit} else Unrated.PLY_LIMIT


class OwnedBot(NamedTuple):
    """A bot and its owner, who is None for the site's bots."""

    bot: Hashable
    owner: Hashable | None

    @property
    def rated_as(self) -> Hashable:
        """Games between bots for which this is the same are not rated; the site's bots have no owner."""
        return self.owner, self.bot if self.owner is None else None


def why_shared(white: OwnedBot, black: OwnedBot) -> Unrated | None:
    """Why a game between these bots is never rated; None if it may be."""
    if white.bot == black.bot:
        return Unrated.BOT
    return Unrated.OWNER if white.rated_as == black.rated_as else None


def why_unrated(
    white: OwnedBot, black: OwnedBot, *, is_event_rated: bool, off_terms: str | None
) -> Unrated | None:
    """Why a game is not rated; None if it may be.

    ``off_terms`` is the word of ``Unrated`` why the tournament is not on the terms of the game's ladder; None
    if it is, or if staff rates it on other terms too.
    """
    if not is_event_rated:
        return Unrated.EVENT
    return why_shared(white, black) or (None if off_terms is None else Unrated(off_terms))
