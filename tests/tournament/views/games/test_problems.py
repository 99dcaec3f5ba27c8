"""The form "Something is wrong with this game": it reaches the staff with its context, and nobody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.support.filled_site import HOSTILE, LogIn, Site
from tests.support.schedule import make_user
from tournament.models import Allowance, Notice
from tournament.views.games.problems import MAX_TEXT


def report(client: Client, site: Site, text: str = "The clock is wrong", ply: str = "3") -> int:
    return client.post(f"/games/{site.played.pk}/problem/?ply={ply}", {"text": text}).status_code


def test_the_game_links_to_the_form_with_the_shown_ply(site: Site, client: Client) -> None:
    for headers in ({}, {"X-Part": "true"}):
        page = client.get(f"/games/{site.played.pk}/?ply=3", headers=headers).content.decode()
        assert '<a href="problem/?ply=3">Something is wrong with this game</a>' in page
    assert "problem/" not in client.get(f"/games/{site.played.pk}/embed/").content.decode()


def test_a_visitor_logs_in_first_and_gets_back_to_the_form(site: Site, client: Client) -> None:
    answer = client.get(f"/games/{site.played.pk}/problem/?ply=3")
    assert answer["Location"] == f"/log-in/?next=/games/{site.played.pk}/problem/%3Fply%3D3"


def test_all_staff_is_told_the_reporter_the_game_the_ply_and_the_text(site: Site, as_user: LogIn) -> None:
    other = make_user("sue", staff=True)
    client = as_user(site.rival)
    address = f"/games/{site.played.pk}/problem/?ply=3"
    answer = client.post(address, {"text": "The clock\nis wrong"}, follow=True)
    assert answer.redirect_chain == [(f"/games/{site.played.pk}/?ply=3", 302)]
    assert "The staff has your report. Thank you." in answer.content.decode()
    for staff in (site.staff, other):
        page = as_user(staff).get("/account/").content.decode()
        assert f"reports a problem with game {site.played.pk}, \u2068Stone Age\u2069 – " in page
        assert "\u2068rita\u2069 reports" in page
        assert "at ply 3: The clock is wrong" in page
        assert f'<a href="/games/{site.played.pk}/?ply=3">See the game</a>' in page


def test_nobody_else_sees_a_report(site: Site, as_user: LogIn) -> None:
    report(as_user(site.rival), site, "my secret words")
    assert set(Notice.objects.values_list("user__username", flat=True)) == {"stan"}
    for user in (None, site.owner, site.rival):
        for path in (f"/games/{site.played.pk}/", f"/games/{site.played.pk}/problem/", "/account/"):
            assert "my secret words" not in as_user(user).get(path).content.decode()


def test_a_user_has_one_unread_report_a_game(site: Site, as_user: LogIn) -> None:
    report(as_user(site.rival), site, "one")
    report(as_user(site.rival), site, "two")
    report(as_user(site.owner), site, "three")
    texts = [
        text.rpartition(": ")[2] for text in Notice.objects.order_by("pk").values_list("text", flat=True)
    ]
    assert texts == ["two", "three"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Say what is wrong."),
        ("  \n ", "Say what is wrong."),
        ("x" * (MAX_TEXT + 1), "at most 500 characters"),
    ],
)
def test_a_report_has_a_text_of_limited_length(site: Site, as_user: LogIn, text: str, error: str) -> None:
    page = as_user(site.rival).post(f"/games/{site.played.pk}/problem/", {"text": text}).content.decode()
    assert error in page
    assert not Notice.objects.exists()


def test_a_report_cannot_deceive_its_reader(site: Site, as_user: LogIn) -> None:
    report(as_user(site.rival), site, HOSTILE)
    assert Notice.objects.get().text.endswith("<script>alert(1)</script>\\u202e\\x07")
    assert "<script>alert" not in as_user(site.staff).get("/account/").content.decode()


def test_a_ply_beyond_the_end_is_the_end(site: Site, as_user: LogIn) -> None:
    report(as_user(site.rival), site, ply="99999")
    assert f"at ply {site.played.plies}: " in Notice.objects.get().text
    assert report(as_user(site.rival), site, ply="x") == 404


def test_reports_are_limited_by_the_user_s_allowance(site: Site, as_user: LogIn) -> None:
    client = as_user(site.rival)
    assert [report(client, site, str(number)) for number in range(5)] == [302] * 4 + [429]
    answer = client.post(f"/games/{site.played.pk}/problem/", {"text": "my words"})
    assert int(answer["Retry-After"]) > 0
    assert "You have sent much in a short time. Try again in " in answer.content.decode()
    assert "my words</textarea>" in answer.content.decode()
    assert Notice.objects.get().text.endswith(": 3")
    Allowance.objects.update(at=timezone.now() - timedelta(minutes=1))
    assert report(client, site) == 302


def test_staff_with_a_confirmed_address_gets_mail(
    site: Site,
    as_user: LogIn,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.EMAIL_HOST = "mail.example"
    EmailAddress.objects.create(user=site.staff, email="stan@example.org", primary=True, verified=True)
    with django_capture_on_commit_callbacks(execute=True):
        report(as_user(site.rival), site)
    (message,) = mail.outbox
    assert message.to == ["stan@example.org"]
    assert f"/games/{site.played.pk}/?ply=3" in message.body
