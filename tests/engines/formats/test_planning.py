"""The same terms and results make the same pairings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from engines.formats import FORMATS
from engines.formats.base import RoundTerms
from engines.formats.meetings import COLUMNS, ScheduledGame, count_meetings, seeded_results
from engines.formats.planning import (
    EventOpenings,
    LadderRounds,
    PairingKey,
    PlannedPairing,
    plan_cycles,
    plan_rounds,
    replan_rounds,
)
from engines.pairing.knockout import Length

BOOK = EventOpenings(0, {"one": ["a b", "c", "d"], "two": ["e"]})
SEED = 5


def written(one: PlannedPairing) -> str:
    return f"{one.ladder} {one.round}.{one.number} {one.first}-{one.second}"


def test_cycles_come_in_the_order_of_play_without_those_who_are_absent() -> None:
    players = {"one": [11, 12, 13], "two": [12, 13]}
    form, absent = FORMATS["round-robin"], {"one": {1: [11]}}
    planned = list(plan_cycles(form, SEED, players, range(2), BOOK.draw, absent))
    assert list(map(written, planned)) == [
        "one 1.1 12-13", "two 1.2 12-13", "one 2.1 11-12", "one 3.1 13-11",
        "one 4.1 13-12", "two 4.2 13-12",
    ]  # fmt: skip
    assert len({one.opening for one in planned if one.ladder == "one"}) == 2
    assert len({one.seed for one in planned}) == len(planned)
    assert list(plan_cycles(form, SEED, players, range(1, 2), BOOK.draw, absent)) == planned[4:]


def test_a_book_begins_again_when_all_its_openings_were_drawn() -> None:
    drawn = BOOK.draw("one", 1, 7)
    assert sorted(drawn[:3]) == [("a", "b"), ("c",), ("d",)]
    assert drawn[3:] == [*drawn[:3], drawn[0]]


class Played:
    """A Swiss or a knock-out played to its end with random results, withdrawals among them."""

    def __init__(self, kind: str, seed: int) -> None:
        self.form, source = FORMATS[kind], random.Random(seed)
        terms = RoundTerms(4, Length(1 + seed % 2, 2))
        self.ladders = {
            "one": LadderRounds([15, 13, 11, 17, 12], [], terms),
            "two": LadderRounds([12, 15, 17], [], terms),
        }
        self.games: dict[PairingKey, list[ScheduledGame]] = {}
        self.planned: list[PlannedPairing] = []
        gone: set[int] = set()
        while step := self._step(gone):
            self.planned += step
            if source.random() < 0.2:
                gone.add(source.choice([11, 13, 15]))
            for one in step:
                self.games[one.ladder, one.round, one.number] = [
                    ScheduledGame(one.round, *both, _column(source, both, gone))
                    for both in ((one.first, one.second), (one.second, one.first))
                ]

    def _step(self, gone: set[int]) -> list[PlannedPairing]:
        last = Counter[int]()
        for _, number, in_round in self.games:
            last[number] = max(last[number], in_round)
        for code, ladder in self.ladders.items():
            games = [game for key, both in self.games.items() if key[0] == code for game in both]
            met = seeded_results(ladder.seeds, count_meetings(self.form, games))
            out = {seed for seed, player in enumerate(ladder.seeds, 1) if player in gone}
            absent = self.form.absences(len(ladder.seeds), met, ladder.terms, out)
            terms = replace(ladder.terms, absent={number: set(them) for number, them in absent.items()})
            self.ladders[code] = LadderRounds(ladder.seeds, met, terms)
        return list(plan_rounds(self.form, SEED, self.ladders, BOOK.draw, last))

    def replanned(self, games: Mapping[PairingKey, list[ScheduledGame]]) -> list[PlannedPairing]:
        return list(replan_rounds(self.form, SEED, self.ladders, BOOK.draw, games))


def _column(source: random.Random, both: tuple[int, int], gone: set[int]) -> str:
    """Who is withdrawn loses the games that are not played."""
    white, black = (player in gone for player in both)
    if white or black:
        return "defaults" if white else "walkovers"
    return source.choice(COLUMNS[:4])


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
@pytest.mark.parametrize("seed", range(20))
def test_rounds_are_planned_again_from_the_games_alone(kind: str, seed: int) -> None:
    event = Played(kind, seed)
    assert event.replanned(event.games) == event.planned
    assert len({(one.round, one.number) for one in event.planned}) == len(event.planned)


def test_rounds_are_planned_again_up_to_the_first_that_was_not_played() -> None:
    event = Played("swiss", 0)
    rounds = max(one.round for one in event.planned)
    open_games = {
        key: [game._replace(column="") for game in both] if key[1] == rounds - 1 else both
        for key, both in event.games.items()
    }
    expected = [one for one in event.planned if one.round < rounds]
    assert event.replanned(open_games) == expected
    missing = {key: both for key, both in event.games.items() if key[1] < rounds - 1}
    assert event.replanned(missing) == expected
    assert event.replanned({}) == [one for one in event.planned if one.round == 1]
