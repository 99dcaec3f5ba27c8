"""The pairings of a tournament: from its players, its seed and the results so far, and from nothing else.

So whoever has the terms and the results of a tournament makes the same pairings again. A round robin or
gauntlet has all of them from the start (``plan_cycles``). A Swiss or a knock-out has a next step whenever all
games are over on all ladders (``plan_rounds``).
"""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

from engines.formats.base import EventFormat, RoundTerms
from engines.formats.meetings import ScheduledGame, count_meetings, seeded_results
from engines.pairing.meetings import plan_meetings
from engines.pairing.openings import Opening, draw_openings
from engines.pairing.results import NO_ABSENCES, Absences, MeetingResult
from engines.rules.registry import find_game

DrawOpenings = Callable[[str, int, int], Sequence[Opening]]
"""Draws the first openings of a ladder from a seed: so many as the last argument says."""


@dataclass(frozen=True, slots=True)
class PlannedPairing:
    """Two players that will meet for a pair of games; ``number`` is counted across the ladders of a round."""

    ladder: str
    round: int
    number: int
    first: int
    """White in the first game."""
    second: int
    opening: Opening
    seed: int


@dataclass(frozen=True, slots=True)
class EventOpenings:
    """The openings of a tournament."""

    plies: int
    """Of random openings."""
    book: Mapping[str, Sequence[str]]
    """By ladder the openings of a book, each as moves with spaces between them; random ones without."""

    def draw(self, ladder: str, seed: int, number: int) -> list[Opening]:
        """The first openings drawn from a seed; raises ``OpeningError``.

        Those of a book come in a random order, again and again.
        """
        if lines := self.book.get(ladder):
            drawn = random.Random(f"{seed}/{ladder}").sample(lines, len(lines))
            return [tuple(line.split()) for line in islice(cycle(drawn), number)]
        return draw_openings(find_game(ladder), self.plies, seed, number)


@dataclass(frozen=True, slots=True)
class LadderRounds:
    """What the next round of a ladder is drawn from."""

    seeds: Sequence[int]
    """The players, the best first."""
    met: Sequence[MeetingResult]
    terms: RoundTerms


def pairing_seed(seed: int, ladder: str, round_number: int, number: int) -> int:
    """The seed of everything drawn within a pair; repeatable for the same tournament seed."""
    return zlib.crc32(f"{seed}/{ladder}/{round_number}/{number}".encode())


def plan_cycles(
    form: EventFormat,
    seed: int,
    players: Mapping[str, Sequence[int]],
    cycles: range,
    draw: DrawOpenings,
    absent: Mapping[str, Absences],
) -> Iterator[PlannedPairing]:
    """The pairings of ``cycles``, counted from 0, of a round robin or gauntlet.

    ``players`` are by ladder in the order of entry; ``absent`` are those without meetings, by ladder and
    cycle. Any number of first pairings is as balanced as possible: all players meet once on every ladder
    before any meet again, and all meetings of a cycle on one ladder start from the same opening.
    """
    tables = {code: form.table(len(entered)) for code, entered in players.items()}
    openings = {code: draw(code, seed, cycles.stop)[cycles.start :] for code in players}
    for meeting in plan_meetings(tables, cycles.stop):
        entered = players[meeting.ladder]
        both = entered[meeting.first - 1], entered[meeting.second - 1]
        gone = absent.get(meeting.ladder, NO_ABSENCES).get(meeting.cycle, ())
        if meeting.cycle in cycles and set(both).isdisjoint(gone):
            yield PlannedPairing(
                meeting.ladder,
                meeting.round,
                meeting.number,
                *both,
                openings[meeting.ladder][meeting.cycle - cycles.start],
                pairing_seed(seed, meeting.ladder, meeting.round, meeting.number),
            )


