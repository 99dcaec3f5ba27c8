"""``./arena admin NAME``: an administrator for the site, or a new password for one."""

from __future__ import annotations

import getpass
import os
import sys

from tournament.embedded.console import Console
from tournament.embedded.database import open_database
from tournament.embedded.options import OptionError, Options, export
from tournament.embedded.plan import Address


def make_administrator(options: Options, console: Console) -> int:
    """May run while the site runs. Asks for the password, or reads it from standard input."""
    export(options, Address(options.host, options.port), os.environ)
    open_database(options.data, console)
    name = options.administrator
    known = set_administrator(name, _ask_password())
    changed = " with a new password; its sessions and tokens have ended" if known else ""
    console.say(f"{name} is an administrator{changed}: see /admin/.")
    return 0


def set_administrator(name: str, password: str) -> bool:
    """Create an administrator, or give one a new password; returns whether there was one of this name.

    Ends the sessions, tokens and second factor of an existing one. Raises ``OptionError`` for the account of
    somebody else, and for a name or password that the site would refuse at sign-up.
    """
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError
    from django.db import transaction

    from tournament.models import User
    from tournament.services.accounts.acts import record_act
    from tournament.services.accounts.sessions import end_all_access, forget_second_factor

    known = User.objects.filter(username=name).first()
    if known and not known.is_superuser:
        raise OptionError(
            f"{name} is the account of a user, who may be anybody: choose another name; an administrator can"
            " give an account rights at /admin/"
        )
    user = known or User(username=name, is_staff=True, is_superuser=True)
    user.is_active = True
    try:
        validate_password(password, user)
        user.set_password(password)
        user.full_clean()
    except ValidationError as error:
        raise OptionError(" ".join(error.messages)) from None
    with transaction.atomic():
        user.save()
        if known:
            end_all_access(user)
            forget_second_factor(user)
        deed = "set a new password" if known else "made this account an administrator"
        record_act(None, deed, f"user {user}", user.get_absolute_url())
    return known is not None


def _ask_password() -> str:
    if not sys.stdin.isatty():
        if password := sys.stdin.readline().rstrip("\n"):
            return password
        raise OptionError("no password was given: use a terminal, or write it to standard input")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Password again: ") != password:
        raise OptionError("the two passwords differ")
    return password
