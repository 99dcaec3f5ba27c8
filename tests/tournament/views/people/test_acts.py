"""The log of what staff did, and its page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import Site
from tournament.models import Act, BotVersion, User, Worker
from tournament.services.accounts.acts import record_act
from tournament.views.people import acts as acts_page

LogIn = Callable[..., Client]


def acts() -> list[tuple[str, str, str]]:
    return list(Act.objects.order_by("id").values_list("actor_name", "deed", "subject"))


def test_what_staff_does_to_the_things_of_others_is_logged(site: Site, as_user: LogIn) -> None:
    staff = as_user(site.staff)
    now = timezone.now()
    worker = Worker.objects.create(name="players@east", started_at=now, seen_at=now, takes="games")
    BotVersion.objects.filter(pk=site.white.pk).update(state=BotVersion.State.WITHDRAWN)
    staff.post("/tournaments/spring/priority/", {"priority": "7"})
    staff.post("/tournaments/spring/cancel/")
    staff.post(f"/workers/{worker.pk}/quarantine/")
    staff.post(f"/workers/{worker.pk}/release/")
    staff.post("/bots/stone-age/1/reinstate/")
    staff.post("/bots/stone-age/1/withdraw/")
    assert acts() == [
        ("stan", "set the priority to 7", "tournament Spring"),
        ("stan", "cancelled it", "tournament Spring"),
        ("stan", "quarantined it", "worker players@east"),
        ("stan", "released it from quarantine", "worker players@east"),
        ("stan", "let it play again", "version Stone Age v1"),
        ("stan", "withdrew it", "version Stone Age v1"),
    ]
    page = staff.get("/staff/log/").content.decode()
    assert '<a href="/tournaments/spring/"><bdi>tournament Spring</bdi></a>' in page
    assert "set the priority to 7" in page


def test_what_fails_and_what_owners_do_is_not_logged(site: Site, as_user: LogIn) -> None:
    as_user(site.owner).post("/tournaments/spring/cancel/")
    as_user(site.staff).post("/tournaments/spring/cancel/")
    as_user(site.staff).post("/tournaments/spring/priority/", {"priority": "1000"})
    assert acts() == []


def test_changes_in_the_administration_are_logged(site: Site) -> None:
    root = User.objects.create_superuser("root")
    client = Client()
    client.force_login(root)
    address = reverse("admin:tournament_user_change", args=[site.rival.pk])
    joined = {"date_joined_0": "2026-01-02", "date_joined_1": "12:00:00"}
    answer = client.post(address, {"username": "rita", "is_active": "on", "is_staff": "on", **joined})
    assert answer.status_code == 302
    assert ("root", "made this account staff", "user rita") in acts()
    listed = {"action": "end_access", "_selected_action": [site.owner.pk]}
    client.post(reverse("admin:tournament_user_changelist"), listed)
    assert acts()[-1] == ("root", "ended all sessions and revoked all tokens", "user olga")
    chosen = {"action": "cancel", "_selected_action": [site.running.pk]}
    client.post(reverse("admin:tournament_tournament_changelist"), chosen)
    assert acts()[-1] == ("root", "cancelled it", "tournament Spring")


def test_the_administration_shows_no_keys_of_users(site: Site) -> None:
    root = User.objects.create_superuser("root")
    client = Client()
    client.force_login(root)
    for path in ("mfa/authenticator/", "usersessions/usersession/"):
        assert client.get(f"/admin/{path}").status_code == 404


@pytest.mark.parametrize("page", ["", "?before=60"])
def test_the_log_is_read_page_by_page_with_few_queries(
    site: Site, as_user: LogIn, django_assert_max_num_queries: DjangoAssertNumQueries, page: str
) -> None:
    for number in range(120):
        record_act(site.staff, f"did {number}", "tournament Spring")
    client = as_user(site.staff)
    with django_assert_max_num_queries(4):
        assert len(client.get(f"/staff/log/{page}").context["page"].rows) == 50


def test_the_name_of_a_deleted_actor_stays(site: Site, as_user: LogIn) -> None:
    gone = User.objects.create_user("gone", is_staff=True)
    record_act(gone, "did it", "tournament Spring")
    gone.delete()
    assert "<bdi>gone</bdi>" in as_user(site.staff).get("/staff/log/").content.decode()


def test_the_log_is_a_file_in_parts(site: Site, as_user: LogIn, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        record_act(site.staff, f"did {number}", "tournament Spring", "/tournaments/spring/")
    monkeypatch.setattr(acts_page, "MOST_EXPORTED", 2)
    client = as_user(site.staff)
    page = client.get("/staff/log/").content.decode()
    assert 'href="/staff/log/acts.csv"' in page
    answer = client.get("/staff/log/acts.json")
    rows = answer.json()["acts"]
    assert [(row["who"], row["what"]) for row in rows] == [("stan", "did 2"), ("stan", "did 1")]
    assert {tuple(row) for row in rows} == {acts_page.COLUMNS}
    assert rows[0]["page"] == "http://testserver/tournaments/spring/"
    older = answer["Link"].removeprefix("<http://testserver").removesuffix('>; rel="next"')
    assert [row["what"] for row in client.get(older).json()["acts"]] == ["did 0"]
    assert client.get("/staff/log/acts.csv").content.decode().splitlines()[1].startswith("stan,did 2,")
    assert as_user(site.owner).get("/staff/log/acts.json").status_code == 404
