"""Databases of earlier releases, as their code left them when it was killed among games.

Each file of ``tests/data/sites`` is named after its release and the kind of its database, and holds a data
folder: the bundles, the key, and ``db.sqlite3`` or the SQL text of a PostgreSQL database.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import psycopg

from tests.support.sites import SiteData
from tournament.embedded.plan import ROOT

FOLDER = ROOT / "tests" / "data" / "sites"
SQL = "database.sql"
PASSWORD = "correct horse"
"""Of the users ada and bob, and of stan, who is staff."""


def stored_sites() -> list[Path]:
    """The stored sites, one for each release and kind of database."""
    return sorted(FOLDER.glob("*.tar.xz"))


def unpack_site(path: Path, data: Path, address: str) -> SiteData:
    """The stored site in a new data folder; one of PostgreSQL in the database ``address``, emptied before."""
    data.mkdir(mode=0o700)
    with tarfile.open(path) as file:
        # The first releases of Python 3.11 have no filters and ignore this.
        file.extraction_filter = getattr(tarfile, "data_filter", None)
        file.extractall(data)
    site = SiteData(data, migrate=False)
    sql = data / SQL
    if sql.exists():
        site.environment["DATABASE_URL"] = address
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            connection.execute(sql.read_bytes())
        sql.unlink()
    return site
