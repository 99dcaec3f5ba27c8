"""Swiss events and knock-outs: each round is made once, from the results of earlier rounds."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from django.db import transaction

from engines.formats import swiss
from engines.rules.base import Result
from tests.support.schedule import (
    Deal,
    ResultOf,
    all_drawn,
    first_name_wins,
    make_event,
    make_version,
    play_short,
    record,
    record_all,
    record_short,
    void,
)
from tournament.models import Game, Ladder, LadderRating, Pairing, Tournament
from tournament.services.calendar import tend
from tournament.services.results import keeper
from tournament.services.schedule import rounds
from tournament.services.schedule.meetings import played_meetings
from workers.failures import MAX_VOIDS
from workers.jobs import GameJob, JobGame

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
State = Tournament.State
BOTH = ["dogon-kulei", "duploline"]


def rate_bots(ladder: str = "duploline", **ratings: float) -> None:
    Ladder.objects.ensure()
    for name, rating in ratings.items():
        LadderRating.objects.create(
            ladder_id=ladder, version=make_version(name), mu=rating, sigma=1, conservative=rating
        )


def play_round(deal: Deal, result_of: ResultOf | None = None) -> int:
    """Play all games there are; returns how many."""
    played = 0
    while jobs := deal():
        told = record_short(jobs, result_of)
        assert all(isinstance(one, keeper.Recorded) for one in told)
        played += len(told)
    return played


def play_on(tournament: Tournament, deal: Deal, result_of: ResultOf | None = None) -> list[int]:
    """Play to the end; how many games each step had."""
    steps = []
    while True:
        steps.append(play_round(deal, result_of))
        tend()
        tournament.refresh_from_db()
        if tournament.is_over:
            return steps


def meetings(tournament: Tournament) -> list[tuple[str, int, str]]:
    rows = tournament.pairings.order_by("ladder", "round", "number")
    return [
        (row.ladder_id, row.round, f"{row.first.bot.name}-{row.second.bot.name}")
        for row in rows.select_related("first__bot", "second__bot")
    ]


def test_a_swiss_makes_its_rounds_one_by_one_and_finishes(deal: Deal) -> None:
    tournament = make_event("swiss", bots=5, rounds=3)
    assert (tournament.games_total, tournament.pairings.count()) == (4, 2)
    assert play_on(tournament, deal) == [4, 4, 4]
    assert (tournament.state, tournament.games_done, tournament.games_total) == (State.FINISHED, 12, 12)
    met = Counter(frozenset(pair.split("-")) for _, _, pair in meetings(tournament))
    assert set(met.values()) == {1}


def test_a_round_waits_for_every_game_of_the_one_before(deal: Deal) -> None:
    tournament = make_event("swiss", bots=4)
    jobs = deal()
    reports = [report for job in jobs for report in play_short(job)]
    for report in reports[:-1]:
        record(report)
        assert tend() == 0
    record(reports[-1])
    assert tend() == 1
    assert tend() == 0
    assert Counter(tournament.pairings.values_list("round", flat=True)) == {1: 2, 2: 2}


def test_in_a_swiss_equals_meet_and_the_best_wins(deal: Deal) -> None:
    tournament = make_event("swiss", bots=8, rounds=3)
    play_on(tournament, deal, first_name_wins)
    by_round: dict[int, list[str]] = {}
    for _, number, pair in meetings(tournament):
        by_round.setdefault(number, []).append(pair.replace("Bot ", ""))
    assert by_round == {
        1: ["1-5", "2-6", "3-7", "4-8"],
        2: ["3-1", "4-2", "7-5", "8-6"],
        3: ["1-2", "3-5", "4-6", "7-8"],
    }


def test_players_are_seeded_by_their_bots_ratings_at_the_start(deal: Deal) -> None:
    rate_bots(Ada=3, Bob=9, Cy=5)
    newer = make_version("Bob")
    versions = [make_version("Ada"), make_version("New"), make_version("Cy"), newer]
    tournament = make_event("knock-out", versions=versions)
    ada, new, cy, bob = (version.pk for version in versions)
    assert tournament.seeds == {"duploline": [bob, cy, ada, new]}
    assert [pair for _, _, pair in meetings(tournament)] == ["Bob-New", "Cy-Ada"]
    LadderRating.objects.update(conservative=0)
    play_on(tournament, deal, lambda job, game: Result.WHITE_WINS if game.white == 0 else Result.BLACK_WINS)
    assert meetings(tournament)[-1] == ("duploline", 2, "Bob-Cy")


def test_a_knock_out_plays_on_by_pairs_until_one_leads(deal: Deal) -> None:
    """Two draws, two draws, then a decision."""
    tournament = make_event("knock-out", bots=2, extra_pairs=5, opening_plies=2)
    pairs = []

    def result(job: GameJob, game: JobGame) -> Result:
        pairs.append(game.key)
        return Result.DRAW if len(pairs) <= 4 else first_name_wins(job, game)

    assert play_on(tournament, deal, result) == [2, 2, 2]
    assert list(tournament.games.order_by("id").values_list("key", flat=True)) == [
        f"test-event/1/{pair}/{number}" for pair in (1, 2, 3) for number in (1, 2)
    ]
    assert len(set(tournament.pairings.values_list("opening", flat=True))) == 3


def test_a_knock_out_that_stays_level_ends_with_its_last_resort(deal: Deal) -> None:
    tournament = make_event("knock-out", bots=4, pairs=2, extra_pairs=1)
    assert play_on(tournament, deal, all_drawn) == [8, 4, 4, 2]
    assert meetings(tournament)[-1][2] == "Bot 1-Bot 2"


def test_a_knock_out_of_any_number_of_bots_has_one_winner(deal: Deal) -> None:
    tournament = make_event("knock-out", bots=7, extra_pairs=3)
    play_on(tournament, deal)
    assert tournament.state == State.FINISHED
    assert len({(number, frozenset(pair.split("-"))) for _, number, pair in meetings(tournament)}) == 6


def test_several_ladders_are_played_side_by_side_each_with_its_own_players(deal: Deal) -> None:
    versions = [make_version(f"Bot {n}", games=BOTH if n < 5 else BOTH[:1]) for n in range(1, 7)]
    tournament = make_event("knock-out", versions=versions, ladders=BOTH)
    first = list(tournament.pairings.order_by("id").values_list("ladder", "round", "number"))
    assert first == [
        *[("dogon-kulei", 1, 1), ("dogon-kulei", 1, 2)],
        *[("duploline", 1, 3), ("duploline", 1, 4)],
    ]
    play_on(tournament, deal, first_name_wins)
    last = dict(tournament.pairings.order_by("round").values_list("ladder", "round"))
    assert last == {"dogon-kulei": 3, "duploline": 2}
    assert tournament.state == State.FINISHED


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
def test_a_game_that_cannot_be_played_keeps_no_event_waiting(deal: Deal, kind: str) -> None:
    """It is half a point for both; the tournament is halted at its end, for somebody to see."""
    tournament = make_event(kind, bots=4, rounds=2) if kind == "swiss" else make_event(kind, bots=4)
    bad = "test-event/1/1/1"
    for _ in range(MAX_VOIDS):
        for job in deal():
            for report in play_short(job, first_name_wins):
                record(void(report) if report.key == bad else report)
    assert Game.objects.get(key=bad).state == Game.State.HALTED
    (met, *_) = played_meetings(tournament)["duploline"]
    assert (met.first_points, met.second_points) == (1.5, 0.5)
    play_on(tournament, deal, first_name_wins)
    assert tournament.state == State.HALTED
    assert max(tournament.pairings.values_list("round", flat=True)) == 2


def test_what_a_round_is_made_of_does_not_depend_on_the_order_of_its_results(deal: Deal) -> None:
    versions = [make_version(f"Bot {n}", games=BOTH) for n in range(1, 8)]
    told = []
    for order in range(2):
        event = make_event(
            "swiss", versions=versions, ladders=BOTH, opening_plies=2, name=f"Event {order}", rated=False
        )
        while not event.is_over:
            reports = []
            while jobs := deal():
                reports += [report for job in jobs for report in play_short(job, first_name_wins)]
                random.Random(order).shuffle(reports)
                record_all(reports)
            tend()
            event.refresh_from_db()
        fields = ("ladder", "round", "number", "first", "second", "opening", "seed")
        told.append(list(event.pairings.order_by("id").values_list(*fields)))
    assert told[0] == told[1]


def test_a_round_that_was_not_stored_is_made_again_by_the_next_call(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the death of the process that was making it."""
    tournament = make_event("swiss", bots=4)
    play_round(deal)
    with transaction.atomic():
        assert rounds.advance(tournament.pk)
        transaction.set_rollback(True)
    assert set(tournament.pairings.values_list("round", flat=True)) == {1}
    with monkeypatch.context() as patch:
        patch.setattr(swiss, "swiss_round", lambda *_: 1 / 0)
        assert rounds.advance_all() == 0
    assert rounds.advance_all() == 1
    assert set(tournament.pairings.values_list("round", flat=True)) == {1, 2}


def test_no_round_is_made_of_a_tournament_that_is_paused(deal: Deal) -> None:
    tournament = make_event("swiss", bots=4)
    play_round(deal)
    Tournament.objects.filter(pk=tournament.pk).update(state=State.PAUSED)
    assert tend() == 0
    assert not rounds.advance(tournament.pk)
    assert Pairing.objects.count() == 2
