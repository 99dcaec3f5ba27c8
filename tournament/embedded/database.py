"""Prepares the site's database before other processes use it."""

from __future__ import annotations

import django
from dj_database_url import UnknownSchemeError
from django.core.management import call_command
from django.db import DatabaseError

from tournament.embedded.options import OptionError


def open_database() -> None:
    """Set Django up from the environment and apply the migrations; raises ``OptionError``."""
    try:
        django.setup()
        call_command("migrate", verbosity=0, interactive=False)
    except UnknownSchemeError as error:
        raise OptionError(f"DATABASE_URL is not the address of a database: {_first_line(error)}") from None
    except DatabaseError as error:
        raise OptionError(f"the database cannot be used: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
