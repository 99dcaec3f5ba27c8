"""Lists every game of a match in the order of play: a lazy, pure function of the match's terms.

All engines meet each other before any two meet again, and all meetings of a cycle on one ladder have the same
openings, so that the standings are fair also before the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from workers.jobs import JobGame
from workers.match.options.options import ROUND_BY_ROUND, Format, MatchTerms
from workers.pairing.berger import Pair, berger_rounds
from workers.pairing.gauntlet import gauntlet_rounds
from workers.pairing.meetings import PlannedMeeting, plan_meetings

GAMES_A_PAIR = 2

_PLACE = re.compile("[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """One or two games with one opening, colours usually reversed.

    Engines are indices into the match's entrants; ``opening`` is a number in the ladder's book.
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

    def white_of(self, game: JobGame) -> int:
        return (self.first, self.second)[game.white]

    def black_of(self, game: JobGame) -> int:
        return (self.second, self.first)[game.white]


def is_game_key(key: str, ladder: str) -> bool:
    """Whether ``key`` has the form of a game key on this ladder."""
    of, *places = key.split("/")
    return of == ladder and len(places) == 3 and all(map(_PLACE.fullmatch, places))


def pair_key(key: str) -> str:
    """The key of a pair, from the key of either of its games."""
    meeting, _, game = key.rpartition("/")
    return f"{meeting}/{(int(game) - 1) // GAMES_A_PAIR}"


def plan_pairs(terms: MatchTerms) -> Iterator[PlannedPair]:
    """All pairs; none if they are paired round by round.

    The key of a game is ``ladder/round/meeting/game`` and unique.
    """
    if terms.format in ROUND_BY_ROUND:
        return
    table = _table(terms)
    pairs_each = -(-terms.games // GAMES_A_PAIR)
    for meeting in plan_meetings(dict.fromkeys(terms.ladders, table), terms.rounds):
        for pair in range(pairs_each):
            yield PlannedPair(
                ladder=meeting.ladder,
                round=meeting.round,
                first=meeting.first - 1,
                second=meeting.second - 1,
                opening=meeting.cycle * pairs_each + pair,
                games=_games(meeting, pair, terms),
            )


def count_games(terms: MatchTerms) -> Counter[frozenset[int]]:
    """The number of games for each two engines, as far as all pairs are known before the match."""
    if terms.format in ROUND_BY_ROUND:
        return Counter()
    each = len(terms.ladders) * terms.rounds * terms.games
    meetings = Counter(frozenset(place - 1 for place in pair) for cycle in _table(terms) for pair in cycle)
    return Counter({two: met * each for two, met in meetings.items()})


def _table(terms: MatchTerms) -> list[list[Pair]]:
    players = len(terms.entrants)
    return gauntlet_rounds(players) if terms.format is Format.GAUNTLET else berger_rounds(players)


def _games(meeting: PlannedMeeting, pair: int, terms: MatchTerms) -> tuple[JobGame, ...]:
    place = f"{meeting.ladder}/{meeting.round}/{meeting.number}"
    return games_of_pair(place, pair, min(GAMES_A_PAIR, terms.games - pair * GAMES_A_PAIR), terms)


def games_of_pair(place: str, pair: int, games: int, terms: MatchTerms) -> tuple[JobGame, ...]:
    """One or two ``games`` of pair number ``pair`` (from 0) in the meeting ``ladder/round/meeting``.

    The first player is White in the first one, unless reversed.
    """
    first = pair * GAMES_A_PAIR + 1
    return tuple(
        JobGame(f"{place}/{first + number}", attempt="", white=_white_of(number, terms))
        for number in range(games)
    )


def _white_of(number: int, terms: MatchTerms) -> int:
    """Which player is White in game ``number`` of a pair, from 0."""
    return (number * terms.swaps + terms.reverse) % GAMES_A_PAIR
