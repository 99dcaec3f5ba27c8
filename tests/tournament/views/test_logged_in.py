"""Forms whose log-in has expired or whose token is out of date."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import resolve
from pytest_django import Settings

from tests.support.addresses import EXPECTED, address_of
from tests.support.filled_site import Site
from tests.support.parts import PART
from tournament.models import Tournament
from tournament.views.logged_in import page_of


def test_a_form_sent_after_the_log_in_ended_leads_to_the_log_in_and_back_to_its_page(
    site: Site, client: Client
) -> None:
    for address, page in [
        ("/tournaments/new/",) * 2,
        ("/tournaments/spring/cancel/", "/tournaments/spring/"),
    ]:
        answer = client.post(address, {"name": "Autumn"}, follow=True)
        assert answer.redirect_chain == [(f"/log-in/?next={page}", 302)]
        assert "You were logged out when you sent the form, so nothing was done." in answer.content.decode()
    data = {"username": "olga", "password": "correct horse", "next": page}
    assert client.post("/log-in/", data)["Location"] == page
    assert not Tournament.objects.filter(state=Tournament.State.CANCELLED).exists()


def test_an_estimate_is_not_answered_with_a_log_in_page(site: Site, client: Client) -> None:
    response = client.post("/tournaments/new/", {"name": "Autumn"}, headers=PART)
    assert response.status_code == 200
    assert "<form" not in response.content.decode()
    assert "You are logged out" in response.content.decode()


def strict(site: Site) -> Client:
    """A client of the owner with the CSRF check; it logged in again, so older tokens are invalid."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(site.owner)
    return client


def test_a_form_without_a_right_token_is_not_taken(site: Site) -> None:
    for headers in ({}, {"Origin": "http://testserver"}, {"Origin": "https://evil.example"}):
        page = strict(site).post("/tournaments/spring/cancel/", {"why": "evil words"}, headers=headers)
        assert page.status_code == 403
        assert "evil words" not in page.content.decode()
        assert 'href="/tournaments/spring/"' in page.content.decode()


@pytest.mark.django_db
def test_a_form_sent_without_encryption_names_the_address_of_the_site(settings: Settings) -> None:
    settings.CSRF_COOKIE_SECURE, settings.SITE = True, "https://duarena.example"
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/log-in/", {}, headers={"Origin": "http://127.0.0.1:8799"})
    assert answer.status_code == 403
    assert '<a href="https://duarena.example">' in answer.content.decode()
    answer = client.post("/log-in/", {}, headers={"Origin": "https://elsewhere.example"})
    assert "without encryption" not in answer.content.decode()


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name][0].startswith("POST")])
def test_an_address_for_forms_alone_leads_back_to_its_page(site: Site, name: str) -> None:
    address = address_of(site, EXPECTED[name][0]).removeprefix("POST ")
    if name.startswith(("api-", "v1-")):
        return
    client = strict(site)
    response = client.get(address)
    assert response.status_code == 405
    assert response["Allow"]
    above = page_of(address)
    assert f'href="{above}"' in response.content.decode()
    assert client.get(above).status_code == (404 if above == "/staff/" else 200)  # it is no page of users
    assert resolve(above)


def test_a_page_without_a_form_answers_a_post_with_405_and_a_link(site: Site, client: Client) -> None:
    response = client.post("/bots/")
    assert response.status_code == 405
    assert 'href="/bots/"' in response.content.decode()
    assert client.put("/api/bots/").status_code in {401, 405}
