"""``./arena admin NAME``: promotions of accounts that exist."""

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
from tournament.embedded.options import OptionError, Options, parse_options
from tournament.models import Act, Token, User

pytestmark = pytest.mark.django_db


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_gave_access_before_a_promotion_ends_and_the_promotion_is_logged() -> None:
    ada = User.objects.create_user("ada", "thief@example.org", "correct horse")
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True, primary=True)
    Authenticator.objects.create(user=ada, type=Authenticator.Type.TOTP, data={"secret": "x"})
    Token.objects.create(user=ada, name="t", digest="d", scopes=["read"])
    client = Client()
    client.force_login(ada)
    set_administrator("ada", "another horse battery")
    assert client.get("/account/").status_code == 302
    assert not Session.objects.exists()
    assert not Authenticator.objects.exists()
    assert not EmailAddress.objects.exists()
    assert Token.objects.get().revoked_at is not None
    assert User.objects.get().email == ""
    assert [str(act) for act in Act.objects.all()] == [
        "./arena admin made this account an administrator: user ada"
    ]
    EmailAddress.objects.create(user=ada, email="ada@example.org", verified=True, primary=True)
    set_administrator("ada", "a third horse battery")
    assert EmailAddress.objects.exists()  # an administrator keeps the address


def test_a_name_whose_page_could_not_be_reached_is_refused() -> None:
    with pytest.raises(OptionError, match="must have a character that is no dot"):
        set_administrator("..", "correct horse battery")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 1), ("n", 1)])
def test_an_existing_account_is_promoted_only_after_a_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, code: int
) -> None:
    User.objects.create_user("ada")
    asked = list[str]()
    monkeypatch.setattr("tournament.embedded.administrator.open_database", lambda *_: None)
    monkeypatch.setattr("tournament.embedded.administrator.export", lambda *_: None)
    monkeypatch.setattr("tournament.embedded.administrator._ask_password", lambda: "correct horse battery")
    monkeypatch.setattr("sys.stdin", Terminal())

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    monkeypatch.setattr("builtins.input", ask)
    options = Options("admin", tmp_path, administrator="ada")
    assert make_administrator(options, Console(io.StringIO())) == code
    assert "ada is the account of a user since" in asked[0]
    assert User.objects.get().is_superuser is (code == 0)


def test_without_a_terminal_a_promotion_needs_a_word_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    User.objects.create_user("ada")
    monkeypatch.setattr("tournament.embedded.administrator.open_database", lambda *_: None)
    monkeypatch.setattr("tournament.embedded.administrator.export", lambda *_: None)
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    with pytest.raises(OptionError, match="Give --yes to agree"):
        make_administrator(Options("admin", tmp_path, administrator="ada"), Console(io.StringIO()))
    assert not User.objects.get().is_superuser
    given = parse_options(["admin", "ada", "--data", str(tmp_path), "--yes"])
    assert make_administrator(given, Console(io.StringIO())) == 0
    assert User.objects.get().is_superuser


def test_without_a_terminal_and_a_password_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    options = parse_options(["admin", "boss", "--data", str(tmp_path)])
    monkeypatch.setattr("tournament.embedded.administrator.open_database", lambda *_: None)
    monkeypatch.setattr("tournament.embedded.administrator.export", lambda *_: None)
    with pytest.raises(OptionError, match="no password was given: use a terminal"):
        make_administrator(options, Console(io.StringIO()))
    assert not User.objects.exists()
