"""The same on PostgreSQL, whose tables are copied without its client programs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.support.sites import SiteData
from tests.tournament.services.backups.test_backups import FILL, GO_ON, die_after, fails


def new_database(server: str, name: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def site_on(address: str, data: Path, *, migrate: bool = False) -> SiteData:
    site = SiteData(data, migrate=False)
    site.environment["DATABASE_URL"] = address
    if migrate:
        site.manage("migrate", "-v0")
    return site


@pytest.fixture
def site(postgres: str, tmp_path: Path) -> SiteData:
    made = site_on(new_database(postgres, "site"), tmp_path / "site", migrate=True)
    made.run(FILL)
    return made


def rows(site: SiteData) -> dict[str, list[tuple[object, ...]]]:
    """Of all tables but the one to which a backup adds its own row when it is whole."""
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        ).fetchall()
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in tables
            if name != "tournament_act"
        }


@pytest.mark.thorough
def test_a_site_on_postgresql_is_restored_into_another_database_and_goes_on(
    site: SiteData, postgres: str, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.tar.gz"
    site.manage("backup", str(backup))
    restored = site_on(new_database(postgres, "restored"), tmp_path / "restored")
    die_after(restored, "postgresql._advance_sequences", "restore", str(backup))
    restored.manage("restore", str(backup))
    assert rows(restored) == rows(site)
    said = restored.manage("rebuild_ratings")
    assert "rated games, changed" not in said
    assert restored.run(GO_ON) == "finished 18 18\n"  # it makes new rows in many tables


@pytest.mark.thorough
def test_nothing_is_restored_over_rows(site: SiteData, postgres: str, tmp_path: Path) -> None:
    backup = tmp_path / "backup.tar"
    site.manage("backup", str(backup))
    before = rows(site)
    other = site_on(site.environment["DATABASE_URL"], tmp_path / "other")
    assert "the database of DATABASE_URL is not empty" in fails(other, "restore", str(backup))
    on_sqlite = SiteData(tmp_path / "third", migrate=False)
    said = fails(on_sqlite, "restore", str(backup))
    assert "the backup is of a postgresql database, DATABASE_URL names one of sqlite" in said
    assert rows(site) == before
