"""Django's administration."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests.support.schedule import make_tournament, make_user, make_version
from tournament import models
from tournament.services.signing import sign

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CHANGED_HERE = [models.Bot, models.Tournament, models.Matchmaking, models.SigningKey, models.User]


@pytest.fixture
def staff(client: Client) -> Client:
    user = make_user("root", staff=True)
    user.is_superuser = True
    user.save()
    models.Matchmaking.objects.ensure()
    sign(b"text")
    make_tournament(running=False, versions=[make_version("Ada"), make_version("Bob")])
    client.force_login(user)
    return client


def test_no_table_is_there_that_nobody_changes() -> None:
    """Neither results and ratings, which only the record keeper writes, nor keys of users."""
    assert set(admin.site._registry) == set(CHANGED_HERE)


@pytest.mark.parametrize("model", CHANGED_HERE, ids=lambda model: model.__name__)
def test_every_list_and_every_row_can_be_opened(staff: Client, model: type[models.Bot]) -> None:
    name = f"admin:tournament_{model._meta.model_name}"
    assert staff.get(reverse(f"{name}_changelist")).status_code == 200
    row = model._default_manager.first()
    assert row is not None
    assert staff.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200


@pytest.mark.parametrize("model", CHANGED_HERE[:-1], ids=lambda model: model.__name__)
def test_rows_of_the_site_are_neither_added_nor_deleted(staff: Client, model: type[models.Bot]) -> None:
    name = f"admin:tournament_{model._meta.model_name}"
    row = model._default_manager.first()
    assert row is not None
    assert staff.get(reverse(f"{name}_add")).status_code == 403
    assert staff.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_times_are_changed_and_nothing_else_of_a_tournament(staff: Client) -> None:
    tournament = models.Tournament.objects.get()
    address = reverse("admin:tournament_tournament_change", args=[tournament.pk])
    later = {"starts_at_0": "2100-01-02", "starts_at_1": "12:00:00"}
    staff.post(address, {"priority": 7, "state": "running", "games_done": 1, **later})
    tournament.refresh_from_db()
    assert (tournament.priority, tournament.state, tournament.games_done) == (0, "draft", 0)
    assert tournament.starts_at is not None
    assert tournament.starts_at.year == 2100
    entries = {"entry_until_0": "2099-01-02", "entry_until_1": "12:00:00"}
    models.Tournament.objects.update(entry_closed=True)
    assert "the entries are closed" in staff.post(address, {**later, **entries}, follow=True).content.decode()
    models.Tournament.objects.update(state="running")
    assert staff.post(address, later).status_code == 302
    tournament.refresh_from_db()
    assert tournament.entry_until is None


def test_a_ladder_s_rate_and_time_control_can_be_edited_but_not_its_count_of_pairs(staff: Client) -> None:
    models.Matchmaking.objects.filter(pk="dualma").update(pairs_made=9)
    address = reverse("admin:tournament_matchmaking_change", args=["dualma"])
    asked = {"games_an_hour": 60, "time_control": "3+0.1", "opening_plies": "", "pairs_made": 1}
    assert staff.post(address, asked).status_code == 302
    row = models.Matchmaking.objects.get(pk="dualma")
    assert (row.games_an_hour, row.time_control, row.opening_plies, row.pairs_made) == (60, "3+0.1", None, 9)
    assert "time control" in staff.post(address, asked | {"time_control": "soon"}).content.decode().lower()
    row.refresh_from_db()
    assert row.time_control == "3+0.1"


def test_a_bot_is_given_to_another_user(staff: Client) -> None:
    bot, ada = models.Bot.objects.earliest("pk"), make_user("ada")
    address = reverse("admin:tournament_bot_change", args=[bot.pk])
    assert staff.post(address, {"owner": ada.pk, "name": "other", "description": ""}).status_code == 302
    bot.refresh_from_db()
    assert (bot.owner, bot.name) == (ada, "Ada")


@pytest.mark.parametrize("field", ["games", "nothing", "name"])
def test_a_field_that_no_row_refers_to_is_a_bad_request(staff: Client, field: str) -> None:
    assert staff.get(f"/admin/tournament/tournament/add/?_to_field={field}").status_code == 400
