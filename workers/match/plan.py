"""Lists every game of a match in the order of play: a lazy, pure function of the match's terms.

All engines meet each other before any two meet again, and all meetings of a cycle on one ladder have the same
opening, so that the standings are fair also before the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workers.jobs import JobGame
from workers.match.options.options import Format, MatchTerms
from workers.pairing.berger import Pair, berger_rounds
from workers.pairing.gauntlet import gauntlet_rounds
from workers.pairing.meetings import PlannedMeeting, plan_meetings


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """The games of a meeting, or those of them that are still to be played: one or two, with one opening.

    Engines are indices into the match's engines; ``opening`` is a number in the ladder's book.
    """

    ladder: str
    round: int
    first: int
    second: int
    opening: int
    games: tuple[JobGame, ...]

    @property
    def key(self) -> str:
        return pair_key(self.games[0].key)

    def players(self, game: JobGame) -> tuple[int, int]:
        """The indices of White and Black."""
        return (self.second, self.first) if game.white else (self.first, self.second)


def pair_key(key: str) -> str:
    """The key of a pair, from the key of either of its games."""
    return key.rpartition("/")[0]


def plan_pairs(terms: MatchTerms) -> Iterator[PlannedPair]:
    """All pairs of a match whose rounds do not depend on results."""
    table = dict.fromkeys(terms.ladders, _table(terms))
    return (plan_pair(terms, meeting) for meeting in plan_meetings(table, terms.rounds))


def plan_pair(terms: MatchTerms, meeting: PlannedMeeting) -> PlannedPair:
    """The games of a meeting; the first player is White in the first one.

    The key of a game is ``ladder/round/meeting/game`` and unique.
    """
    place = f"{meeting.ladder}/{meeting.round}/{meeting.number}"
    return PlannedPair(
        ladder=meeting.ladder,
        round=meeting.round,
        first=meeting.first - 1,
        second=meeting.second - 1,
        opening=meeting.cycle,
        games=tuple(JobGame(f"{place}/{1 + number}", "", white=number) for number in range(terms.games)),
    )


def count_games(terms: MatchTerms) -> int:
    """The number of games of the whole match."""
    meetings = len(terms.engines) // 2 if terms.format is Format.SWISS else sum(map(len, _table(terms)))
    return len(terms.ladders) * terms.rounds * meetings * terms.games


def _table(terms: MatchTerms) -> list[list[Pair]]:
    players = len(terms.engines)
    return gauntlet_rounds(players) if terms.format is Format.GAUNTLET else berger_rounds(players)
