"""A data folder knows the kind of its site's database, so that no command makes another one by mistake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.support.sites import SiteData
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow

MANAGE = (sys.executable, "manage.py")
ARENA = (sys.executable, "-m", "tournament.embedded")


def run(site: SiteData, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=ROOT,
        env=site.environment,
        input="a long secret\n",
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        (*ARENA, "admin", "ada"),
        (*ARENA, "up", "--port", "18710"),
        (*MANAGE, "migrate"),
        (*MANAGE, "createsuperuser", "--no-input", "--username=ada", "--email=a@example.org"),
        (*MANAGE, "backup", "-"),
    ],
    ids=" ".join,
)
def test_no_command_makes_a_database_in_the_folder_of_a_site_on_postgresql(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    site = SiteData(tmp_path / "data", migrate=False)
    site.data.mkdir()
    (site.data / ".duarena").write_text("postgresql")
    answer = run(site, *words)
    assert f"the site in the data folder '{site.data}' is on PostgreSQL: give its address" in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.returncode != 0
    assert not list(site.data.glob("*.sqlite3"))


@pytest.mark.thorough
@pytest.mark.parametrize("first", [(*ARENA, "admin", "ada"), (*MANAGE, "migrate", "-v0")], ids=" ".join)
def test_the_first_command_with_the_tables_tells_the_folder(
    tmp_path: Path, postgres: str, first: tuple[str, ...]
) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    site = SiteData(tmp_path / "data", migrate=False)
    site.environment["DATABASE_URL"] = postgres
    assert run(site, *first).returncode == 0
    assert run(site, *ARENA, "admin", "eve").returncode == 0
    del site.environment["DATABASE_URL"]
    answer = run(site, *ARENA, "admin", "eve")
    assert answer.returncode == 2
    assert "is on PostgreSQL: give its address in DATABASE_URL" in answer.stderr
    assert not list(site.data.glob("*.sqlite3"))


def test_a_site_on_sqlite_is_not_started_on_another_empty_database(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data")
    site.environment["DATABASE_URL"] = "postgres://nobody@127.0.0.1:1/duarena"
    answer = run(site, *ARENA, "admin", "ada")
    assert answer.returncode == 2
    assert "is on SQLite: unset DATABASE_URL; a site is moved to another database by" in answer.stderr


def test_a_folder_of_an_earlier_release_is_told_at_the_next_start(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data", migrate=False)
    site.data.mkdir()
    (site.data / ".duarena").write_text("")
    site.manage("migrate", "-v0")
    assert (site.data / ".duarena").read_text() == "sqlite"
