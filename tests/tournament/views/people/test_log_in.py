"""Limits on wrong passwords, the second factor, and sessions."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from allauth.usersessions.models import UserSession
from django.core.cache import caches
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.filled_site import PASSWORD, LogIn, Site
from tests.tournament.views.people.test_accounts import error_at
from tournament.caches import cache
from tournament.models import Token

STRANGER = {"REMOTE_ADDR": "203.0.113.9"}
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0"


def attempt(client: Client, password: str = "wrong", name: str = "olga", **extra: Any) -> HttpResponse:
    answer = client.post("/log-in/", {"username": name, "password": password}, **extra)
    return cast(HttpResponse, answer)


def hold_codes(monkeypatch: pytest.MonkeyPatch, later: int = 0) -> None:
    """Let the code of now, or that of ``later`` periods from now, be the right one."""
    counter = int(time.time()) // app_settings.TOTP_PERIOD + later
    monkeypatch.setattr(auth, "yield_hotp_counters_from_time", lambda: iter([counter]))


def code_of(secret: str) -> str:
    """The code that the authenticator app shows."""
    return str(auth.format_hotp_value(auth.hotp_value(secret, next(auth.yield_hotp_counters_from_time()))))


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the clock of the counters to a number of seconds from now."""
    start = time.time()

    def set_clock(seconds: float) -> None:
        monkeypatch.setattr("allauth.core.internal.ratelimit.time.time", lambda: start + seconds)

    set_clock(0)
    return set_clock


# Limits


def test_the_sixth_wrong_password_is_not_checked_and_the_page_says_so(
    site: Site, client: Client, at: Callable[[float], None]
) -> None:
    assert [attempt(client).status_code for _ in range(5)] == [200] * 5
    at(60)
    refused = attempt(client, PASSWORD)
    assert refused.status_code == 429
    assert "Too many attempts" in refused.content.decode()
    assert "a password was not checked. Try again in five minutes" in refused.content.decode()
    at(302)
    assert attempt(client, PASSWORD).status_code == 302


def test_a_name_counts_in_any_case_and_other_names_are_free(site: Site, client: Client) -> None:
    for _ in range(5):
        attempt(client)
    assert attempt(client, name="Olga").status_code == 429
    assert attempt(client, PASSWORD, name="rita").status_code == 302


def test_right_passwords_do_not_count(site: Site) -> None:
    assert [attempt(Client(), PASSWORD).status_code for _ in range(8)] == [302] * 8


def test_a_stranger_s_guesses_do_not_lock_out_the_user_at_another_address(site: Site, client: Client) -> None:
    for _ in range(6):
        attempt(Client(), **STRANGER)
    assert attempt(Client(), PASSWORD, **STRANGER).status_code == 429
    assert attempt(client, PASSWORD).status_code == 302


def test_the_addresses_of_one_ipv6_network_count_as_one(site: Site) -> None:
    """A guesser has more of them than there are passwords; and strangers sign up from them."""
    for number in range(5):
        attempt(Client(), REMOTE_ADDR=f"2001:db8:0:{number}::1")
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="2001:db8::ffff").status_code == 429
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="2001:db8:0:100::1").status_code == 302


def test_ipv4_addresses_that_are_written_as_ipv6_do_not_count_as_one(site: Site) -> None:
    for _ in range(5):
        attempt(Client(), REMOTE_ADDR="::ffff:203.0.113.9")
    assert attempt(Client(), PASSWORD, **STRANGER).status_code == 429
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="::ffff:203.0.113.10").status_code == 302


def test_the_addresses_of_one_ipv6_network_create_accounts_as_one(site: Site) -> None:
    def sign_up(number: int, address: str) -> int:
        form = {"username": f"new{number}", "password1": PASSWORD, "password2": PASSWORD}
        return int(Client().post("/sign-up/", form, REMOTE_ADDR=address).status_code)

    made = [sign_up(number, f"2001:db8:0:{number:x}::1") for number in range(6)]
    assert made == [302] * 6
    assert sign_up(6, "2001:db8::ffff") == 429
    assert sign_up(7, "2001:db8:0:100::1") == 302


