"""Forms whose log-in has expired or whose token is out of date: the input is not lost."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve
from django.utils import timezone
from pytest_django import Settings

from tests.support.addresses import EXPECTED, address_of
from tests.support.filled_site import LADDER, Site, add_version
from tournament.models import Tournament
from tournament.views.unsent import MOST_KEPT, page_of

ORIGIN = {"Origin": "http://testserver"}
HTMX = {"HX-Request": "true"}


def autumn(site: Site) -> dict[str, Any]:
    """A tournament as its form sends it."""
    bots = [str(site.white.pk), str(site.black.pk)]
    return {"name": "Autumn <&>", "bots": bots, "ladders": [LADDER], "pairs": "7", "time_control": "3+1"} | {
        "opening_plies": "2",
        "rated": "on",
    }


def hidden(response: Any) -> dict[str, list[str]]:
    """The hidden fields of the last form of the page."""
    form = response.content.decode().rpartition("<form")[2]
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form):
        fields.setdefault(unescape(name), []).append(unescape(value))
    return fields


def log_in(client: Client, page: Any, password: str = "correct horse") -> Any:
    """Fill in the log-in form of this page."""
    return client.post("/log-in/", {**hidden(page), "username": "olga", "password": password})


def test_a_form_sent_after_the_log_in_ended_comes_back_filled_in(site: Site, client: Client) -> None:
    page = client.post("/tournaments/new/", autumn(site))
    assert page.status_code == 403
    assert "has not been sent" in page.content.decode()
    response = log_in(client, page)
    assert response["Location"] == "/tournaments/new/"
    back = client.get("/tournaments/new/")
    form = back.context["form"]
    assert (form["name"].value(), form["pairs"].value()) == ("Autumn <&>", "7")
    assert form["bots"].value() == autumn(site)["bots"]
    assert "filled in again" in back.content.decode()
    assert not Tournament.objects.filter(name="Autumn <&>").exists()
    assert client.post("/tournaments/new/", autumn(site)).status_code == 302
    assert not client.get("/tournaments/new/").context["form"].is_bound


def test_entered_values_survive_a_wrong_password(site: Site, client: Client) -> None:
    page = client.post("/tournaments/new/", autumn(site))
    wrong = log_in(client, page, "wrong")
    assert "What you entered is kept" in wrong.content.decode()
    log_in(client, wrong)
    assert client.get("/tournaments/new/").context["form"]["name"].value() == "Autumn <&>"


def test_an_upload_comes_back_with_its_notes_and_asks_for_the_file_again(site: Site, client: Client) -> None:
    data = {"notes": "Plays better", "bundle": SimpleUploadedFile("bot.zip", b"zip")}
    log_in(client, client.post("/upload/", data))
    back = client.get("/upload/")
    assert back.context["form"]["notes"].value() == "Plays better"
    assert "Choose a zip file." in back.content.decode()


def test_a_button_pressed_after_the_log_in_ended_is_pressed_once_more(site: Site, client: Client) -> None:
    add_version(site.owner, "Stone Age")
    address = "/bots/stone-age/activity/"
    page = client.post(address, {"ladder": LADDER, "version": "1"})
    assert log_in(client, page)["Location"] == address
    asked = client.get(address)
    assert asked.status_code == 200
    assert "Set the version that plays" in asked.content.decode()
    assert "<dt>Version</dt><dd>1</dd>" in asked.content.decode()
    assert 'href="/bots/stone-age/">Do not send it' in asked.content.decode()
    active = site.white.bot.activities.get(ladder=LADDER)
    assert active.version.number == 2
    assert client.post(address, hidden(asked))["Location"] == "/bots/stone-age/"
    active.refresh_from_db()
    assert active.version.number == 1
    assert client.get(address).status_code == 405


def test_a_kept_form_is_forgotten_after_an_hour(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(client, client.post("/tournaments/new/", autumn(site)))
    later = timezone.now() + datetime.timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert not client.get("/tournaments/new/").context["form"].is_bound


def test_a_form_that_is_too_long_is_not_kept_and_the_page_explains_it(site: Site, client: Client) -> None:
    page = client.post("/upload/", {"notes": "x" * MOST_KEPT})
    assert "too long to be kept" in page.content.decode()
    log_in(client, page)
    assert not client.get("/upload/").context["form"].is_bound


def test_an_estimate_is_not_answered_with_a_log_in_page(site: Site, client: Client) -> None:
    response = client.post("/tournaments/new/", autumn(site), headers=HTMX)
    assert response.status_code == 200
    assert "<form" not in response.content.decode()
    assert "You are logged out" in response.content.decode()


def strict(site: Site) -> Client:
    """A client of the owner with the CSRF check; it logged in again, so older tokens are invalid."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(site.owner)
    return client


