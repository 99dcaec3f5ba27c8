"""Running tournaments: priority, pause, resume, extension, and steps of several, of which one fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    LADDER,
    Deal,
    all_drawn,
    begin_game,
    make_event,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    open_door,
    play_all,
    play_short,
    post,
    record_all,
    record_short,
    start_validation,
)
from tournament.models import Attempt, Game, LiveGame, RatingEvent, Tournament
from tournament.services.calendar import tend
from tournament.services.results import keeper
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule import pairings, tournaments
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.tournaments import (
    TournamentError,
    cancel,
    continue_cancelled,
    extend,
    pause,
    resume,
    set_priority,
)
from tournament.services.schedule.walkovers import end_games_of_withdrawn
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db

State = Tournament.State


@pytest.fixture(autouse=True)
def one_slot(settings: Settings) -> None:
    settings.SLOTS = 1
    open_door()


def names(jobs: list[GameJob]) -> list[str]:
    return [job.games[0].key.split("/")[0] for job in jobs]


@pytest.mark.parametrize("end", [pause, cancel])
def test_a_pause_and_a_cancellation_stop_the_games_under_way(
    end: Callable[[Tournament], None], deal: Deal
) -> None:
    tournament, other = make_tournament(pairs=30), make_tournament(pairs=30, name="Other")
    mine, its, *_ = deal()
    assert names([mine, its]) == ["test-match", "other"]
    for job in (mine, its):
        begin_game(job.games[0])
    end(tournament)
    assert set(begin_game(mine.games[0]).stop) == {game.attempt for game in mine.games}
    assert begin_game(its.games[0]).stop == ()
    assert not Attempt.objects.filter(game__tournament=tournament, ended_at=None).exists()
    assert set(LiveGame.objects.values_list("game__tournament", flat=True)) == {other.pk}
    assert not Game.objects.exclude(voids=0, lost=0).exists()
    assert record_short([mine], all_drawn) == [keeper.IgnoredReport("late")] * len(mine.games)


def test_a_paused_tournament_plays_its_stopped_games_again(deal: Deal) -> None:
    tournament = make_tournament()
    begun = deal()
    begin_game(begun[0].games[0])
    pause(tournament)
    assert deal() == []
    resume(tournament)
    again = deal()
    assert [[game.key for game in job.games] for job in again] == [
        [game.key for game in job.games] for job in begun
    ]
    assert all(isinstance(outcome, keeper.Recorded) for outcome in record_short(again, all_drawn))
    tournament.refresh_from_db()
    assert tournament.state == State.FINISHED


def test_a_slot_that_did_not_get_the_answer_is_told_again_to_stop(deal: Deal) -> None:
    tournament = make_tournament()
    job, *_ = deal()
    begin_game(job.games[0])
    pause(tournament)
    for _ in range(2):
        assert set(begin_game(job.games[0]).stop) == {game.attempt for game in job.games}


def test_a_reported_game_of_a_paused_tournament_counts_and_of_a_cancelled_one_does_not(deal: Deal) -> None:
    tournament = make_tournament(pairs=2)
    first, *_ = deal()
    report, *_ = play_short(first)
    post(first.job, reports=(report,))
    pause(tournament)
    assert not keeper.record_inbox(60)
    assert Game.objects.get(key=report.key).state == Game.State.DONE
    resume(tournament)
    job, *_ = deal()
    report, *_ = play_short(job)
    post(job.job, reports=(report,))
    cancel(tournament)
    assert not keeper.record_inbox(60)
    assert Game.objects.get(key=report.key).state == Game.State.CANCELLED


def test_a_late_progress_message_of_a_recorded_game_stops_nothing(deal: Deal) -> None:
    make_tournament()
    make_worker(name="host")
    job, *_ = deal()
    record_short([job], all_drawn)
    assert begin_game(job.games[0]).stop == ()


def test_a_priority_has_bounds() -> None:
    tournament = make_tournament()
    with pytest.raises(TournamentError, match="priority: must be from -100 to 100, not 101"):
        set_priority(tournament, 101)


def test_a_validation_waits_for_no_tournament(deal: Deal) -> None:
    make_tournament(pairs=30)
    deal()
    version = make_version("Cy", owner=make_user())
    start_validation(version)
    assert names(deal())[0] == "validation-of-cy-v1"


def test_more_cycles_make_the_schedule_of_a_longer_tournament(deal: Deal) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    short = make_tournament(versions=versions, pairs=1, opening_plies=2)
    long = make_tournament(versions=versions, pairs=3, opening_plies=2, running=False)
    while jobs := deal():
        record_short(jobs, all_drawn)
    short.refresh_from_db()
    assert short.state == State.FINISHED
    extend(short, 2)
    assert (short.state, short.finished_at, short.pairs, short.games_total) == (State.RUNNING, None, 3, 18)
    fields = ("ladder", "round", "number", "first", "second", "opening", "seed")
    planned = [list(t.pairings.order_by("id").values_list(*fields)) for t in (short, long)]
    assert planned[0] == planned[1]
    while jobs := deal():
        record_short(jobs, all_drawn)
    short.refresh_from_db()
    assert (short.state, short.games_done) == (State.FINISHED, 18)


def test_a_page_from_before_an_extension_extends_nothing() -> None:
    tournament = make_tournament()
    client = Client()
    client.force_login(make_user("staff", staff=True))
    page = client.get(tournament.get_absolute_url()).content.decode()
    assert '<input type="hidden" name="shown" value="1"' in page
    for _ in range(2):
        answer = client.post(
            f"{tournament.get_absolute_url()}extend/", {"more": "1", "shown": "1"}, follow=True
        )
    assert "It was extended since the page was shown: now there are 2." in answer.content.decode()
    tournament.refresh_from_db()
    assert tournament.pairs == 2


def test_more_rounds_go_on_with_a_swiss_that_was_finished(deal: Deal) -> None:
    tournament = make_event("swiss", bots=4, rounds=1)
    record_short(deal(), all_drawn)
    assert tend() == 1
    extend(tournament, 2)
    assert (tournament.state, tournament.rounds) == (State.RUNNING, 3)
    for _ in range(2):
        assert tend() == 1
        record_short(deal(), all_drawn)
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
    running = make_event("knock-out", versions=[make_version(name) for name in ("Ada", "Bob")])
    validation = start_validation(make_version("Cy"))
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


def test_a_tournament_that_fails_is_logged_and_the_others_take_their_steps(
    caplog: pytest.LogCaptureFixture,
) -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    events = [make_event("round-robin", versions=versions, name=f"Cup {n}") for n in range(4)]
    called = []

    def advance(pk: int) -> bool:
        called.append(pk)
        if pk == events[1].pk:
            raise ZeroDivisionError
        return pk != events[2].pk

    with caplog.at_level(logging.ERROR, "tournament.advancing"):
        assert take_steps(Tournament.objects.order_by("id"), advance) == 2
    assert called == [event.pk for event in events]
    assert f"tournament {events[1].pk} cannot continue" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def play_to_its_end(tournament: Tournament, deal: Deal) -> None:
    """Random games, which are all rated, until nothing is left to play."""
    while jobs := deal():
        record_all([report for job in jobs for report in play_all(job)])
        tend()
    tournament.refresh_from_db()


@pytest.mark.parametrize("kind", ["round-robin", "swiss", "knock-out"])
def test_a_cancelled_tournament_is_continued_and_plays_each_game_once(kind: str, deal: Deal) -> None:
    tournament = make_event(kind, bots=4, pairs=2)
    first, *others = deal()
    record_all(list(play_all(first)))
    before = list(RatingEvent.objects.order_by("pk").values())
    cancel(tournament)
    assert record_short(others, all_drawn) == [
        keeper.IgnoredReport("late") for job in others for _ in job.games
    ]
    assert deal() == []
    continue_cancelled(tournament)
    assert (tournament.state, tournament.finished_at) == (State.RUNNING, None)
    play_to_its_end(tournament, deal)
    assert tournament.state == State.FINISHED
    states = tournament.games.values_list("state", flat=True)
    assert list(states) == [Game.State.DONE] * tournament.games_total
    assert tournament.games_done == tournament.games_total
    after = list(RatingEvent.objects.order_by("pk").values())
    assert after[: len(before)] == before
    assert len(after) == 2 * tournament.games_total


def test_a_continued_tournament_makes_the_games_that_had_not_been_made(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairings, "PAIRINGS_AT_ONCE", 2)
    monkeypatch.setattr(tournaments, "GAMES_AT_ONCE", 4)
    tournament = make_tournament(pairs=5)
    assert tournament.games_to_make == 6
    cancel(tournament)
    assert tournament.games_to_make == 0
    continue_cancelled(tournament)
    while tend():
        pass
    play_to_its_end(tournament, deal)
    assert (tournament.state, tournament.games.count(), tournament.games_done) == (State.FINISHED, 10, 10)


def test_a_version_that_was_withdrawn_meanwhile_loses_the_games_of_a_continued_tournament(deal: Deal) -> None:
    tournament = make_tournament(bots=3)
    cancel(tournament)
    withdraw(tournament.entries.get(number=1).version, "its owner withdrew it", "Withdrawn.")
    end_games_of_withdrawn()
    continue_cancelled(tournament)
    tend()
    assert tournament.games.filter(state=Game.State.HALTED).count() == 4
    play_to_its_end(tournament, deal)
    assert tournament.state == State.FINISHED


def test_a_tournament_is_continued_only_within_a_day_and_if_it_had_begun() -> None:
    draft = make_tournament(running=False, name="Draft")
    cancel(draft)
    old = make_tournament(name="Old")
    cancel(old)
    Tournament.objects.filter(pk=old.pk).update(finished_at=timezone.now() - timedelta(hours=25))
    for one in (draft, old):
        with pytest.raises(TournamentError, match="can be continued for 24 hours after it was cancelled"):
            continue_cancelled(one)
        one.refresh_from_db()
        assert one.state == State.CANCELLED
    with pytest.raises(TournamentError, match="only a cancelled tournament can be continued"):
        continue_cancelled(make_tournament(name="Running"))
