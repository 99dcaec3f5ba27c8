"""Large schedules are made, extended and cancelled in steps, each game once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from tests.support.filled_site import LADDER, fill_site, round_robin
from tests.support.schedule import make_event, make_tournament, make_version, play_short
from tournament.models import Game, ScheduleStep, Tournament
from tournament.services.calendar import STEPS_AT_ONCE, tend
from tournament.services.results import keeper
from tournament.services.schedule import steps, tournaments
from tournament.services.schedule.steps import first_steps, take_step
from tournament.services.schedule.tournaments import TournamentError, cancel, extend, pause, start
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db
Deal = Callable[[], list[GameJob]]
Kind, State = Tournament.Kind, Tournament.State
FIELDS = ("ladder", "round", "number", "first", "second", "opening", "seed")


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four games a step."""
    monkeypatch.setattr(steps, "PAIRINGS_A_STEP", 2)
    for module in (steps, tournaments):
        monkeypatch.setattr(module, "GAMES_A_STEP", 4)


def planned(tournament: Tournament) -> list[tuple[object, ...]]:
    return list(tournament.pairings.order_by("id").values_list(*FIELDS))


def finish_steps() -> None:
    while ScheduleStep.objects.exists():
        assert tend()


def play(jobs: list[GameJob]) -> None:
    for job in jobs:
        keeper.record_all(list(play_short(job)))


@pytest.fixture
def whole() -> list[tuple[object, ...]]:
    """The schedule of ten games as it is made at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "PAIRINGS_A_STEP", 100)
        versions = [make_version(name) for name in ("Ada", "Bob")]
        return planned(make_tournament(versions=versions, pairs=5, opening_plies=2, name="Whole"))


def test_a_large_tournament_is_made_by_the_beat_as_if_it_were_made_at_once(
    whole: list[tuple[object, ...]],
) -> None:
    versions = [make_version(name, owner=None) for name in ("Ada", "Bob")]
    tournament = make_tournament(versions=versions, pairs=5, opening_plies=2)
    assert tournament.state == State.RUNNING
    assert (tournament.games_total, tournament.games.count()) == (10, 4)
    assert [tend() for _ in range(3)] == [1, 1, 0]
    assert tournament.games.count() == 10
    assert not ScheduleStep.objects.exists()
    without_ids = [(*row[:3], *row[5:]) for row in planned(tournament)]
    assert without_ids == [(*row[:3], *row[5:]) for row in whole]


def test_a_draft_with_many_games_has_none_and_a_cancelled_draft_keeps_none() -> None:
    large = make_tournament(pairs=5, running=False)
    small = make_tournament(pairs=2, running=False, name="Small")
    assert (large.games_total, small.games_total, Game.objects.count()) == (0, 4, 4)
    for draft in (large, small):
        cancel(draft)
        assert (draft.state, draft.games_total) == (State.CANCELLED, 0)
    assert not Game.objects.exists()
    assert not ScheduleStep.objects.exists()


def test_a_tournament_does_not_end_before_all_of_its_games_are_made(deal: Deal) -> None:
    tournament = make_tournament(pairs=5)
    played = 0
    while Tournament.objects.running().exists():
        assert tend() or played
        jobs = deal()
        play(jobs)
        played += sum(len(job.games) for job in jobs)
    tournament.refresh_from_db()
    assert (played, tournament.state) == (10, State.FINISHED)
    assert tournament.games_done == tournament.games_total == tournament.games.done().count() == 10


def test_an_extension_in_steps_makes_the_schedule_of_a_longer_tournament() -> None:
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    short = make_tournament(versions=versions, pairs=1, opening_plies=2)
    long = make_tournament(versions=versions, pairs=4, opening_plies=2, name="Long")
    extend(short, 1)
    extend(short, 2)
    assert short.games_total == 24
    finish_steps()
    assert planned(short) == planned(long)
    assert short.games.count() == long.games.count() == 24


def test_a_round_of_many_games_is_made_in_steps_and_only_once(deal: Deal) -> None:
    tournament = make_event(Kind.SWISS, bots=6, rounds=2, pairs=2)
    for total in (12, 24):
        tournament.refresh_from_db()
        assert tournament.games_total == total
        finish_steps()
        assert tournament.games.count() == total
        while jobs := deal():
            play(jobs)
        tend()
    tournament.refresh_from_db()
    assert (tournament.state, tournament.games_done) == (State.FINISHED, 24)


def test_a_cancellation_drops_what_is_not_made_and_cancels_the_rest_in_steps() -> None:
    tournament = make_tournament(pairs=7)
    finish_steps()
    assert tournament.games.count() == 14
    extend(tournament, 3)
    cancel(tournament)
    states = tournament.games.values_list("state", flat=True)
    assert list(states.order_by("id")) == [Game.State.CANCELLED] * 4 + [Game.State.WAITING] * 14
    assert [tend() for _ in range(5)] == [1, 1, 1, 1, 0]
    assert set(states.order_by()) == {Game.State.CANCELLED}


def test_a_step_that_was_taken_or_dropped_makes_nothing() -> None:
    tournament = make_tournament(pairs=5)
    (step,) = first_steps()
    assert take_step(step)
    assert not take_step(step)
    assert tournament.games.count() == 8
    (step,) = first_steps()
    cancel(tournament)
    assert not take_step(step)
    assert tournament.games.count() == 8


def test_tournaments_take_turns() -> None:
    made = [make_tournament(pairs=5, name=name) for name in ("One", "Two", "Three")]
    tend()
    assert [one.games.count() for one in made] == [8] * STEPS_AT_ONCE + [4]


def test_openings_that_cannot_be_drawn_cancel_a_tournament_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise TournamentError("opening plies: there is no opening")

    tournament = make_tournament(pairs=5, running=False)
    with monkeypatch.context() as patch:
        patch.setattr(steps, "plan_cycles", fail)
        with pytest.raises(TournamentError, match="there is no opening"):
            start(tournament)
        tend()
    tournament.refresh_from_db()
    assert tournament.state == State.CANCELLED
    assert tournament.state_reason == "its games could not be made: there is no opening"


def test_a_paused_tournament_is_completed_and_stays_paused() -> None:
    tournament = make_tournament(pairs=5)
    pause(tournament)
    finish_steps()
    tournament.refresh_from_db()
    assert (tournament.state, tournament.games.count()) == (State.PAUSED, 10)


def test_the_page_says_how_many_games_are_still_to_be_made(client: Client) -> None:
    site = fill_site()
    tournament = round_robin(site.owner, "Large", [site.white, site.black], 5, [LADDER])
    start(tournament)
    address = tournament.get_absolute_url()
    page = client.get(address)
    assert "6 games of the schedule still to be made" in page.content.decode()
    seen = {"seen": page.context["seen"]}
    assert client.get(address, seen, headers={"HX-Request": "true"}).status_code == 204
    tend()
    live = client.get(address, seen, headers={"HX-Request": "true"}).content.decode()
    assert "2 games of the schedule still to be made" in live
    finish_steps()
    assert "to be made" not in client.get(address).content.decode()