def test_a_form_with_an_old_token_can_be_sent_again(site: Site) -> None:
    client = strict(site)
    client.get("/tournaments/new/")
    page = client.post("/tournaments/new/", autumn(site) | {"csrfmiddlewaretoken": "x" * 64}, headers=ORIGIN)
    assert page.status_code == 403
    assert "Send it again" in page.content.decode()
    assert hidden(page)["bots"] == autumn(site)["bots"]
    made = client.post("/tournaments/new/", hidden(page), headers=ORIGIN)
    assert made["Location"] == f"/tournaments/{Tournament.objects.latest('id').slug}/"


def test_another_site_s_form_is_refused_and_not_offered_again(site: Site) -> None:
    for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        page = strict(site).post("/tournaments/spring/cancel/", {"why": "evil words"}, headers=headers)
        assert page.status_code == 403
        text = page.content.decode()
        assert "evil words" not in text
        assert 'action="/tournaments/spring/cancel/"' not in text
        assert 'href="/tournaments/spring/"' in text


def test_a_form_sent_without_encryption_names_the_address_of_the_site(settings: Settings) -> None:
    settings.CSRF_COOKIE_SECURE, settings.SITE = True, "https://duarena.example"
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/log-in/", {}, headers={"Origin": "http://127.0.0.1:8799"})
    assert answer.status_code == 403
    assert '<a href="https://duarena.example">' in answer.content.decode()
    answer = client.post("/log-in/", {}, headers={"Origin": "https://elsewhere.example"})
    assert "without encryption" not in answer.content.decode()


def test_no_password_is_kept(site: Site) -> None:
    client = Client(enforce_csrf_checks=True)
    data = {"username": "olga", "password": "correct horse", "next": "/upload/"}
    page = client.post("/log-in/", data, headers=ORIGIN)
    assert "correct horse" not in page.content.decode()
    assert hidden(page)["username"] == ["olga"]
    data = {"old_password": "correct horse", "new_password1": "battery", "new_password2": "battery"}
    text = strict(site).post("/account/password/", data, headers=ORIGIN).content.decode()
    assert "correct horse" not in text
    assert "battery" not in text


def test_a_user_who_logged_in_elsewhere_meanwhile_gets_the_form_back(
    site: Site, as_user: Callable[..., Client]
) -> None:
    page = Client().post("/tournaments/new/", autumn(site))
    owner = as_user(site.owner)
    assert log_in(owner, page)["Location"] == "/tournaments/new/"
    assert owner.get("/tournaments/new/").context["form"]["name"].value() == "Autumn <&>"


@pytest.mark.parametrize(
    "value",
    ["", "a", "%", "%00", "a=%ff", "\x00", "&&&=", "a=1&a=2&bots=-1", "a=&" * 2000],
    ids=lambda value: ascii(value[:9]),
)
@pytest.mark.parametrize("address", ["/tournaments/new/", "/tournaments/spring/start/", "foo"])
def test_nothing_sent_as_a_kept_form_breaks_a_page(
    site: Site, client: Client, address: str, value: str
) -> None:
    data = {"username": "olga", "password": "correct horse", "next": address, "unsent": value}
    location = client.post("/log-in/", data)["Location"]
    assert client.get(location).status_code in {200, 405}


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name][0].startswith("POST")])
def test_an_address_for_forms_alone_leads_back_to_its_page(site: Site, name: str) -> None:
    address = address_of(site, EXPECTED[name][0]).removeprefix("POST ")
    if name.startswith("api-"):
        return
    client = strict(site)
    response = client.get(address)
    assert response.status_code == 405
    assert response["Allow"]
    above = page_of(address)
    assert f'href="{above}"' in response.content.decode()
    assert client.get(above).status_code == 200
    assert resolve(above)


def test_a_page_without_a_form_answers_a_post_with_405_and_a_link(site: Site, client: Client) -> None:
    response = client.post("/bots/")
    assert response.status_code == 405
    assert 'href="/bots/"' in response.content.decode()
    assert client.put("/api/bots/").status_code in {401, 405}
