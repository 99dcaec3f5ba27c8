"""The log of what staff did, and its page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import LogIn, Site
from tournament.models import Act, BotVersion, User, Worker
from tournament.services.accounts.acts import record_act


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
    answer = client.post(address, {"username": "rita", "is_active": "on", "is_staff": "on"})
    assert answer.status_code == 302
    assert ("root", "made this account staff", "user rita") in acts()
    listed = {"action": "end_access", "_selected_action": [site.owner.pk]}
    client.post(reverse("admin:tournament_user_changelist"), listed)
    assert acts()[-1] == ("root", "ended all sessions and revoked all tokens", "user olga")
    client.post(reverse("admin:tournament_bot_change", args=[site.white.bot_id]), {"owner": site.rival.pk})
    assert acts()[-1] == ("root", "administration: Changed Owner.", "bot Stone Age")


@pytest.mark.parametrize("page", ["", "?before=60"])
def test_the_log_is_read_page_by_page_with_few_queries(
    site: Site, as_user: LogIn, django_assert_max_num_queries: DjangoAssertNumQueries, page: str
) -> None:
    for number in range(120):
        record_act(site.staff, f"did {number}", "tournament Spring")
    client = as_user(site.staff)
    with django_assert_max_num_queries(6):
        assert len(client.get(f"/staff/log/{page}").context["page"].rows) == 50


def test_the_name_of_a_deleted_actor_stays(site: Site, as_user: LogIn) -> None:
    gone = User.objects.create_user("gone", is_staff=True)
    record_act(gone, "did it", "tournament Spring")
    gone.delete()
    assert "<bdi>gone</bdi>" in as_user(site.staff).get("/staff/log/").content.decode()
