"""Steps of a version test taken several times at once, with a database in a file."""

from __future__ import annotations

import pytest

from engines.rules.base import Result
from tests.support.schedule import make_test, make_user, make_workers, play_short, take_all
from tests.support.threads import at_once
from tournament.formats.base import TournamentError
from tournament.models import CountedPair, Pairing, VersionTest
from tournament.services.results import keeper
from tournament.services.version_tests.progress import stop_test, tend_tests
from workers.jobs import GameJob, JobGame

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def worker(transactional_db: None) -> None:
    make_workers()


def jobs_taken() -> list[GameJob]:
    return [job for batch in take_all() for job in batch.jobs]


def candidate_wins(_: GameJob, game: JobGame) -> Result:
    return Result.WHITE_WINS if game.white == 0 else Result.BLACK_WINS


def test_a_pair_is_made_once_and_counts_once_whatever_is_called_at_once() -> None:
    tournament = make_test(make_user())
    while jobs := jobs_taken():
        reports = [report for job in jobs for report in play_short(job, candidate_wins)]
        calls = [lambda reports=reports: keeper.record_all(reports)] * 2
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
        keeper.record_all(
            [report for job in jobs_taken() for report in play_short(job, lambda *_: Result.DRAW)][:4]
        )
        tend_tests()
    calls = [lambda: stop_test(tournament, "its owner stopped it")] * 2
    results = at_once(tend_tests, *calls)
    refused = [result for result in results if isinstance(result, TournamentError)]
    assert len(refused) == 1, results
    assert VersionTest.objects.get().outcome == "stopped"
