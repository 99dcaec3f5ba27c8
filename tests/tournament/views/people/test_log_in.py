"""Limits on wrong passwords, the second factor, and sessions."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.core.cache import caches
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.filled_site import PASSWORD, Site
from tests.tournament.views.people.test_accounts import error_at
from tournament.models import Token

LogIn = Callable[..., Client]
STRANGER = {"REMOTE_ADDR": "203.0.113.9"}
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0"


def attempt(client: Client, password: str = "wrong", name: str = "olga", **extra: Any) -> HttpResponse:
    answer = client.post("/log-in/", {"username": name, "password": password}, **extra)
    return cast(HttpResponse, answer)


def code_of(secret: str, step: int = 0) -> str:
    """The code of the authenticator app now, or ``step`` periods later."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + step)))


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the clock of the counters to a number of seconds from now."""
    start = time.time()

    def set_clock(seconds: float) -> None:
        monkeypatch.setattr("allauth.core.internal.ratelimit.time.time", lambda: start + seconds)

    set_clock(0)
    return set_clock


# Limits


def test_the_sixth_wrong_password_is_not_checked_and_the_page_says_when_to_try_again(
    site: Site, client: Client, at: Callable[[float], None]
) -> None:
    assert [attempt(client).status_code for _ in range(5)] == [200] * 5
    at(60)
    refused = attempt(client, PASSWORD)
    assert (refused.status_code, refused["Retry-After"]) == (429, "240")
    assert "Too many wrong passwords" in error_at(refused.content.decode(), "password")
    assert "try again in 4 minutes" in error_at(refused.content.decode(), "password")
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
        attempt(Client(), REMOTE_ADDR=f"2001:db8::{number}:1")
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="2001:db8::ffff").status_code == 429
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="2001:db8:0:1::1").status_code == 302


def test_ipv4_addresses_that_are_written_as_ipv6_do_not_count_as_one(site: Site) -> None:
    for _ in range(5):
        attempt(Client(), REMOTE_ADDR="::ffff:203.0.113.9")
    assert attempt(Client(), PASSWORD, **STRANGER).status_code == 429
    assert attempt(Client(), PASSWORD, REMOTE_ADDR="::ffff:203.0.113.10").status_code == 302


def test_the_addresses_of_one_ipv6_network_create_accounts_as_one(site: Site) -> None:
    def sign_up(number: int, address: str) -> int:
        form = {"username": f"new{number}", "password1": PASSWORD, "password2": PASSWORD}
        return int(Client().post("/sign-up/", form, REMOTE_ADDR=address).status_code)

    made = [sign_up(number, f"2001:db8::{number:x}") for number in range(6)]
    assert made == [302] * 6
    assert sign_up(6, "2001:db8::ffff") == 429
    assert sign_up(7, "2001:db8:0:1::1") == 302


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
    assert any("password_here" in key for key in keys)
    assert not any("olga" in key for key in keys)


def test_sign_ups_from_one_address_are_limited(
    site: Site, settings: Settings, at: Callable[[float], None]
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "sign_up": "1/1h/key"}
    data = {"password1": "battery horse", "password2": "battery horse"}
    assert Client().post("/sign-up/", {**data, "username": "ada"}).status_code == 302
    refused = Client().post("/sign-up/", {**data, "username": "bob"})
    assert (refused.status_code, refused["Retry-After"]) == (429, "3600")
    assert "Too many new accounts" in refused.content.decode()
    assert "try again in 60 minutes" in refused.content.decode()


def test_the_administration_uses_the_site_s_log_in(site: Site, client: Client) -> None:
    assert client.get("/admin/login/")["Location"].startswith("/log-in/?next=")
    response = client.post("/admin/login/", {"username": "stan", "password": PASSWORD})
    assert response["Location"].startswith("/log-in/?next=")
    assert "_auth_user_id" not in client.session


def test_wrong_old_passwords_are_limited_by_a_page_with_the_time(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    answers = [client.post("/account/password/", {"old_password": "wrong"}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert "Try again in" in answers[-1].content.decode()


# Password change


@pytest.mark.parametrize("revoke", [True, False])
def test_a_new_password_ends_other_sessions_and_revokes_tokens_if_asked(site: Site, revoke: bool) -> None:
    Token.objects.create(user=site.owner, name="t", digest="d", scopes=["read"])
    here, there = Client(), Client()
    attempt(here, PASSWORD)
    attempt(there, PASSWORD)
    assert "Also revoke the token" in here.get("/account/password/").content.decode()
    new = {"old_password": PASSWORD, "new_password1": "battery horse", "new_password2": "battery horse"}
    here.post("/account/password/", new | ({"revoke_tokens": "on"} if revoke else {}))
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302
    assert (Token.objects.get().revoked_at is not None) is revoke
    assert here.get("/account/sessions/").content.decode().count("Logged in") == 1


def test_a_user_without_tokens_is_not_offered_to_revoke_any(site: Site, as_user: LogIn) -> None:
    assert "revoke" not in as_user(site.owner).get("/account/password/").content.decode()


# Sessions


def test_a_user_sees_and_ends_the_own_sessions(site: Site) -> None:
    here, there = Client(), Client(headers={"user-agent": EDGE})
    attempt(here, PASSWORD)
    attempt(there, PASSWORD, REMOTE_ADDR="203.0.113.9")
    page = here.get("/account/sessions/").content.decode()
    assert "Edge on Windows" in page
    assert "203.0.113.9" in page
    assert page.count("this one") == 1
    other = UserSession.objects.get(ip="203.0.113.9")
    here.post(f"/account/sessions/{other.pk}/end/")
    assert there.get("/account/").status_code == 302
    assert here.get("/account/").status_code == 200


def test_nobody_ends_the_sessions_of_others(site: Site, as_user: LogIn) -> None:
    attempt(Client(), PASSWORD)
    session = UserSession.objects.get()
    assert as_user(site.rival).post(f"/account/sessions/{session.pk}/end/").status_code == 404
    as_user(site.rival).post("/account/sessions/end/")
    assert UserSession.objects.filter(pk=session.pk).exists()


def test_all_other_sessions_end_at_once_and_this_one_ends_too(site: Site) -> None:
    clients = [Client() for _ in range(3)]
    for client in clients:
        attempt(client, PASSWORD)
    clients[0].post("/account/sessions/end/")
    assert [client.get("/account/").status_code for client in clients] == [200, 302, 302]
    clients[0].post(f"/account/sessions/{UserSession.objects.get().pk}/end/")
    assert clients[0].get("/account/").status_code == 302


# The second factor


def again(client: Client, path: str) -> str:
    """Open a page that asks for the password once more, and give it; returns the page."""
    asked = client.get(path)
    assert "/account/again/" in asked["Location"]
    return client.post(asked["Location"], {"password": PASSWORD, "next": path}, follow=True).content.decode()


@pytest.fixture
def guarded(site: Site) -> tuple[Client, str]:
    """A client of the owner who has set up a second factor, and its key."""
    client = Client()
    attempt(client, PASSWORD)
    page = again(client, "/account/second-factor/new/")
    assert '<svg class="qr"' in page
    assert "style=" not in page
    (secret,) = re.findall(r'<code class="secret">(\w+)</code>', page)
    wrong = client.post("/account/second-factor/new/", {"code": "000000x"})
    assert "The code is wrong" in error_at(wrong.content.decode(), "code")
    client.post("/account/second-factor/new/", {"code": code_of(secret)})
    return client, secret


def test_a_log_in_asks_for_the_second_factor_and_then_goes_on(guarded: tuple[Client, str]) -> None:
    _, secret = guarded
    client = Client()
    response = client.post("/log-in/", {"username": "olga", "password": PASSWORD, "next": "/upload/"})
    assert response["Location"] == "/log-in/code/"
    assert client.get("/account/").status_code == 302
    assert "The code is wrong" in error_at(
        client.post("/log-in/code/", {"code": "123"}).content.decode(), "code"
    )
    code = code_of(secret, 1)
    assert client.post("/log-in/code/", {"code": code})["Location"] == "/upload/"
    assert client.get("/account/").status_code == 200
    other = Client()
    attempt(other, PASSWORD)
    assert other.post("/log-in/code/", {"code": code}).status_code == 200  # a code works once


def test_the_code_that_activated_the_second_factor_does_not_log_in(guarded: tuple[Client, str]) -> None:
    client = Client()
    attempt(client, PASSWORD)
    refused = client.post("/log-in/code/", {"code": code_of(guarded[1])})
    assert "has been used" in error_at(refused.content.decode(), "code")


def test_a_code_stays_used_for_as_long_as_it_is_right(
    guarded: tuple[Client, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = code_of(guarded[1], 1)
    for later, expected in ((0, 302), (40, 200)):
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
    assert "Too many wrong codes. Try again in 5 minutes." in error_at(pages[-1], "code")


def test_the_second_factor_is_removed_by_its_user(guarded: tuple[Client, str]) -> None:
    client = guarded[0]
    assert "active" in client.get("/account/second-factor/").content.decode()
    client.post("/account/recovery-codes/new/")
    client.post("/account/second-factor/remove/")
    assert not Authenticator.objects.exists()
    assert attempt(Client(), PASSWORD)["Location"] == "/account/"


def test_pieces_of_pages_stay_in_the_memory_of_each_process(db: None) -> None:
    caches["default"].set("piece", 1)
    caches["default"].set("allauth:x", 2)
    assert (caches["shared"].get("piece"), caches["shared"].get("allauth:x")) == (None, 2)
    assert (caches["default"].get("piece"), caches["default"].get("allauth:x")) == (1, 2)
    assert not caches["default"].add("allauth:x", 3)
    assert caches["default"].delete("allauth:x")