def test_guesses_from_many_addresses_lock_out_only_unknown_browsers(site: Site, client: Client) -> None:
    attempt(client, PASSWORD)
    client.post("/log-out/")
    for number in range(40):
        attempt(Client(), REMOTE_ADDR=f"203.0.113.{number}")
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="203.0.113.99").status_code == 429
    assert attempt(client, PASSWORD).status_code == 302


def test_one_address_does_not_guess_at_many_names(site: Site, at: Callable[[float], None]) -> None:
    statuses = []
    for number in range(31):
        at(7.0 * number)  # no more than ten a minute
        statuses.append(attempt(Client(), name=f"user{number}").status_code)
    assert statuses == [200] * 30 + [429]


def test_one_address_guesses_ten_times_a_minute_at_most(site: Site, at: Callable[[float], None]) -> None:
    statuses = [attempt(Client(), name=f"user{number}").status_code for number in range(11)]
    assert statuses == [200] * 10 + [429]
    at(61)
    assert attempt(Client(), name="user 12").status_code == 200


def test_a_known_browser_is_limited_too(site: Site, client: Client) -> None:
    attempt(client, PASSWORD)
    client.post("/log-out/")
    assert [attempt(client).status_code for _ in range(11)] == [200] * 10 + [429]


def test_the_cookie_of_a_known_browser_cannot_be_made_up(site: Site) -> None:
    attempt(client := Client(), PASSWORD, name="rita")
    client.post("/log-out/")
    forged = Client()
    forged.cookies["device"] = client.cookies["device"].value.replace(":", "x:", 1)
    for one in (client, forged):  # rita's browser is not olga's
        for _ in range(6):
            last = attempt(one)
    assert last.status_code == 429


def test_the_counters_are_in_the_database_for_all_processes(site: Site, client: Client) -> None:
    attempt(client)
    with connection.cursor() as cursor:
        cursor.execute("SELECT cache_key FROM tournament_shared_cache")
        keys = [row[0] for row in cursor.fetchall()]
    assert any(":password:5/" in key for key in keys)
    assert not any("olga" in key for key in keys)


def test_sign_ups_from_one_address_are_limited(
    site: Site, settings: Settings, at: Callable[[float], None]
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "signup": "1/1h/ip"}
    data = {"password1": "battery horse", "password2": "battery horse"}
    assert Client().post("/sign-up/", {**data, "username": "ada"}).status_code == 302
    refused = Client().post("/sign-up/", {**data, "username": "bob"})
    assert refused.status_code == 429
    assert "in an hour if you asked for a new account" in refused.content.decode()


def test_the_administration_uses_the_site_s_log_in(site: Site, client: Client) -> None:
    assert client.get("/admin/login/")["Location"].startswith("/log-in/?next=")
    response = client.post("/admin/login/", {"username": "stan", "password": PASSWORD})
    assert response["Location"].startswith("/log-in/?next=")
    assert "_auth_user_id" not in client.session


