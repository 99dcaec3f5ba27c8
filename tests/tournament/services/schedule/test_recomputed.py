"""Whoever has the terms and the games of a tournament computes what the site has stored."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import transaction

from engines.arithmetic.ratings import own_table
from engines.formats import FORMATS
from engines.formats.base import RoundTerms
from engines.formats.meetings import ScheduledGame, column_of, count_meetings
from engines.formats.planning import (
    EventOpenings,
    LadderRounds,
    PairingKey,
    PlannedPairing,
    plan_cycles,
    replan_rounds,
)
from engines.formats.tables import event_table
from engines.pairing.knockout import Length
from engines.rules.base import Result
from tests.support.schedule import Deal, make_event, make_version, record_short
from tournament.models import Game, Tournament
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import tables_of, tournament_table
from workers.jobs import GameJob, JobGame

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDERS = ["dogon-kulei", "duploline"]
TERMS: Mapping[str, Mapping[str, Any]] = {
    "round-robin": {"pairs": 2},
    "gauntlet": {"pairs": 2},
    "swiss": {"rounds": 4},
    "knock-out": {"extra_pairs": 1},
}


def played(kind: str, deal: Deal) -> Tournament:
    """An event of five bots on two ladders, one of them withdrawn early, with random results."""
    versions = [make_version(f"Bot {n}", games=LADDERS[: 1 + n % 2] if n > 3 else LADDERS) for n in range(5)]
    event = make_event(kind, versions=versions, ladders=LADDERS, opening_plies=2, **TERMS[kind])
    source = random.Random(kind)

    def result_of(job: GameJob, game: JobGame) -> Result:
        return source.choice([Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS])

    while not event.is_over:
        while jobs := deal():
            record_short(jobs[:1], result_of)
            with transaction.atomic():
                withdraw(versions[2], "test")
            tend()
            record_short(jobs[1:], result_of)
        tend()
        event.refresh_from_db()
    return event


def scheduled(game: Game) -> ScheduledGame:
    result = Result(game.result) if game.result else None
    column = column_of(result, game.fault, is_annulled=game.annulled)
    return ScheduledGame(game.pairing.round, game.white_id, game.black_id, column)


def planned_again(event: Tournament) -> list[PlannedPairing]:
    """From the terms, the entries or seeds, the absences and the games."""
    form, draw = FORMATS[event.kind], EventOpenings(event.opening_plies, event.book).draw
    absent = {code: {int(n): gone for n, gone in rows.items()} for code, rows in event.absent.items()}
    if form.has_cycles:
        entered = entered_versions(event)
        players = {code: [one.pk for one in entered if one.plays(code)] for code in event.ladders}
        return list(plan_cycles(form, event.seed, players, range(event.pairs), draw, absent))
    length = Length(event.pairs, event.extra_pairs)
    ladders = {}
    for code, ids in event.seeds.items():
        gone = {number: {ids.index(pk) + 1 for pk in out} for number, out in absent.get(code, {}).items()}
        ladders[code] = LadderRounds(ids, [], RoundTerms(event.rounds, length, gone))
    games: dict[PairingKey, list[ScheduledGame]] = {}
    for game in event.games.select_related("pairing").order_by("id"):
        key = game.ladder_id, game.pairing.round, game.pairing.number
        games.setdefault(key, []).append(scheduled(game))
    return list(replan_rounds(form, event.seed, ladders, draw, games))


@pytest.mark.parametrize("kind", TERMS)
def test_the_pairings_and_tables_follow_from_the_games(kind: str, deal: Deal) -> None:
    event = played(kind, deal)
    stored = event.pairings.order_by("id").values_list(
        "ladder_id", "round", "number", "first_id", "second_id", "opening", "seed"
    )
    again = [
        (one.ladder, one.round, one.number, one.first, one.second, " ".join(one.opening), one.seed)
        for one in planned_again(event)
    ]
    assert again == list(stored)
    for table in tables_of(event, entered_versions(event)):
        games = event.games.filter(ladder=table.ladder).select_related("pairing").order_by("id")
        rounds = None
        if ids := event.seeds.get(table.ladder):
            length = Length(event.pairs, 0)
            rounds = RoundTerms(event.rounds, length, table.absent)
        met = count_meetings(FORMATS[kind], map(scheduled, games))
        found = event_table(FORMATS[kind], ids or list(table.versions), met, rounds)
        assert (found.crosstable, found.met, found.bracket) == (table.crosstable, table.met, table.bracket)
        recorded = [(one.white_id, one.black_id, Result(one.result)) for one in games if one.result]
        assert own_table(table.ladder, recorded) == tournament_table(event, table.ladder)
