"""Reports, rounds, limits and version tests, each asked for several times at once, with a database in a file.

``work/test_at_once.py`` has the asks for work and the order of locks.
"""

from __future__ import annotations

from collections import Counter

import pytest
from pytest_django import Settings

from tests.support.schedule import (
    all_drawn,
    ask,
    candidate_wins,
    make_event,
    make_test,
    make_tournament,
    make_user,
    make_version,
    make_workers,
    play_short,
    record,
    record_all,
    record_short,
    take_jobs,
)
from tests.support.threads import at_once
from tournament.formats.base import TournamentError
from tournament.models import (
    Attempt,
    CountedPair,
    Game,
    GameRecord,
    Ladder,
    LadderRating,
    Pairing,
    RatingEvent,
    Tournament,
    VersionTest,
)
from tournament.services.results import effects, keeper
from tournament.services.results.rebuilding import rebuild
from tournament.services.schedule import rounds
from tournament.services.schedule.limits import LimitError
from tournament.services.schedule.tournaments import extend, pause, resume, start
from tournament.services.version_tests.progress import stop_test, tend_tests

pytestmark = pytest.mark.django_db(transaction=True)
State = Tournament.State


@pytest.fixture(autouse=True)
def worker(transactional_db: None) -> None:
    make_workers()


def test_every_report_delivered_three_times_at_once_is_recorded_once() -> None:
    tournament = make_tournament(bots=3, pairs=2, ladders=["dogon-kulei"])
    outcomes: Counter[object] = Counter()
    while jobs := take_jobs():
        for job in jobs:
            for report in play_short(job):
                results = at_once(*[lambda report=report: record(report)] * 3)
                outcomes.update(getattr(r, "reason", type(r).__name__) for r in results)
    assert outcomes.pop("Recorded") == 12
    assert set(outcomes) <= {"repeat", "late"}
    assert sum(outcomes.values()) == 24
    check_consistent(tournament)


def test_different_games_reported_at_once_get_each_their_number() -> None:
    tournament = make_tournament(bots=3, pairs=2, ladders=["dogon-kulei"])
    while jobs := take_jobs():
        reports = [report for job in jobs for report in play_short(job)]
        results = at_once(*[lambda report=report: record(report) for report in reports])
        assert all(isinstance(result, keeper.Recorded) for result in results), results
    check_consistent(tournament)


def test_slots_that_ask_at_once_claim_each_game_once() -> None:
    make_tournament(bots=3, pairs=4, ladders=["dogon-kulei"])
    batches = at_once(*[lambda slot=slot: ask(slot=slot) for slot in range(4)])
    claimed = Game.objects.filter(state=Game.State.CLAIMED)
    taken = [game.attempt for batch in batches if batch for job in batch.jobs for game in job.games]
    assert claimed.count() == len(taken) == len(set(taken)) > 0
    assert {str(game.attempt) for game in claimed} == set(taken)
    assert Attempt.objects.count() == len(taken)


def test_a_failed_transaction_leaves_nothing_and_the_report_can_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tournament = make_tournament(ladders=["dogon-kulei"])
    (job,) = take_jobs()
    first, second = play_short(job)
    with monkeypatch.context() as patch:
        patch.setattr(effects, "count_finished", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            record(first)
    assert not GameRecord.objects.exists()
    assert not RatingEvent.objects.exists()
    for report in (first, second):
        assert isinstance(record(report), keeper.Recorded)
    check_consistent(tournament)


def check_consistent(tournament: Tournament) -> None:
    """Every game has one result, one record and its number; ratings equal a rebuild to the bit."""
    tournament.refresh_from_db()
    total = tournament.games_total
    assert (tournament.state, tournament.games_done) == (Tournament.State.FINISHED, total)
    assert GameRecord.objects.count() == total
    numbers = Game.objects.order_by("sequence").values_list("sequence", flat=True)
    assert list(numbers) == list(range(1, total + 1))
    assert Ladder.objects.get(pk="dogon-kulei").sequence == total
    assert sum(LadderRating.objects.values_list("games", flat=True)) == RatingEvent.objects.count()
    assert not any(one.changed for one in rebuild())


def test_a_round_asked_for_several_times_at_once_is_made_once() -> None:
    tournament = make_event("swiss", bots=6, rounds=3, ladders=["dogon-kulei"])
    for number in range(1, 4):
        while jobs := take_jobs():
            record_short(jobs)
        assert sorted(at_once(*[lambda: rounds.advance(tournament.pk)] * 4)) == [False, False, False, True]
        assert tournament.pairings.count() == 3 * min(number + 1, 3)
    check_consistent(tournament)


def refused(results: list[object]) -> int:
    assert all(result is None or isinstance(result, (LimitError, Tournament)) for result in results), results
    return sum(isinstance(result, LimitError) for result in results)


def test_requests_at_once_pass_no_limit_together(settings: Settings) -> None:
    user = make_user()
    versions = [make_version(name) for name in ("Ada", "Bob")]

    def draft() -> Tournament:
        return make_tournament(owner=user, versions=versions, running=False)

    settings.MAX_DRAFTS = 3
    assert refused(at_once(*[draft] * 6)) == 3
    settings.MAX_RUNNING = 1
    drafts = list(Tournament.objects.filter(state=State.DRAFT))
    assert refused(at_once(*[lambda one=one: start(one) for one in drafts])) == 2
    settings.MAX_RUNNING = 3
    for one in Tournament.objects.filter(state=State.DRAFT):
        start(one)
    for one in Tournament.objects.running():
        pause(one)
    settings.MAX_RUNNING = 1
    paused = list(Tournament.objects.filter(state=State.PAUSED))
    assert refused(at_once(*[lambda one=one: resume(one) for one in paused])) == 2
    Tournament.objects.update(state=State.FINISHED)
    ended = list(Tournament.objects.all())
    assert refused(at_once(*[lambda one=one: extend(one, 1) for one in ended])) == 2


def test_a_pair_is_made_once_and_counts_once_whatever_is_called_at_once() -> None:
    tournament = make_test(make_user())
    while jobs := take_jobs():
        reports = [report for job in jobs for report in play_short(job, candidate_wins)]
        calls = [lambda reports=reports: record_all(reports)] * 2
        at_once(*calls, tend_tests, tend_tests, tend_tests)
        tend_tests()
    test = VersionTest.objects.get()
    assert test.outcome == "H1"
    assert test.wins == 2 * CountedPair.objects.count() == 2 * test.looked_at
    numbers = list(Pairing.objects.order_by("id").values_list("round", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    tournament.refresh_from_db()
    assert tournament.games_done == tournament.games_total == tournament.games.done().count()


def test_of_a_verdict_and_two_stops_at_once_one_counts() -> None:
    tournament = make_test(make_user(), most_games=8)
    while VersionTest.objects.get().looked_at < 2:
        record_all([report for job in take_jobs() for report in play_short(job, all_drawn)][:4])
        tend_tests()
    calls = [lambda: stop_test(tournament, "its owner stopped it")] * 2
    results = at_once(tend_tests, *calls)
    refused = [result for result in results if isinstance(result, TournamentError)]
    assert len(refused) == 1, results
    assert VersionTest.objects.get().outcome == "stopped"