def test_wrong_old_passwords_are_limited_by_a_page_with_the_time(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    answers = [client.post("/account/password/", {"oldpassword": "wrong"}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert "Try again in" in answers[-1].content.decode()


# Password change


def test_a_new_password_ends_other_sessions_and_keeps_the_tokens(site: Site) -> None:
    Token.objects.create(user=site.owner, name="t", digest="d", scopes=["read"])
    here, there = Client(), Client()
    attempt(here, PASSWORD)
    attempt(there, PASSWORD)
    assert "revoke the tokens" in here.get("/account/password/").content.decode()
    new = {"oldpassword": PASSWORD, "password1": "battery horse", "password2": "battery horse"}
    here.post("/account/password/", new)
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302
    assert Token.objects.get().revoked_at is None
    assert here.get("/account/sessions/").content.decode().count("this one") == 1
    assert UserSession.objects.count() == 1


# Sessions


def test_a_user_sees_and_ends_the_own_sessions_and_nobody_else_s(site: Site) -> None:
    here, there, rival = Client(), Client(headers={"user-agent": EDGE}), Client()
    attempt(here, PASSWORD)
    attempt(there, PASSWORD, REMOTE_ADDR="203.0.113.9")
    attempt(rival, PASSWORD, name="rita")
    rival.post("/account/sessions/")
    page = here.get("/account/sessions/").content.decode()
    assert EDGE in page
    assert "203.0.113.9" in page
    assert page.count("this one") == 1
    assert (
        "Signed out of all other sessions." in here.post("/account/sessions/", follow=True).content.decode()
    )
    assert [client.get("/account/").status_code for client in (here, there, rival)] == [200, 302, 200]


# The second factor


def again(client: Client, path: str) -> str:
    """Open a page that asks for the password once more, and give it; returns the page."""
    asked = client.get(path)
    assert "/account/again/" in asked["Location"]
    return client.post(asked["Location"], {"password": PASSWORD, "next": path}, follow=True).content.decode()


@pytest.fixture
def guarded(site: Site, monkeypatch: pytest.MonkeyPatch) -> tuple[Client, str]:
    """A client of the owner who has set up a second factor, and its key."""
    client = Client()
    attempt(client, PASSWORD)
    page = again(client, "/account/second-factor/new/")
    assert '<img class="qr" src="data:image/svg+xml;base64,' in page
    (secret,) = re.findall(r'<code class="secret">(\w+)</code>', page)
    hold_codes(monkeypatch)
    wrong = client.post("/account/second-factor/new/", {"code": "000000x"})
    assert "Incorrect code." in error_at(wrong.content.decode(), "code")
    client.post("/account/second-factor/new/", {"code": code_of(secret)})
    return client, secret


def test_a_log_in_asks_for_the_second_factor_and_then_goes_on(
    guarded: tuple[Client, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = guarded
    hold_codes(monkeypatch, later=1)
    client = Client()
    response = client.post("/log-in/", {"username": "olga", "password": PASSWORD, "next": "/upload/"})
    assert response["Location"] == "/log-in/code/"
    assert client.get("/account/").status_code == 302
    assert "Incorrect code." in error_at(
        client.post("/log-in/code/", {"code": "123"}).content.decode(), "code"
    )
    code = code_of(secret)
    assert client.post("/log-in/code/", {"code": code})["Location"] == "/upload/"
    assert client.get("/account/").status_code == 200
    other = Client()
    attempt(other, PASSWORD)
    assert other.post("/log-in/code/", {"code": code}).status_code == 200  # a code works once


def test_the_code_that_activated_the_second_factor_does_not_log_in(guarded: tuple[Client, str]) -> None:
    client = Client()
    attempt(client, PASSWORD)
    refused = client.post("/log-in/code/", {"code": code_of(guarded[1])})
    assert "Incorrect code." in error_at(refused.content.decode(), "code")


def test_a_code_stays_used_for_as_long_as_it_is_right(
    guarded: tuple[Client, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_codes(monkeypatch, later=1)
    code = code_of(guarded[1])
    for later, expected in ((0, 302), (29, 200)):
        now = timezone.now() + datetime.timedelta(seconds=later)
        monkeypatch.setattr("django.core.cache.backends.db.tz_now", lambda now=now: now)
        client = Client()
        attempt(client, PASSWORD)
        assert client.post("/log-in/code/", {"code": code}).status_code == expected


def test_a_recovery_code_works_once(guarded: tuple[Client, str]) -> None:
    page = guarded[0].get("/account/recovery-codes/").content.decode()
    codes = re.findall("<li><code>([0-9]+)</code>", page)
    assert len(codes) == 10
    for expected in (302, 200):
        client = Client()
        attempt(client, PASSWORD)
        assert client.post("/log-in/code/", {"code": codes[0]}).status_code == expected


def test_codes_are_limited(guarded: tuple[Client, str]) -> None:
    client = Client()
    attempt(client, PASSWORD)
    pages = [client.post("/log-in/code/", {"code": "1"}).content.decode() for _ in range(6)]
    assert "Too many failed login attempts. Try again later." in error_at(pages[-1], "code")


def test_the_second_factor_is_removed_by_its_user(guarded: tuple[Client, str]) -> None:
    client = guarded[0]
    assert "active" in client.get("/account/second-factor/").content.decode()
    client.post("/account/recovery-codes/new/")
    client.post("/account/second-factor/remove/")
    assert not Authenticator.objects.exists()
    assert attempt(Client(), PASSWORD)["Location"] == "/account/"


def test_pieces_of_pages_stay_in_the_memory_of_each_process(db: None) -> None:
    cache.set("piece", 1)
    assert (cache.get("piece"), caches["default"].get("piece")) == (1, None)
