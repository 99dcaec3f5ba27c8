"""The test's database for other processes."""

from __future__ import annotations

from urllib.parse import quote

from django.db import connection


def database_url() -> str:
    """The address of the test's database, as ``DATABASE_URL``; for tests with real transactions."""
    settings = connection.settings_dict
    if connection.vendor != "postgresql":
        return f"sqlite:///{settings['NAME']}"
    host = quote(settings["HOST"] or settings["OPTIONS"].get("host", ""), safe="")  # or a socket's folder
    return f"postgres://{settings['USER']}:{settings['PASSWORD']}@{host}/{settings['NAME']}"
