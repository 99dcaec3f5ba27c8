"""``./arena admin NAME``: an administrator for the site, or a new password for one.

A separate module, because each command of ``./arena`` is one.
"""

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
    open_database()
    known = set_administrator(options.administrator, _ask_password())
    changed = " with a new password" if known else ""
    console.say(f"{options.administrator} is an administrator{changed}: see /admin/.")
    return 0


def set_administrator(name: str, password: str) -> bool:
    """Give a user all rights and a password; creates the user if needed and returns whether it existed.

    Raises ``OptionError`` for a name or password that the site would refuse at sign-up.
    """
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError

    from tournament.models import User

    user = User.objects.filter(username=name).first()
    known = user is not None
    user = user or User(username=name)
    try:
        validate_password(password, user)
        user.is_staff = user.is_superuser = user.is_active = True
        user.set_password(password)
        user.full_clean()
    except ValidationError as error:
        raise OptionError(" ".join(error.messages)) from None
    user.save()
    return known


def _ask_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Password again: ") != password:
        raise OptionError("the two passwords differ")
    return password
