"""A user closes the account: what is personal is gone, and the games stay."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.filled_site import LADDER, PASSWORD, LogIn, Site, add_version
from tests.support.schedule import make_event
from tournament.models import (
    Analysis,
    BotSearch,
    BotVersion,
    Follow,
    Game,
    Notice,
    PersonGame,
    Token,
    Tournament,
    User,
)
from tournament.services import closing
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw


@pytest.fixture
def client_of_olga(site: Site, client: Client) -> Client:
    return enter(client, "olga")


def enter(client: Client, name: str) -> Client:
    """Log in, and give the password again."""
    client.post("/log-in/", {"username": name, "password": PASSWORD})
    client.post("/account/again/", {"password": PASSWORD})
    return client


def test_the_page_says_what_is_deleted_and_what_stays(client_of_olga: Client) -> None:
    assert "/account/close/" in client_of_olga.get("/account/").content.decode()
    page = client_of_olga.get("/account/close/").content.decode()
    assert "What is deleted" in page
    assert "What stays" in page


def test_what_is_personal_is_deleted_and_games_stay(
    site: Site, client_of_olga: Client, django_capture_on_commit_callbacks: Any
) -> None:
    olga, version = site.owner, site.white
    EmailAddress.objects.create(user=olga, email="olga@example.org", verified=True, primary=True)
    Token.objects.create(user=olga, name="laptop", digest="x", scopes=["read"])
    Follow.objects.create(user=olga, feed="ladder/dualma")
    Notice.objects.create(user=olga, text="Hello")
    Analysis.objects.create(owner=olga, ladder_id="dualma", text="*")
    fill = {"ladder_id": LADDER, "version": site.black, "ms": 500}
    game = PersonGame.objects.create(person=olga, is_white=True, started_at=timezone.now(), **fill)
    asked = {"plies": [0], "asked_at": timezone.now(), "owner": olga, **fill}
    BotSearch.objects.create(asker="olga", **asked)
    BotSearch.objects.create(asker="game", person_game=game, **asked)
    other = make_event("round-robin", versions=[site.white, site.black], name="Of another", owner=site.rival)
    games = Game.objects.done().count()
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        answer = client_of_olga.post("/account/close/", follow=True)
    assert "Your account is closed." in answer.content.decode()
    assert not answer.wsgi_request.user.is_authenticated
    olga.refresh_from_db()
    assert olga.username.startswith("closed-")
    assert (olga.email, olga.is_active, olga.has_usable_password()) == ("", False, False)
    assert not EmailAddress.objects.filter(user=olga).exists()
    assert not Follow.objects.filter(user=olga).exists()
    assert not Notice.objects.filter(user=olga).exists()
    assert not Analysis.objects.exists()
    assert not PersonGame.objects.exists()
    assert not BotSearch.objects.exists()
    assert not Token.objects.filter(user=olga).exists()
    for name in ("olga", "OLGA", "\u043elga"):
        form = {"username": name, "password1": "a long enough one", "password2": "a long enough one"}
        assert "This name is reserved" in Client().post("/sign-up/", form).content.decode()
    version.refresh_from_db()
    assert version.state == BotVersion.State.WITHDRAWN
    assert any("drop_bundle" in str(one) for one in callbacks)
    assert not Tournament.objects.filter(owner=olga, state__in=["running", "paused", "draft"]).exists()
    assert Game.objects.done().count() == games
    tend()
    assert not other.games.filter(state=Game.State.WAITING).exists()
    page = Client().get(version.bot.get_absolute_url()).content.decode()
    assert olga.username in page
    assert "olga" not in page.replace(olga.username, "")


def test_programs_of_withdrawn_versions_are_deleted_unless_another_user_has_the_same(
    site: Site, django_capture_on_commit_callbacks: Any
) -> None:
    mine, shared = (add_version(site.owner, name) for name in ("Mine", "Shared"))
    same = add_version(site.rival, "Same")
    BotVersion.objects.filter(pk=same.pk).update(bundle=shared.bundle)
    for version in (mine, shared):
        version.bundle.path.parent.mkdir(parents=True, exist_ok=True)
        version.bundle.path.write_bytes(b"a program")
    for version in (mine, shared, same):
        withdraw(version, "its owner withdrew it", "Withdrawn.")
    with django_capture_on_commit_callbacks(execute=True):
        closing.close_account(site.owner, timezone.now())
    assert not mine.bundle.path.exists()
    assert shared.bundle.path.exists(), "a withdrawn version of another user has it"
    assert not BotVersion.objects.filter(bot__owner=site.owner, has_program=True).exists()


def test_a_closing_that_was_interrupted_is_repeated(
    site: Site, client_of_olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "_forget", lambda user: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        client_of_olga.post("/account/close/")
    monkeypatch.undo()
    again = enter(Client(), "olga").post("/account/close/", follow=True)
    assert "Your account is closed." in again.content.decode()


def test_nobody_logs_in_to_a_closed_account_and_its_name_is_free(site: Site, client_of_olga: Client) -> None:
    client_of_olga.post("/account/close/")
    fresh = Client()
    fresh.post("/log-in/", {"username": "olga", "password": PASSWORD})
    assert fresh.get("/account/").status_code == 302
    assert User.objects.filter(username="olga").count() == 0


def test_a_closing_sends_no_mail(
    site: Site, client_of_olga: Client, settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    EmailAddress.objects.create(user=site.owner, email="olga@example.org", verified=True, primary=True)
    with django_capture_on_commit_callbacks(execute=True):
        client_of_olga.post("/account/close/")
    assert mail.outbox == []


@pytest.mark.parametrize(("state", "is_deleted"), [("refused", True), ("valid", False)])
def test_a_program_that_a_version_of_another_needs_stays(
    site: Site,
    client_of_olga: Client,
    django_capture_on_commit_callbacks: Any,
    *,
    state: str,
    is_deleted: bool,
) -> None:
    BotVersion.objects.filter(pk=site.black.pk).update(state=state, bundle=site.white.bundle_id)
    with django_capture_on_commit_callbacks() as callbacks:
        client_of_olga.post("/account/close/")
    assert any(site.white.bundle_id in str(one) for one in callbacks) == is_deleted


def test_staff_does_not_let_a_bot_without_a_program_play_again(
    site: Site, client_of_olga: Client, as_user: LogIn
) -> None:
    client_of_olga.post("/account/close/")
    page = as_user(site.staff).post("/bots/stone-age/1/reinstate/", follow=True).content.decode()
    assert "Only a withdrawn version of an active account can play again." in page
    site.white.refresh_from_db()
    assert site.white.state == BotVersion.State.WITHDRAWN


def test_accounts_of_staff_are_not_closed_here(site: Site, client: Client) -> None:
    assert enter(client, "stan").post("/account/close/").status_code == 404
    assert User.objects.filter(username="stan", is_active=True).exists()


def test_the_password_is_asked_for_again(site: Site, as_user: LogIn) -> None:
    answer = as_user(site.owner).post("/account/close/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/account/again/")
    assert User.objects.filter(username="olga", is_active=True).exists()