def plan_rounds(
    form: EventFormat,
    seed: int,
    ladders: Mapping[str, LadderRounds],
    draw: DrawOpenings,
    last: Mapping[int, int],
) -> Iterator[PlannedPairing]:
    """The pairings that follow in a Swiss or a knock-out whose games are all over; none at its end.

    ``last`` has the last number of the pairings that there are, by round.
    """
    numbers = Counter(last)
    for code, ladder in ladders.items():
        for number, pairs in form.due(len(ladder.seeds), ladder.met, ladder.terms):
            openings = draw(code, pairing_seed(seed, code, number, 0), 1 + max(pair for _, _, pair in pairs))
            for first, second, pair in pairs:
                numbers[number] += 1
                yield PlannedPairing(
                    code,
                    number,
                    numbers[number],
                    ladder.seeds[first - 1],
                    ladder.seeds[second - 1],
                    openings[pair],
                    pairing_seed(seed, code, number, numbers[number]),
                )


PairingKey = tuple[str, int, int]
"""A pairing: its ladder, its round, its number in the round."""


def replan_rounds(
    form: EventFormat,
    seed: int,
    ladders: Mapping[str, LadderRounds],
    draw: DrawOpenings,
    games: Mapping[PairingKey, Sequence[ScheduledGame]],
) -> Iterator[PlannedPairing]:
    """All pairings of a Swiss or a knock-out once more, each step from the results of those before.

    ``games`` are those of the tournament. Ends as ``Redrawing.take`` says.
    """
    redrawing = Redrawing(form, seed, ladders, draw, games)
    while True:
        planned = redrawing.plan(games)
        yield from planned
        if not redrawing.take(planned, games):
            return


Games = Mapping[PairingKey, Sequence[ScheduledGame]]


class Redrawing:
    """The rounds of a Swiss or a knock-out, which are drawn once more, step by step.

    The meetings of ``ladders`` are not read; their absences are those of the end: who is absent from a round
    after games in it, was so once these were over.
    """

    def __init__(
        self,
        form: EventFormat,
        seed: int,
        ladders: Mapping[str, LadderRounds],
        draw: DrawOpenings,
        games: Games,
    ) -> None:
        self._form, self._seed, self._ladders, self._draw = form, seed, ladders, draw
        self._left = Counter(seat for (code, _, _), both in games.items() for seat in _seats(code, both))
        self._last: Counter[int] = Counter()
        self.taken: list[PairingKey] = []
        """The pairings so far, whose games are over."""

    def plan(self, games: Games) -> list[PlannedPairing]:
        """The next step, by the results that ``games`` has of the pairings so far."""
        done: dict[str, list[ScheduledGame]] = {code: [] for code in self._ladders}
        for key in self.taken:
            done[key[0]] += games[key]
        known = {
            code: _known(self._form, code, ladder, done[code], self._left)
            for code, ladder in self._ladders.items()
        }
        return list(plan_rounds(self._form, self._seed, known, self._draw, self._last))

    def take(self, planned: Sequence[PlannedPairing], games: Games) -> bool:
        """Go on after the games of a step; False at the end, or if some are missing or not over."""
        keys = [(one.ladder, one.round, one.number) for one in planned]
        played = [games.get(key, ()) for key in keys]
        if not planned or not all(both and all(game.column for game in both) for both in played):
            return False
        for one, both in zip(planned, played, strict=True):
            self._last[one.round] = max(self._last[one.round], one.number)
            self._left.subtract(_seats(one.ladder, both))
        self.taken += keys
        return True


def _seats(code: str, games: Sequence[ScheduledGame]) -> list[tuple[str, int, int]]:
    return [(code, game.round, player) for game in games for player in (game.white, game.black)]


def _known(
    form: EventFormat,
    code: str,
    ladder: LadderRounds,
    done: Sequence[ScheduledGame],
    left: Counter[tuple[str, int, int]],
) -> LadderRounds:
    """The ladder after the games ``done``; a player has ``left`` so many others in a round."""
    absent = {
        number: {seed for seed in gone if not left[code, number, ladder.seeds[seed - 1]]}
        for number, gone in ladder.terms.absent.items()
    }
    met = seeded_results(ladder.seeds, count_meetings(form, done))
    return LadderRounds(ladder.seeds, met, replace(ladder.terms, absent=absent))
