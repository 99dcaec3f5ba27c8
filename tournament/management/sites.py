"""The site that a command works on: most commands need one, and only a few make one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from tournament.known_database import missing_site

INTERRUPTED = 130
"""The exit code of a command after Ctrl-C."""
MAKE_ONE = {"migrate", "restore"}
NEED_NONE = {
    *("check", "collectstatic", "diffsettings", "findstatic", "help", "makemigrations", "test", "version"),
    "rebuild_ratings",  # with published records it needs none, and decides it itself
    "shell",  # runs a program, which may need none
}


def check_site(words: Sequence[str]) -> None:
    """Raise ``ImproperlyConfigured`` if ``manage.py`` with these words needs a site and there is none.

    For a command that makes a site, make its folder.
    """
    command = words[0] if words and not words[0].startswith("-") else "help"
    if {"--help", "-h"} & {*words}:
        return
    if command in MAKE_ONE:
        settings.DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    elif command not in NEED_NONE:
        need_site()


def end_without_site(**_: object) -> None:
    """End this process with a sentence if there is no site in the data folder."""
    try:
        need_site()
    except ImproperlyConfigured as error:
        sys.exit(f"duarena: {error}")


def need_site() -> None:
    """Raise ``ImproperlyConfigured`` if there is no site in the data folder of the settings."""
    database = settings.DATABASES["default"]
    file = Path(database["NAME"]) if database["ENGINE"].endswith(".sqlite3") else None
    if trouble := missing_site(settings.DATA, file):
        raise ImproperlyConfigured(trouble)
