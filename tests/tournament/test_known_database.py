"""A data folder knows its site and the kind of its database, so that no command makes one by mistake."""

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
MODULE = (sys.executable, "-m")


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
def test_the_command_that_makes_the_tables_tells_the_folder(tmp_path: Path, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    site = SiteData(tmp_path / "data", migrate=False)
    site.environment["DATABASE_URL"] = postgres
    assert run(site, *MANAGE, "migrate", "-v0").returncode == 0
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
    site = SiteData(tmp_path / "data")
    (site.data / ".duarena").write_text("")
    site.manage("migrate", "-v0")
    assert (site.data / ".duarena").read_text() == "sqlite"


@pytest.mark.parametrize(
    "words",
    [
        (*MANAGE, "rebuild_ratings"),
        (*MANAGE, "backup", "-"),
        (*MANAGE, "rebuild_explorer"),
        (*MANAGE, "register_samples"),
        (*MANAGE, "createsuperuser", "--no-input", "--username=ada", "--email=a@example.org"),
        (*ARENA, "admin", "ada"),
        (*MODULE, "tournament.http", "--bind=127.0.0.1:0"),
        (*MODULE, "celery", "--app=tournament", "beat", "--pidfile="),
        (*MODULE, "celery", "--app=tournament", "worker"),
    ],
    ids=lambda words: " ".join(words[2:]),
)
def test_a_command_that_needs_a_site_names_a_folder_without_one_and_writes_nothing_there(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    site = SiteData(tmp_path / "mistyped", migrate=False)
    answer = run(site, *words)
    assert answer.returncode not in {0, 130}
    assert answer.stderr.count(f"there is no site in the data folder '{site.data}'") == 1
    assert "Traceback" not in answer.stderr
    assert not site.data.exists()


@pytest.mark.parametrize("words", [(*MANAGE, "rebuild_ratings"), (*ARENA, "admin", "ada")], ids=" ".join)
def test_an_empty_folder_stays_empty(tmp_path: Path, words: tuple[str, ...]) -> None:
    site = SiteData(tmp_path / "empty", migrate=False)
    site.data.mkdir()
    answer = run(site, *words)
    assert f"there is no site in the data folder '{site.data}'" in answer.stderr
    assert not list(site.data.iterdir())


def test_a_command_that_needs_the_key_refuses_a_mistyped_folder_of_a_site_on_postgresql(
    tmp_path: Path,
) -> None:
    site = SiteData(tmp_path / "mistyped", migrate=False)
    site.environment["DATABASE_URL"] = "postgres://nobody@127.0.0.1:1/duarena"
    answer = run(site, *MANAGE, "backup", "-")
    assert answer.stderr.startswith(f"manage.py: there is no site in the data folder '{site.data}': choose")
    assert answer.returncode == 1
    assert not site.data.exists()


def test_commands_that_need_no_site_run_without_one_and_make_none(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "none", migrate=False)
    (tmp_path / "records.pgn").touch()
    for words in (
        ("check",),
        ("help",),
        ("backup", "--help"),
        (
            "rebuild_ratings",
            "--print",
            "--ladder=dogon-kulei",
            "--from-records",
            str(tmp_path / "records.pgn"),
        ),
    ):
        answer = run(site, *MANAGE, *words)
        assert answer.returncode == 0, answer.stderr
        assert not site.data.exists()


def test_migrate_makes_a_site_whose_folder_and_key_only_its_owner_can_read(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "new" / "folder", migrate=False)
    site.manage("migrate", "-v0")
    assert site.data.stat().st_mode & 0o077 == 0
    assert (site.data / "secret_key").stat().st_mode & 0o177 == 0
    assert len((site.data / "secret_key").read_text()) >= 50


def test_an_interrupted_command_says_so_without_a_traceback(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data")
    answer = run(site, *MANAGE, "shell", "-v0", "-c", "import os; os.kill(os.getpid(), 2)")
    assert answer.stderr == "\nmanage.py: shell was interrupted; it may be run again\n"
    assert answer.returncode == 130
