"""What a deactivated account has begun."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.support.schedule import (
    OnCommit,
    make_test,
    make_tournament,
    make_user,
    make_version,
    make_workers,
    start_validation,
    take_all,
)
from tournament.models import Attempt, BotVersion, Game, Tournament, User
from tournament.services import calendar
from tournament.services.deactivation import REASON, stop_work_of
from tournament.services.schedule.changing import set_times
from tournament.services.schedule.tournaments import announce, resume

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)


def test_its_tournaments_stop_and_those_of_others_go_on() -> None:
    ada, bob = make_user("ada"), make_user("bob")
    versions = [make_version("One", owner=ada), make_version("Two", owner=bob)]
    mine = make_tournament(owner=ada, versions=versions, name="Mine")
    other = make_tournament(owner=bob, versions=versions, name="Other")
    soon = make_tournament(owner=ada, versions=versions, name="Soon", running=False)
    set_times(soon, timezone.now() + HOUR, None)
    announce(soon)
    make_workers()
    take_all()
    stop_work_of(ada, timezone.now())
    for tournament, state in ((mine, "paused"), (other, "running"), (soon, "cancelled")):
        tournament.refresh_from_db()
        assert tournament.state == state
    assert soon.state_reason == REASON
    assert set(Attempt.objects.filter(ended_at=None).values_list("game__tournament", flat=True)) == {other.pk}
    calendar.tend(timezone.now() + 2 * HOUR)
    assert not Tournament.objects.running().filter(owner=ada).exists()
    resume(mine)
    assert mine.state == "running"


def test_its_version_tests_and_validations_stop_and_valid_versions_stay() -> None:
    ada = make_user()
    test = make_test(ada)
    waiting = make_version("Waits", owner=ada, state=BotVersion.State.WAITING)
    checked = make_version("Checked", owner=ada, state=BotVersion.State.VALIDATING)
    validation = start_validation(checked)
    for _ in range(2):  # it may be repeated
        stop_work_of(ada, timezone.now())
    test.refresh_from_db()
    assert test.is_over
    for version in (waiting, checked):
        version.refresh_from_db()
        assert (version.state, version.state_reason) == (BotVersion.State.REFUSED, REASON)
    assert set(validation.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    assert BotVersion.objects.filter(state=BotVersion.State.VALID).count() == 2


def test_the_administration_stops_them_and_the_account_has_no_page_any_more(
    client: Client, on_commit: OnCommit
) -> None:
    ada, root = make_user(), User.objects.create_superuser("root")
    mine = make_tournament(owner=ada)
    hers = Client()
    hers.force_login(ada)
    assert hers.get("/account/").status_code == 200
    client.force_login(root)
    values = {"username": "ada"}
    with on_commit():
        assert client.post(reverse("admin:tournament_user_change", args=[ada.pk]), values).status_code == 302
    mine.refresh_from_db()
    assert mine.state == "paused"
    assert hers.get("/account/").status_code == 302
    assert hers.post(f"/tournaments/{mine.slug}/resume/")["Location"].startswith("/log-in/")
    mine.refresh_from_db()
    assert mine.state == "paused"
    other = Client()
    other.post("/log-in/", {"login": "ada", "password": "pw"})
    assert other.get("/account/").status_code == 302
