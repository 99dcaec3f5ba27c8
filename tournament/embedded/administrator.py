"""``./arena admin NAME``: an administrator for the site, or a new password for one."""

from __future__ import annotations

import getpass
import os
import sys
from typing import TYPE_CHECKING

from tournament.embedded.console import Console
from tournament.embedded.database import open_database
from tournament.embedded.options import OptionError, Options, export
from tournament.embedded.plan import Address

if TYPE_CHECKING:
    from tournament.models import User


def make_administrator(options: Options, console: Console) -> int:
    """May run while the site runs. Asks for the password, or reads it from standard input.

    An account that exists is changed only after a question, or with ``--yes``.
    """
    export(options, Address(options.host, options.port), os.environ)
    open_database(options.data, console)
    name = options.administrator
    if not options.yes and (question := _question(name)) and not _is_agreed(question):
        console.say(f"{name} is not changed.")
        return 1
    known = set_administrator(name, _ask_password())
    changed = " with a new password; its sessions and tokens have ended" if known else ""
    console.say(f"{name} is an administrator{changed}: see /admin/.")
    return 0


def set_administrator(name: str, password: str) -> bool:
    """Give a user all rights and a password; creates the user if needed and returns whether it existed.

    Ends the sessions, tokens and second factor of an existing user. One who was no administrator also loses
    the e-mail address: another person may have made the account. Raises ``OptionError`` for a name or
    password that the site would refuse at sign-up.
    """
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError
    from django.db import transaction

    from tournament.models import User

    user = User.objects.filter(username=name).first()
    known, was_superuser = user is not None, user is not None and user.is_superuser
    user = user or User(username=name)
    try:
        validate_password(password, user)
        user.is_staff = user.is_superuser = user.is_active = True
        user.set_password(password)
        user.full_clean()
    except ValidationError as error:
        raise OptionError(" ".join(error.messages)) from None
    with transaction.atomic():
        _store(user, known=known, was_superuser=was_superuser)
    return known


def _store(user: User, *, known: bool, was_superuser: bool) -> None:
    """Save the user, end what gave access before, and log the act."""
    from tournament.services.accounts.acts import record_act
    from tournament.services.accounts.sessions import end_all_access, forget_address, forget_second_factor

    user.save()
    if known:
        end_all_access(user)
        forget_second_factor(user)
    if known and not was_superuser:
        forget_address(user)
    deed = "set a new password" if was_superuser else "made this account an administrator"
    record_act(None, deed, f"user {user}", user.get_absolute_url())


def _question(name: str) -> str:
    """What to ask before an existing account is changed; empty if there is none."""
    from tournament.models import User

    user = User.objects.filter(username=name).first()
    if user is None:
        return ""
    is_known = f"{name} is an administrator" if user.is_superuser else f"{name} is the account of a user"
    becomes = "Set a new password" if user.is_superuser else "Make it an administrator with a new password"
    return f"{is_known} since {user.date_joined:%d %B %Y}. {becomes}? Its sessions and tokens end."


def _is_agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise OptionError(f"{question} Give --yes to agree.")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def _ask_password() -> str:
    if not sys.stdin.isatty():
        if password := sys.stdin.readline().rstrip("\n"):
            return password
        raise OptionError("no password was given: use a terminal, or write it to standard input")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Password again: ") != password:
        raise OptionError("the two passwords differ")
    return password
