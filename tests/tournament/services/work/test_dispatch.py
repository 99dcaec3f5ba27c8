"""The dispatcher: which games are claimed and sent, and how many."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    FakeBroker,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_all,
    start_validation,
)
from tournament.models import Attempt, Game, Tournament
from tournament.services.dispatch import dispatch
from tournament.services.dispatch.batches import engine_spec
from tournament.services.dispatch.rooms import BATCHES_AHEAD_A_SLOT
from tournament.services.results import keeper
from workers.jobs import GameJob, JobGame, Release

pytestmark = pytest.mark.django_db
Deal = Callable[[], list[GameJob]]


def test_a_job_is_a_pair_with_all_a_worker_needs(deal: Deal) -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    versions[0].options = {"Hash": "16"}
    versions[0].save()
    make_tournament(versions=versions, opening_plies=2)
    (job,) = deal()
    pairing = Game.objects.earliest("id").pairing
    assert (job.game, job.time_control, job.opening, job.fen, job.seed) == (
        "duploline",
        "1+0.1",
        pairing.opening_moves,
        None,
        pairing.seed,
    )
    ada = job.engines[0]
    assert (ada.name, ada.version, ada.command, ada.bundle, ada.options) == (
        "Ada",
        "1",
        ("python3", "main.py"),
        versions[0].bundle_id,
        (("Hash", "16"),),
    )
    assert [(game.key, game.white) for game in job.games] == [
        ("test-match/1/1/1", 0),
        ("test-match/1/1/2", 1),
    ]
    assert GameJob.from_json(job.to_json()) == job


def test_a_claim_writes_an_attempt_and_is_made_once(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    assert deal() == []
    for told in job.games:
        game = Game.objects.get(key=told.key)
        assert (game.state, str(game.attempt)) == (Game.State.CLAIMED, told.attempt)
        attempt = Attempt.objects.get(pk=told.attempt)
        assert (str(attempt.job), attempt.lease_until, attempt.ended_at) == (job.job, None, None)


def test_no_more_is_claimed_than_the_buffer_holds(deal: Deal, settings: Settings) -> None:
    settings.SLOTS = 1
    make_tournament(pairs=30)
    assert len(deal()) == BATCHES_AHEAD_A_SLOT
    assert deal() == []


def test_the_buffer_is_as_large_as_the_workers_that_play_need(deal: Deal, settings: Settings) -> None:
    settings.SLOTS = 1
    make_tournament(pairs=60)
    east, west = make_worker(slots=2), make_worker(slots=4, held=1, name="players@west")
    make_worker(slots=8, queue="validation", name="validators@east")
    assert len(deal()) == BATCHES_AHEAD_A_SLOT * 5
    west.quarantined_at = timezone.now()
    west.save()
    assert dispatch.buffer_batches() == BATCHES_AHEAD_A_SLOT * 2
    east.delete()
    assert dispatch.buffer_batches() == 0


def test_the_buffer_is_topped_up_when_half_of_it_is_used(
    deal: Deal, settings: Settings, queues: FakeBroker
) -> None:
    settings.SLOTS = 1
    make_tournament(pairs=30)
    jobs = deal()
    for report in play_all(jobs[0]):
        keeper.record(report)
    assert dispatch.top_up() == 0
    for report in play_all(jobs[1]):
        keeper.record(report)
    assert dispatch.top_up() == 4


def test_running_tournaments_take_turns(deal: Deal, settings: Settings) -> None:
    settings.SLOTS = 1
    make_tournament(pairs=30)
    make_tournament(versions=[make_version("Cy"), make_version("Dora")], pairs=30, name="Other")
    keys = [job.games[0].key.split("/")[0] for job in deal()]
    assert keys == ["test-match", "other", "test-match", "other"]


def test_validations_have_a_queue_and_a_buffer_of_their_own(
    deal: Deal, settings: Settings, queues: FakeBroker
) -> None:
    settings.SLOTS = 1
    make_tournament(pairs=30)
    deal()
    assert set(queues.queues) == {"games.host"}
    version = make_version("Cy", owner=make_user())
    start_validation(version)
    (job,) = deal()
    assert queues.queues[-1] == "validation.checker"
    assert job.engines == (engine_spec(version),) * 2
    assert [game.white for game in job.games] == [0]


def test_a_game_given_back_is_sent_alone_under_the_same_key(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    first, second = play_all(job)
    keeper.record(first)
    lost = Attempt.objects.get(pk=second.attempt)
    keeper.release(Release(second.key, second.attempt, "host/1"))
    (again,) = deal()
    assert again.games == (JobGame(second.key, again.games[0].attempt, 1),)
    assert again.games[0].attempt != str(lost.pk)


def many_tournaments(number: int) -> None:
    """Copies of a tournament with one pair, which has games already."""
    first = make_tournament(time_control="999999+0")  # none of them fits
    pairing, games = first.pairings.get(), list(first.games.order_by("id"))
    for count in range(number):
        first.pk, first.slug = None, f"copy-{count}-{Tournament.objects.count()}"
        first.save(force_insert=True)
        pairing.pk, pairing.tournament = None, first
        pairing.save(force_insert=True)
        for game in games:
            game.pk, game.key, game.tournament, game.pairing = (
                None,
                f"{first.slug}/{game.number}",
                first,
                pairing,
            )
        Game.objects.bulk_create(games)


def test_the_number_of_queries_does_not_grow_with_the_tournaments_that_have_to_wait(
    deal: Deal, settings: Settings
) -> None:
    settings.SLOTS = 1
    make_tournament(versions=[make_version("Cy"), make_version("Dora")], pairs=2, name="Other")
    many_tournaments(3)
    assert len(deal()) == 2  # there is room for two more, but not for long ones
    with CaptureQueriesContext(connection) as few:
        assert deal() == []
    many_tournaments(60)
    with CaptureQueriesContext(connection) as many:
        assert deal() == []
    assert len(many) == len(few) < 20


def test_only_tournaments_whose_games_are_sent_are_read(deal: Deal, settings: Settings) -> None:
    settings.SLOTS = 1
    for number in range(12):
        versions = [make_version(f"One {number}"), make_version(f"Two {number}")]
        make_tournament(versions=versions, name=f"Number {number}", pairs=30)
    with CaptureQueriesContext(connection) as made:
        assert len(deal()) == BATCHES_AHEAD_A_SLOT
    assert not [one["sql"] for one in made if '"tournament_game"."id" > 0' in one["sql"]]
    assert len(made) < 60


def test_a_long_pair_of_one_owner_does_not_hold_back_short_pairs_of_another(
    deal: Deal, settings: Settings
) -> None:
    settings.SLOTS, settings.MAX_GAME_MINUTES = 2, 0
    ada, bob = make_user("ada"), make_user("bob")
    slow = [make_version("Slow one"), make_version("Slow two")]
    quick = [make_version("Quick one"), make_version("Quick two")]
    make_tournament(versions=quick, owner=bob, pairs=200, name="Quick", time_control="0.05/move")
    jobs = deal()
    assert len(jobs) == 2 * BATCHES_AHEAD_A_SLOT
    for job in jobs[:5]:
        for game in job.games:
            keeper.release(Release(game.key, game.attempt, "host/1"))
    make_tournament(versions=slow, owner=ada, pairs=5, name="Slow", time_control="8+0")
    assert {job.games[0].key.partition("/")[0] for job in deal()} == {"quick"}


def test_drafts_and_cancelled_tournaments_are_not_played(deal: Deal) -> None:
    tournament = make_tournament(running=False)
    Tournament.objects.filter(pk=tournament.pk).update(state=Tournament.State.CANCELLED)
    assert deal() == []
