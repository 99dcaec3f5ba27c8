"""Django's admin over a site that has played."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from tests.support.schedule import make_tournament, make_user, make_version, play_short
from tournament import models
from tournament.services import keeper
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db
MODELS = [model for model in admin.site._registry if model._meta.app_label == "tournament"]
WRITTEN_BY_THE_KEEPER = [
    models.Attempt,
    models.Game,
    models.GameLog,
    models.GameRecord,
    models.LadderRating,
    models.PairScore,
    models.RatingEvent,
    models.Tournament,
]


@pytest.fixture
def staff(client: Client, deal: Callable[[], list[GameJob]]) -> Client:
    user = make_user("root", staff=True)
    user.is_superuser = True
    user.save()
    make_tournament(ladders=["dogon-kulei"])
    for job in deal():
        for report in play_short(job):
            keeper.record(report)
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
def test_what_was_played_cannot_be_changed_by_hand(staff: Client, model: type[models.Game]) -> None:
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
