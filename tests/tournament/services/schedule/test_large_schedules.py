"""Large schedules are made and extended in parts, each game once."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LADDER, fill_site, round_robin
from tests.support.parts import PART, seen_of
from tests.support.schedule import Deal, make_tournament, make_version, record_short
from tournament.models import Game, Tournament
from tournament.services.calendar import tend
from tournament.services.schedule import pairings, tournaments
from tournament.services.schedule.pairings import make_games
from tournament.services.schedule.tournaments import TournamentError, cancel, extend, pause, start

pytestmark = pytest.mark.django_db
State = Tournament.State
FIELDS = ("ladder", "round", "number", "first", "second", "opening", "seed")


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four games at once."""
    monkeypatch.setattr(pairings, "PAIRINGS_AT_ONCE", 2)
    monkeypatch.setattr(tournaments, "GAMES_AT_ONCE", 4)


def planned(tournament: Tournament) -> list[tuple[object, ...]]:
    return list(tournament.pairings.order_by("id").values_list(*FIELDS))


def make_all() -> None:
    while Tournament.objects.filter(games_to_make__gt=0).exists():
        assert tend()


@pytest.fixture
def whole() -> list[tuple[object, ...]]:
    """The schedule of ten games as it is made at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairings, "PAIRINGS_AT_ONCE", 100)
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


def test_a_tournament_does_not_end_before_all_of_its_games_are_made(deal: Deal) -> None:
    tournament = make_tournament(pairs=5)
    played = 0
    while Tournament.objects.running().exists():
        assert tend() or played
        jobs = deal()
        record_short(jobs)
        played += sum(len(job.games) for job in jobs)
    tournament.refresh_from_db()
    assert (played, tournament.state) == (10, State.FINISHED)
    assert tournament.games_done == tournament.games_total == tournament.games.done().count() == 10


def test_an_extension_in_parts_makes_the_schedule_of_a_longer_tournament() -> None:
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    short = make_tournament(versions=versions, pairs=1, opening_plies=2)
    long = make_tournament(versions=versions, pairs=4, opening_plies=2, name="Long")
    extend(short, 1)
    extend(short, 2)
    assert short.games_total == 24
    make_all()
    assert planned(short) == planned(long)
    assert short.games.count() == long.games.count() == 24


def test_a_cancellation_makes_no_more_games_and_cancels_the_rest() -> None:
    tournament = make_tournament(pairs=7)
    make_all()
    assert tournament.games.count() == 14
    extend(tournament, 3)
    cancel(tournament)
    assert tend() == 0
    assert list(tournament.games.values_list("state", flat=True)) == [Game.State.CANCELLED] * 18


def test_of_two_that_make_the_same_games_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = make_tournament(pairs=5)
    plan = pairings.plan_cycles

    def plan_while_another_makes(*arguments: int) -> object:
        planned = list(plan(tournament, *arguments[1:]))
        monkeypatch.setattr(pairings, "plan_cycles", plan)
        assert make_games(tournament)
        return iter(planned)

    monkeypatch.setattr(pairings, "plan_cycles", plan_while_another_makes)
    assert not make_games(tournament)
    assert tournament.games.count() == 8
    cancel(tournament)
    assert not make_games(tournament)
    assert tournament.games.count() == 8


def test_the_schedule_with_the_fewest_games_left_is_made_first() -> None:
    made = [make_tournament(pairs=pairs, name=f"{pairs} pairs") for pairs in (7, 3, 5)]
    order = []
    while tend():
        order.append([one.games.count() for one in made])
    assert order == [[4, 6, 4], [4, 6, 8], [4, 6, 10], [8, 6, 10], [12, 6, 10], [14, 6, 10]]


def test_openings_that_cannot_be_drawn_cancel_a_tournament_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise TournamentError("opening plies: there is no opening")

    tournament = make_tournament(pairs=5, running=False)
    with monkeypatch.context() as patch:
        patch.setattr(pairings, "plan_cycles", fail)
        with pytest.raises(TournamentError, match="there is no opening"):
            start(tournament)
        tend()
    tournament.refresh_from_db()
    assert tournament.state == State.CANCELLED
    assert tournament.state_reason == "its games could not be made: there is no opening"


def test_a_paused_tournament_is_completed_and_stays_paused() -> None:
    tournament = make_tournament(pairs=5)
    pause(tournament)
    make_all()
    tournament.refresh_from_db()
    assert (tournament.state, tournament.games.count()) == (State.PAUSED, 10)


def test_the_page_says_how_many_games_are_still_to_be_made(client: Client) -> None:
    site = fill_site()
    tournament = round_robin(site.owner, "Large", [site.white, site.black], 5, [LADDER])
    start(tournament)
    address = tournament.get_absolute_url()
    page = client.get(address)
    assert "6 games of the schedule still to be made" in page.content.decode()
    seen = {"seen": seen_of(page)}
    assert client.get(address, seen, headers=PART).status_code == 204
    tend()
    live = client.get(address, seen, headers=PART).content.decode()
    assert "2 games of the schedule still to be made" in live
    make_all()
    assert "to be made" not in client.get(address).content.decode()
