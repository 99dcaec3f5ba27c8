"""Updates of older databases: backed up before, said step by step, undone as a whole if they fail."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.support.sites import SiteData
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow

EARLIER = "0008_game_search"
"""A state of the tables that sites in use have had."""
OPEN = """
import os, signal, sys
from pathlib import Path
import django
django.setup()
from django.db import migrations
from django.db.migrations.executor import MigrationExecutor
from importlib import import_module
from tournament.embedded.console import Console
from tournament.embedded.database import open_database
from tournament.embedded.options import OptionError
def fail(apps, schema_editor):
    {failure}
later = import_module("tournament.migrations.0016_discarded_drafts").Migration
if {failure!r} != "pass":
    later.operations.append(migrations.RunPython(fail))
try:
    open_database(Path(os.environ["DUARENA_DATA"]), Console(sys.stdout))
except OptionError as error:
    print("error:", error)
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"


def open_site(site: SiteData, failure: str = "pass") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-c", OPEN.format(failure=failure)),
        cwd=ROOT,
        env={**site.environment, "DJANGO_SETTINGS_MODULE": "tournament.settings"},
        capture_output=True,
        text=True,
        check=False,
    )


def on_sqlite(tmp_path: Path, postgres: Callable[[], str]) -> SiteData:
    return SiteData(tmp_path / "data", migrate=False)


def on_postgresql(tmp_path: Path, postgres: Callable[[], str]) -> SiteData:
    site = SiteData(tmp_path / "data", migrate=False)
    address = postgres()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    site.environment["DATABASE_URL"] = address
    return site


@pytest.fixture(params=[on_sqlite, pytest.param(on_postgresql, marks=pytest.mark.thorough)])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> SiteData:
    """A site of an earlier release with a row."""
    made: SiteData = request.param(tmp_path, lambda: request.getfixturevalue("postgres"))
    made.data.mkdir()
    made.run(
        "from django.contrib.auth.models import Group\n"
        "from django.db import connection\n"
        "from django.db.migrations.executor import MigrationExecutor\n"
        f"MigrationExecutor(connection).migrate([('tournament', {EARLIER!r})])\n"
        "Group.objects.create(name='kept')"
    )
    return made


def latest(site: SiteData) -> str:
    """The last applied migration of ours, if the row is still there."""
    return site.run(
        "from tournament.services.backups.archive import applied_migrations as a\n"
        "from django.contrib.auth.models import Group\n"
        "print(a()['tournament'], *Group.objects.values_list('name', flat=True))"
    ).strip()


def backups(site: SiteData) -> list[Path]:
    return sorted((site.data / "backups").glob("*.zip"))


def test_an_older_database_is_backed_up_and_updated_step_by_step(site: SiteData) -> None:
    said = open_site(site).stdout
    assert "The database is of an earlier release: " in said
    assert said.index("Backup: ") < said.index("Applying tournament.0009_opening_index... OK")
    assert said.endswith("The database is up to date.\n")
    assert latest(site) > f"{EARLIER} kept"
    (backup,) = backups(site)
    assert str(backup) in said
    assert open_site(site).stdout == "", "nothing is left to do"
    assert backups(site) == [backup]


def test_an_update_that_fails_leaves_the_database_as_it_was(site: SiteData) -> None:
    said = open_site(site, "raise ValueError('no room')").stdout
    assert "error: the update of the database failed (no room), and the database is as it was before" in said
    assert latest(site) == f"{EARLIER} kept"
    assert str(backups(site)[0]) in said
    assert open_site(site).stdout.endswith("The database is up to date.\n")
    assert latest(site) > f"{EARLIER} kept"


def test_an_update_that_is_killed_has_changed_nothing_and_is_repeated_at_the_next_start(
    site: SiteData,
) -> None:
    assert open_site(site, KILL).returncode == -signal.SIGKILL
    assert latest(site) == f"{EARLIER} kept"
    assert open_site(site).stdout.endswith("The database is up to date.\n")
    assert latest(site).endswith(" kept")
    assert len(backups(site)) == 2


def test_an_update_is_taken_back_by_restoring_its_backup(site: SiteData, tmp_path: Path) -> None:
    open_site(site)
    restored = SiteData(tmp_path / "restored", migrate=False)
    restored.manage("restore", str(backups(site)[0]))
    assert latest(restored) == f"{EARLIER} kept", "what the earlier release can use"
    assert open_site(restored).stdout.endswith("The database is up to date.\n")
    assert latest(restored) > f"{EARLIER} kept"


def test_a_new_database_needs_no_backup(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data", migrate=False)
    site.data.mkdir()
    assert open_site(site).stdout == ""
    assert not (site.data / "backups").exists()
