"""``./arena admin NAME``: new administrators, and new passwords for those that exist."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.test import Client

from tournament.embedded.administrator import make_administrator, set_administrator
from tournament.embedded.console import Console
from tournament.embedded.options import OptionError, parse_options
from tournament.models import Act, Token, User

pytestmark = pytest.mark.django_db


def test_what_gave_an_administrator_access_ends_with_a_new_password_and_both_acts_are_logged() -> None:
    assert not set_administrator("ada", "correct horse battery")
    ada = User.objects.get()
    assert ada.is_staff
    assert ada.is_superuser
    EmailAddress.objects.create(user=ada, email="ada@example.org", verified=True, primary=True)
    Authenticator.objects.create(user=ada, type=Authenticator.Type.TOTP, data={"secret": "x"})
    Token.objects.create(user=ada, name="t", digest="d", scopes=["read"])
    client = Client()
    client.force_login(ada)
    assert set_administrator("ada", "another horse battery")
    assert client.get("/account/").status_code == 302
    assert not Session.objects.exists()
    assert not Authenticator.objects.exists()
    assert Token.objects.get().revoked_at is not None
    assert EmailAddress.objects.exists()  # an administrator keeps the address
    assert User.objects.get().check_password("another horse battery")
    assert sorted(str(act) for act in Act.objects.all()) == [
        "./arena admin made this account an administrator: user ada",
        "./arena admin set a new password: user ada",
    ]


def test_the_account_of_a_user_is_not_promoted() -> None:
    """Another person may have made it."""
    User.objects.create_user("ada", password="correct horse")
    with pytest.raises(OptionError, match="ada is the account of a user, who may be anybody: choose another"):
        set_administrator("ada", "another horse battery")
    ada = User.objects.get()
    assert not ada.is_superuser
    assert ada.check_password("correct horse")


@pytest.mark.parametrize(
    ("name", "password", "complaint"),
    [
        ("ada", "short", "too short"),
        ("a b", "correct horse battery", "valid username"),
        ("", "x" * 20, "blank"),
        ("..", "correct horse battery", "must have a character that is no dot"),
    ],
)
def test_names_and_passwords_that_sign_up_refuses_make_no_administrator(
    name: str, password: str, complaint: str
) -> None:
    with pytest.raises(OptionError, match=complaint):
        set_administrator(name, password)
    assert not User.objects.exists()


def test_without_a_terminal_the_password_comes_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    monkeypatch.setattr("tournament.embedded.administrator.open_database", lambda *_: None)
    monkeypatch.setattr("tournament.embedded.administrator.export", lambda *_: None)
    options = parse_options(["admin", "boss", "--data", str(tmp_path)])
    assert make_administrator(options, Console(io.StringIO())) == 0
    assert User.objects.get().check_password("correct horse battery")
    with pytest.raises(OptionError, match="no password was given: use a terminal"):
        make_administrator(options, Console(io.StringIO()))
