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
    elif command not in NEED_NONE and not _reads_records(command, words):
        need_site()


def _reads_records(command: str, words: Sequence[str]) -> bool:
    """Whether it prints ratings of published records alone."""
    is_alone = "--print" in words and any(word.startswith("--from-records") for word in words)
    return command == "rebuild_ratings" and is_alone


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
