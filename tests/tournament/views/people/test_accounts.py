"""The account's page with its notices, and the forms of sign-up, log-in and upload with their errors."""

from __future__ import annotations

import datetime
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import PASSWORD, LogIn, Site
from tests.support.schedule import charge, make_user, pack_bot
from tournament.models import Allowance, BotVersion, Notice, User
from tournament.services.accounts.tokens import MAX_ALLOWED, REQUEST_COST, UPLOAD_COST
from tournament.views.site import navigation


def tell(site: Site, *texts: str) -> list[Notice]:
    return [Notice.objects.create(user=site.owner, version=site.white, text=text) for text in texts]


def error_at(page: str, field: str) -> str:
    """The text of the error beside a field, which the field names as its description."""
    (text,) = re.findall(f'id="id_{field}_error" role="alert">(.*?)</span>', page)
    (widget,) = re.findall(f'<(?:input|textarea)[^>]*name="{field}"[^>]*>', page)
    assert 'aria-invalid="true"' in widget
    assert f"id_{field}_error" in widget
    return str(text)


def test_the_menu_counts_unread_notices_until_they_are_read(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    assert "unread notice" not in client.get("/about/").content.decode()
    first, *_ = tell(site, "one", "two", "three")
    assert (
        '<span class="count">3<span class="unseen"> unread notices' in client.get("/about/").content.decode()
    )
    client.post(f"/account/notices/{first.pk}/")
    assert '<span class="count">2<' in client.get("/about/").content.decode()
    assert "unread notice" not in as_user(site.rival).get("/about/").content.decode()


def test_many_unread_notices_are_counted_as_more_than_fifty(site: Site, as_user: LogIn) -> None:
    tell(site, *map(str, range(60)))
    assert '<span class="count">50+<' in as_user(site.owner).get("/about/").content.decode()


def test_a_visitor_pays_no_query_for_counts_and_a_user_two(
    site: Site,
    as_user: LogIn,
    client: Client,
    django_assert_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(navigation, "KEPT_SECONDS", 600)
    with django_assert_num_queries(1):  # how many games are played, which is kept
        client.get("/about/")
    with django_assert_num_queries(0):
        client.get("/about/")
    user = as_user(site.owner)
    with django_assert_num_queries(4):  # session, user, unread notices, own open games
        user.get("/about/")


def test_marking_all_as_read_leaves_what_came_after_the_page_was_loaded(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    tell(site, "one", "two")
    page = client.get("/account/").content.decode()
    (last,) = re.findall('name="last" value="([0-9]+)"', page)
    tell(site, "three")
    client.post("/account/notices/read/", {"last": last})
    assert [notice.text for notice in site.owner.notices.unread()] == ["three"]
    client.post("/account/notices/read/", {"last": "x"})
    assert not site.owner.notices.unread()


def test_notices_that_were_read_are_shown_below(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    first, _ = tell(site, "one is read", "two is not")
    assert "Notices that you have read" not in client.get("/account/").content.decode()
    client.post(f"/account/notices/{first.pk}/")
    page = client.get("/account/").content.decode()
    unread, _, read = page.partition("Notices that you have read")
    assert ("two is not" in unread, "one is read" in unread, "one is read" in read) == (True, False, True)


def test_nobody_marks_the_notices_of_others(site: Site, as_user: LogIn) -> None:
    tell(site, "one")
    as_user(site.rival).post("/account/notices/read/")
    assert len(site.owner.notices.unread()) == 1


def test_good_news_do_not_look_like_a_warning(site: Site, as_user: LogIn) -> None:
    Notice.objects.create(user=site.owner, tournament=site.running, text="won", is_warning=False)
    page = as_user(site.owner).get("/account/").content.decode()
    assert '<div class="message notice">' in page
    assert f'<a href="/tournaments/{site.running.slug}/">See the tournament</a>' in page


def test_a_visitor_who_wants_to_upload_is_told_why_an_account_is_needed(site: Site, client: Client) -> None:
    for page in (client.get("/upload/", follow=True), client.get("/sign-up/?next=/upload/")):
        text = page.content.decode()
        assert "To upload a bot you need an account" in text
        assert 'href="/start/">Your first bot' in text
    assert "To create a tournament you need" in client.get("/tournaments/new/", follow=True).content.decode()
    assert "Log in to continue." in client.get("/account/", follow=True).content.decode()
    assert 'class="message"' not in client.get("/log-in/").content.decode()


def test_the_name_of_an_account_is_its_username_everywhere(site: Site, client: Client) -> None:
    for address in ("/sign-up/", "/log-in/"):
        assert '<label for="id_username">Username</label>' in client.get(address).content.decode()


@pytest.mark.parametrize(
    "name", ["admin", "Admin", "\u0430dmin", "new", "tv", "healthz", "version-tests", "staff", "closed-1"]
)
def test_names_of_authority_and_of_the_site_s_addresses_are_given_to_nobody(
    client: Client, db: None, name: str
) -> None:
    answer = client.post("/sign-up/", {"username": name, "password1": PASSWORD, "password2": PASSWORD})
    assert "This name is reserved" in error_at(answer.content.decode(), "username")
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("address", "sent", "field", "words"),
    [
        ("/sign-up/", {}, "username", "required"),
        ("/sign-up/", {"username": "OLGA", "password1": "x", "password2": "x"}, "username", "already exists"),
        ("/sign-up/", {"username": "..", "password1": PASSWORD, "password2": PASSWORD}, "username", "no dot"),
        (
            "/sign-up/",
            {"username": "\uff0e", "password1": PASSWORD, "password2": PASSWORD},
            "username",
            "no dot",
        ),
        (
            "/sign-up/",
            {"username": "newer", "password1": PASSWORD, "password2": "b"},
            "password2",
            "same password",
        ),
        ("/log-in/", {"username": "olga"}, "password", "required"),
    ],
)
def test_an_error_stands_beside_its_field(
    site: Site, client: Client, address: str, sent: dict[str, str], field: str, words: str
) -> None:
    assert words in error_at(client.post(address, sent).content.decode(), field)


@pytest.mark.parametrize(
    ("address", "sent", "field"),
    [
        ("/account/password/", {"oldpassword": "wrong"}, "oldpassword"),
        ("/account/password/", {"oldpassword": PASSWORD, "password1": "a"}, "password2"),
        ("/account/tokens/", {"name": "", "scopes": ["upload"]}, "name"),
        ("/upload/", {"notes": "x"}, "bundle"),
        ("/upload/", {"notes": "x" * 3000}, "notes"),
        ("/tournaments/new/", {"name": "x", "pairs": "0"}, "pairs"),
        ("/tournaments/new/", {"name": "", "time_control": "soon"}, "time_control"),
    ],
)
def test_an_error_of_a_user_s_form_stands_beside_its_field(
    site: Site, as_user: LogIn, address: str, sent: dict[str, str], field: str
) -> None:
    assert error_at(as_user(site.owner).post(address, sent).content.decode(), field)


def test_a_wrong_password_says_nothing_of_the_account(site: Site, client: Client) -> None:
    pages = [
        client.post("/log-in/", {"username": name, "password": "wrong"}).content.decode()
        for name in ("olga", "nobody")
    ]
    errors = [re.findall('class="message error" role="alert">(.*?)</p>', page) for page in pages]
    assert errors[0] == errors[1] == ["The username and/or password you specified are not correct."]


# Too much


def test_a_bundle_over_the_limit_is_refused_at_its_field(
    site: Site, as_user: LogIn, settings: Settings
) -> None:
    settings.MAX_BUNDLE_BYTES = 1000
    large = SimpleUploadedFile("bot.zip", b"x" * 5000)
    response = as_user(site.owner).post("/upload/", {"bundle": large, "notes": "kept"})
    assert response.status_code == 413
    page = response.content.decode()
    assert "a bundle at most 1000" in error_at(page, "bundle")
    assert ">\nkept</textarea>" in page


def test_a_form_with_too_much_text_gets_a_page_with_the_limits(site: Site, as_user: LogIn) -> None:
    response = as_user(site.owner).post("/upload/", {"notes": "x" * 3_000_000})
    assert response.status_code == 413
    page = response.content.decode()
    assert "Nothing was stored." in page
    assert "512.0\xa0KB" in page
    assert '<a href="/upload/">To the form' in page


def test_too_many_uploads_are_refused_for_a_while(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    now = timezone.now()
    Allowance.objects.create(user=site.owner, left=39.0, at=now)
    count = BotVersion.objects.count()
    bundle = SimpleUploadedFile("bot.zip", pack_bot("Newcomer"))
    Allowance.objects.update(at=now + datetime.timedelta(hours=1))
    response = client.post("/upload/", {"bundle": bundle})
    assert (response.status_code, response["Retry-After"]) == (429, "1")
    assert "too many uploads. Try again in 1 second." in error_at(response.content.decode(), "bundle")
    assert BotVersion.objects.count() == count


def test_refused_uploads_cost_as_little_as_other_requests(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    for _ in range(10):
        refused = client.post("/upload/", {"bundle": SimpleUploadedFile("bot.zip", b"no zip")})
        assert "not a zip" in error_at(refused.content.decode(), "bundle")
    accepted = client.post("/upload/", {"bundle": SimpleUploadedFile("bot.zip", pack_bot("Newcomer"))})
    assert accepted["Location"] == "/bots/newcomer/1/"
    left = Allowance.objects.get().left
    assert MAX_ALLOWED - UPLOAD_COST - 10 * REQUEST_COST <= left < MAX_ALLOWED - UPLOAD_COST + 1


@pytest.mark.django_db
def test_the_account_shows_the_slot_hours_of_today_once_half_of_them_are_used(
    client: Client, settings: Settings
) -> None:
    ada = make_user("ada")
    client.force_login(ada)
    settings.SLOT_HOURS, settings.VALIDATION_HOURS = 4, 1
    charge({ada.pk: 1.9 * 3600.0}, timezone.now())
    assert "slot-hours" not in page_of_account(client), "more than half is left"
    charge({ada.pk: 360.0}, timezone.now())
    charge({ada.pk: 1800.0}, timezone.now(), is_validation=True)
    page = client.get("/account/").content.decode()
    assert "Your tournaments have used 2 of 4 slot-hours today (UTC)." in page
    assert "Your validations have used 0.5 of 1 slot-hours today (UTC)." in page
    assert "until tomorrow" not in page
    charge({ada.pk: 2 * 3600.0}, timezone.now())
    assert page_of_account(client).count("until tomorrow") == 1
    assert "The games of your tournaments wait until tomorrow." in page_of_account(client)
    charge({ada.pk: 1800.0}, timezone.now(), is_validation=True)
    assert "The validations of your bots wait until tomorrow." in page_of_account(client)
    User.objects.update(is_staff=True)
    assert "slot-hours" not in page_of_account(client)


def page_of_account(client: Client) -> str:
    return client.get("/account/").content.decode()


# Caches


@pytest.mark.parametrize(
    "address", ["/account/", "/account/tokens/", "/account/password/", "/log-in/", "/sign-up/"]
)
def test_no_cache_stores_the_pages_of_an_account(site: Site, as_user: LogIn, address: str) -> None:
    for client in (as_user(site.owner), Client()):
        assert "no-store" in client.get(address)["Cache-Control"]


def test_no_cache_stores_a_form_that_was_sent_after_the_log_in_had_expired(site: Site) -> None:
    assert "no-store" in Client().post("/upload/", {"notes": "secret"})["Cache-Control"]
