"""A running tournament: priority, pause, resume, extension, and their effects on queued jobs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from engines.rules.base import Result
from tests.support.schedule import (
    LADDER,
    FakeBroker,
    make_event,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    start_validation,
    word_of,
)
from tournament.models import Attempt, Game, Keeper, LiveGame, Tournament
from tournament.services.calendar import tend
from tournament.services.dispatch.leases import keeper_started
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import (
    TournamentError,
    cancel,
    create_validation,
    extend,
    pause,
    resume,
    set_priority,
    start,
)
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db
Deal = Callable[[], list[GameJob]]
Kind, State = Tournament.Kind, Tournament.State


@pytest.fixture(autouse=True)
def one_slot(settings: Settings) -> None:
    settings.SLOTS = 1
    keeper_started()


def play(jobs: list[GameJob]) -> list[keeper.Recorded | keeper.GivenBack | keeper.IgnoredReport]:
    return [keeper.record(report) for job in jobs for report in play_short(job, lambda *_: Result.DRAW)]


def names(jobs: list[GameJob]) -> list[str]:
    return [job.games[0].key.split("/")[0] for job in jobs]


@pytest.mark.parametrize("end", [pause, cancel])
def test_a_pause_and_a_cancellation_stop_the_games_under_way(
    end: Callable[[Tournament], None],
    deal: Deal,
    queues: FakeBroker,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    tournament, other = make_tournament(pairs=30), make_tournament(pairs=30, name="Other")
    for name in ("east", "west"):
        make_worker(name=name)
    mine, its, *queued = deal()
    assert names([mine, its]) == ["test-match", "other"]
    for job in (mine, its):
        keeper.progress(word_of(job.games[0]))
    with django_capture_on_commit_callbacks(execute=True):
        end(tournament)
    stopped = [mine, *(job for job in queued if names([job]) == ["test-match"])]
    sent_to = {str(job): worker for job, worker in Attempt.objects.values_list("job", "assigned")}
    assert set(queues.stopped) == {(sent_to[job.job], job.job) for job in stopped}
    assert set(sent_to.values()) == {"east", "west"}
    assert not Attempt.objects.filter(game__tournament=tournament, ended_at=None).exists()
    assert set(LiveGame.objects.values_list("game__tournament", flat=True)) == {other.pk}
    assert not Game.objects.exclude(voids=0, lost=0).exists()
    assert play([mine]) == [keeper.IgnoredReport("late")] * len(mine.games)


def test_a_paused_tournament_plays_its_stopped_games_again(deal: Deal) -> None:
    tournament = make_tournament()
    begun = deal()
    keeper.progress(word_of(begun[0].games[0]))
    pause(tournament)
    assert deal() == []
    resume(tournament)
    again = deal()
    assert [[game.key for game in job.games] for job in again] == [
        [game.key for game in job.games] for job in begun
    ]
    assert all(isinstance(outcome, keeper.Recorded) for outcome in play(again))
    tournament.refresh_from_db()
    assert tournament.state == State.FINISHED


def test_a_worker_that_missed_the_command_to_stop_gets_it_at_its_next_progress(
    deal: Deal, queues: FakeBroker
) -> None:
    tournament = make_tournament()
    job, *_ = deal()
    keeper.progress(word_of(job.games[0]))
    pause(tournament)
    assert not keeper.progress(word_of(job.games[0]))
    assert queues.stopped == [("host", job.job)]


def test_a_late_progress_message_of_a_recorded_game_stops_nothing(deal: Deal, queues: FakeBroker) -> None:
    make_tournament()
    make_worker(name="host")
    job, *_ = deal()
    play([job])
    assert not keeper.progress(word_of(job.games[0]))
    assert queues.stopped == []


def test_a_higher_priority_is_played_next_whatever_is_queued(deal: Deal) -> None:
    make_tournament(pairs=30)
    other = make_tournament(pairs=30, versions=[make_version("Cy"), make_version("Dora")], name="Other")
    assert names(deal()) == ["test-match", "other"] * 2
    assert deal() == []
    set_priority(other, 5)
    assert names(deal()) == ["other"] * 4
    set_priority(other, -5)
    assert names(deal()) == ["test-match"] * 4


def test_the_same_priority_again_disturbs_nobody(deal: Deal) -> None:
    tournament = make_tournament(pairs=30)
    deal()
    set_priority(tournament, 0)
    assert deal() == []
    with pytest.raises(TournamentError, match="priority: must be from -100 to 100, not 101"):
        set_priority(tournament, 101)


def test_a_validation_does_not_wait_for_what_is_queued(deal: Deal) -> None:
    make_tournament(pairs=30)
    deal()
    version = make_version("Cy", owner=make_user())
    start_validation(version)
    assert names(deal())[0] == "validation-of-cy-v1"


def test_a_cancelled_tournament_leaves_the_queue(deal: Deal, queues: FakeBroker) -> None:
    tournament = make_tournament(pairs=30)
    queues.jobs = deal()
    cancel(tournament)
    assert deal() == []
    assert not Keeper.objects.get().recalls


def test_more_cycles_make_the_schedule_of_a_longer_tournament(deal: Deal) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    short = make_tournament(versions=versions, pairs=1, opening_plies=2)
    long = make_tournament(versions=versions, pairs=3, opening_plies=2, running=False)
    while jobs := deal():
        play(jobs)
    short.refresh_from_db()
    assert short.state == State.FINISHED
    extend(short, 2)
    assert (short.state, short.finished_at, short.pairs, short.games_total) == (State.RUNNING, None, 3, 18)
    fields = ("ladder", "round", "number", "first", "second", "opening", "seed")
    planned = [list(t.pairings.order_by("id").values_list(*fields)) for t in (short, long)]
    assert planned[0] == planned[1]
    while jobs := deal():
        play(jobs)
    short.refresh_from_db()
    assert (short.state, short.games_done) == (State.FINISHED, 18)


def test_more_rounds_go_on_with_a_swiss_that_was_finished(deal: Deal) -> None:
    tournament = make_event(Kind.SWISS, bots=4, rounds=1)
    play(deal())
    assert tend() == 1
    extend(tournament, 2)
    assert (tournament.state, tournament.rounds) == (State.RUNNING, 3)
    for _ in range(2):
        assert tend() == 1
        play(deal())
    tend()
    tournament.refresh_from_db()
    assert (tournament.state, tournament.games_done) == (State.FINISHED, 12)
    assert tournament.pairings.values("first", "second").distinct().count() == 6


def test_a_paused_tournament_is_extended_and_stays_paused(deal: Deal) -> None:
    tournament = make_tournament()
    pause(tournament)
    extend(tournament, 1)
    assert (tournament.state, tournament.games_total) == (State.PAUSED, 4)
    assert deal() == []


def test_what_cannot_be_done_is_refused_in_a_sentence() -> None:
    draft = make_tournament(running=False)
    running = make_event(Kind.KNOCK_OUT, versions=[make_version(name) for name in ("Ada", "Bob")])
    validation = create_validation(make_version("Cy"))
    start(validation)
    refusals: list[tuple[Callable[[], None], str]] = [
        (lambda: pause(draft), "'Test match' is draft, only a running tournament can be paused"),
        (lambda: resume(running), "'Test event' is running, only a paused tournament can be resumed"),
        (lambda: extend(draft, 1), "'Test match' is draft, only a tournament that was started"),
        (lambda: extend(running, 1), "a knock-out cannot be extended"),
        (lambda: extend(validation, 1), "a validation cannot be extended"),
    ]
    for call, sentence in refusals:
        with pytest.raises(TournamentError, match=sentence):
            call()


def test_an_extension_past_all_measure_is_refused() -> None:
    tournament = make_tournament(pairs=900)
    with pytest.raises(TournamentError, match="pairs: must be from 901 to 1000, not 1001"):
        extend(tournament, 101)
    with pytest.raises(TournamentError, match="pairs: must be from 901 to 1000, not 900"):
        extend(tournament, 0)
    assert tournament.games.filter(ladder=LADDER).count() == 1800
