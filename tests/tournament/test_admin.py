"""Django's administration of a site with games."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.schedule import make_tournament, make_user, make_version, play_short
from tournament import models
from tournament.services.annulments import annul
from tournament.services.results import keeper
from tournament.services.results.estimates import refresh_estimates
from workers.jobs import GameJob

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MODELS = [model for model in admin.site._registry if model._meta.app_label == "tournament"]
WRITTEN_BY_THE_KEEPER = [
    models.Attempt,
    models.Correction,
    models.Game,
    models.GameLog,
    models.GameRecord,
    models.LadderRating,
    models.LadderEstimate,
    models.PairOutcome,
    models.PairScore,
    models.RatingEvent,
]


@pytest.fixture
def staff(client: Client, deal: Callable[[], list[GameJob]]) -> Client:
    user = make_user("root", staff=True)
    user.is_superuser = True
    user.save()
    models.Token.objects.create(user=user, name="t", digest="d" * 64, scopes=["read"])
    make_tournament(ladders=["dogon-kulei"])
    for job in deal():
        for report in play_short(job):
            keeper.record(report)
    annul(models.Game.objects.filter(number=1), "The clock was wrong.", timezone.now())
    refresh_estimates(timezone.now())
    client.force_login(user)
    return client


def test_every_table_is_there() -> None:
    ours = {getattr(models, name) for name in models.__all__}
    assert ours == set(MODELS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_list_and_every_row_can_be_opened(staff: Client, model: type[models.Game]) -> None:
    name = f"admin:tournament_{model._meta.model_name}"
    assert staff.get(reverse(f"{name}_changelist")).status_code == 200
    if row := model._default_manager.first():
        assert staff.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200


@pytest.mark.parametrize("model", WRITTEN_BY_THE_KEEPER, ids=lambda model: model.__name__)
def test_played_games_cannot_be_edited(staff: Client, model: type[models.Game]) -> None:
    name = f"admin:tournament_{model._meta.model_name}"
    row = model._default_manager.first()
    assert row is not None
    assert staff.get(reverse(f"{name}_add")).status_code == 403
    assert staff.post(reverse(f"{name}_change", args=[row.pk]), {}).status_code == 403
    assert staff.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_lists_do_not_ask_row_by_row(
    staff: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        make_version(f"More {number}")
    with django_assert_max_num_queries(8):
        staff.get(reverse("admin:tournament_botversion_changelist"))


def act(staff: Client, action: str, tournament: models.Tournament) -> str:
    """Apply an action to one tournament in the list; returns the message of the list."""
    address = reverse("admin:tournament_tournament_changelist")
    page = staff.post(address, {"action": action, "_selected_action": [tournament.pk]}, follow=True)
    tournament.refresh_from_db()
    return page.content.decode()


def test_tournaments_are_started_paused_resumed_extended_and_cancelled_from_their_list(
    staff: Client,
) -> None:
    tournament = make_tournament(running=False, versions=[make_version("Ada"), make_version("Bob")])
    for action, state in [
        ("start", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("extend", "running"),
        ("cancel", "cancelled"),
    ]:
        act(staff, action, tournament)
        assert tournament.state == state
    assert (tournament.pairs, tournament.games_total) == (2, 4)
    assert "is cancelled, only a paused tournament can be resumed" in act(staff, "resume", tournament)


def test_priority_and_times_are_changed_and_nothing_else_of_a_tournament(staff: Client) -> None:
    tournament = make_tournament(running=False, versions=[make_version("Ada"), make_version("Bob")])
    address = reverse("admin:tournament_tournament_change", args=[tournament.pk])
    later = {"starts_at_0": "2100-01-02", "starts_at_1": "12:00:00"}
    staff.post(address, {"priority": 7, "state": "running", "games_done": 1, **later})
    tournament.refresh_from_db()
    assert (tournament.priority, tournament.state, tournament.games_done) == (7, "draft", 0)
    assert tournament.starts_at is not None
    assert tournament.starts_at.year == 2100
    assert "from -100 to 100, not 101" in staff.post(address, {"priority": 101}, follow=True).content.decode()


def test_a_ladder_s_rate_and_time_control_can_be_edited_but_not_its_count_of_pairs(staff: Client) -> None:
    models.Matchmaking.objects.ensure()
    models.Matchmaking.objects.filter(pk="dualma").update(pairs_made=9)
    address = reverse("admin:tournament_matchmaking_change", args=["dualma"])
    asked = {"games_an_hour": 60, "time_control": "3+0.1", "opening_plies": "", "pairs_made": 1}
    assert staff.post(address, asked).status_code == 302
    row = models.Matchmaking.objects.get(pk="dualma")
    assert (row.games_an_hour, row.time_control, row.opening_plies, row.pairs_made) == (60, "3+0.1", None, 9)
    assert "time control" in staff.post(address, asked | {"time_control": "soon"}).content.decode().lower()
    row.refresh_from_db()
    assert row.time_control == "3+0.1"
    assert staff.get(reverse("admin:tournament_matchmaking_add")).status_code == 403


def test_tournaments_are_made_by_the_site_s_form_and_never_deleted(staff: Client) -> None:
    assert staff.get(reverse("admin:tournament_tournament_add"))["Location"] == reverse("tournament-new")
    tournament = models.Tournament.objects.earliest("id")
    address = reverse("admin:tournament_tournament_delete", args=[tournament.pk])
    assert staff.post(address, {"post": "yes"}).status_code == 403


def test_a_version_withdrawn_in_the_administration_plays_no_more(staff: Client) -> None:
    version = make_version("Ada", owner=make_user())
    address = reverse("admin:tournament_botversion_change", args=[version.pk])
    fields = {"notes": "", "forfeits": 0, "state_reason": "it floods"}
    assert staff.post(address, {**fields, "state": "withdrawn"}).status_code == 302
    version.refresh_from_db()
    assert (version.state, version.state_reason) == ("withdrawn", "it floods")
    assert not version.activities.exists()
    assert version.has_games_to_end
    assert staff.post(address, {**fields, "state": "valid"}).status_code == 302
    version.refresh_from_db()
    assert (version.state, version.activities.exists()) == ("valid", True)
