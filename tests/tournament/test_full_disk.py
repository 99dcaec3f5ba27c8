"""A disk that is full or read-only, and a database that is away: named, and nothing is lost or counted twice.

The disk is a real one, a small tmpfs in a mount namespace, because only a kernel shows all errors of SQLite.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.needs import need
from tests.support.sites import SiteData, empty_site
from tests.tournament.conftest import FakeRedis
from tests.tournament.services.backups.test_backups import FILL
from tournament import tasks
from tournament.embedded.plan import ROOT
from tournament.models import Keeper, User
from tournament.services import calendar, disk

pytestmark = pytest.mark.slow

MEGABYTES = 96
PROGRAM = """
import django, os, shutil
django.setup()
from django.conf import settings
from django.core.management import call_command
shutil.copyfile(TABLES, settings.DATABASES["default"]["NAME"])
call_command("migrate", verbosity=0, interactive=False)
exec(FILL)
from pathlib import Path
from django.db import connection
from django.test import Client
from tests.support.schedule import play_short, post
from tournament import tasks
from tournament.models import Attempt, Game, GameRecord
settings.ALLOWED_HOSTS = ["*"]
connection.close()
ballast = Path(settings.DATA, "ballast")
said = []

def fill_disk():
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass

def wait(seconds):
    said.append((Client().get("/healthz?live").status_code, Game.objects.filter(state="done").count()))
    connection.close()
    if len(said) == 2:
        ballast.unlink()

tasks.time.sleep = wait
job = sent[4]
before = Game.objects.filter(state="done").count()
reports = list(play_short(job))
post(job.job, reports=tuple(reports))
fill_disk()
health = Client().get("/healthz?live")
print(health.status_code, health.content.decode().splitlines()[0])
tasks.store_patiently(lambda: tasks.record_inbox(60))
keys = [report.key for report in reports]
print(len(said) >= 2, {status for status, _ in said} == {503}, {done for _, done in said} == {before})
print(Game.objects.filter(state="done").count() - before == len(keys),
      GameRecord.objects.filter(game__key__in=keys).count() == len(keys),
      Attempt.objects.filter(game__key__in=keys, end="recorded").count() == len(keys))
print(Client().get("/healthz?live").status_code)
"""
BACKUPS = """
import django, os, shutil, subprocess, sys
django.setup()
from django.conf import settings
from django.core.management import call_command
shutil.copyfile(TABLES, settings.DATABASES["default"]["NAME"])
call_command("migrate", verbosity=0, interactive=False)
exec(FILL)
from pathlib import Path
from django.db import connection
from tournament.models import GameLog
GameLog.objects.update(content=os.urandom(200_000))
connection.close()
data, elsewhere = settings.DATA, Path(OUTSIDE)

def manage(*words, **environment):
    ended = subprocess.run((sys.executable, "manage.py", *map(str, words)), capture_output=True, text=True,
                           env={**os.environ, **environment})
    print(ended.returncode, "Traceback" in ended.stderr, ended.stderr.strip().splitlines()[-1:])

def fill_disk(leaving):
    found = os.statvfs(data)
    with (data / "ballast").open("ab") as file:
        file.write(bytes(found.f_bavail * found.f_frsize - leaving))

manage("backup", elsewhere / "first.zip")
fill_disk(1_500_000)
manage("backup", data / "here.zip")
print(*sorted(path.name for path in data.iterdir() if "backup" in path.name or "zip" in path.name))
manage("restore", elsewhere / "first.zip", DUARENA_DATA=f"{data}/restored")
fill_disk(0)
manage("backup", elsewhere / "second.zip")
"""
INSIDE = 'mount -t tmpfs -o size={megabytes}m,mode=700 tmpfs "$1" && exec "$2" -c "$3"'


def run_on_small_disk(site: SiteData, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the site's data folder on a disk of its own; skips where that is forbidden."""
    unshare = need("unshare")
    words = (unshare, "--user", "--map-root-user", "--mount")
    if subprocess.run((*words, "true"), capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces: sysctl kernel.unprivileged_userns_clone=1")
    script = INSIDE.format(megabytes=MEGABYTES)
    program = f"TABLES = {str(empty_site() / 'db.sqlite3')!r}\n{program}"
    return subprocess.run(
        (*words, "sh", "-c", script, "sh", str(site.data), sys.executable, program),
        cwd=ROOT,
        env={**site.environment, "DJANGO_SETTINGS_MODULE": "tournament.settings"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_games_that_end_while_the_disk_is_full_are_recorded_once_when_there_is_space(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data", migrate=False)
    site.data.mkdir()
    ended = run_on_small_disk(site, f"FILL = {FILL!r}\n{PROGRAM}")
    assert ended.returncode == 0, ended.stderr
    full, waited, once, health = ended.stdout.strip().splitlines()
    sentence = (
        "the disk of the data folder is full, 0 MB are free: games are recorded again when there is space"
    )
    assert full == f"503 disk: {sentence}"
    assert (waited, once, health) == ("True True True", "True True True", "200")
    assert "the database cannot be used, tried again in 1 s: database or disk is full" in ended.stderr


def test_a_backup_and_a_restore_on_a_full_disk_end_with_a_sentence(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data", migrate=False)
    site.data.mkdir()
    ended = run_on_small_disk(site, f"FILL, OUTSIDE = {FILL!r}, {str(tmp_path)!r}\n{BACKUPS}")
    assert ended.returncode == 0, ended.stderr
    first, here, left, restored, second = ended.stdout.splitlines()
    assert first.startswith("0 False")
    assert "no backup was written: [Errno 28] No space left on device" in here
    assert left == ""
    assert "the restore is not complete: database or disk is full" in restored
    for said in (here, restored, second):
        assert said.startswith("1 False ")
        assert "CommandError: " in said


@pytest.mark.django_db
def test_staff_reads_on_every_page_that_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    staff, client = User.objects.create_user("stan", is_staff=True), Client()
    client.force_login(staff)
    assert "the disk of" not in client.get("/about/").content.decode()
    monkeypatch.setattr(disk, "LEAST_BYTES", 1 << 62)
    assert "The disk of the data folder is full" in client.get("/about/").content.decode()
    assert "disk of the data folder" not in Client().get("/about/").content.decode()


@pytest.mark.django_db
def test_a_read_only_data_folder_is_no_trouble_in_a_container_whose_volumes_can_be_written(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.BUNDLES.mkdir(parents=True, exist_ok=True)
    real, read_only = os.statvfs, {settings.DATA}

    def statvfs(folder: Path) -> Any:
        found = real(folder)
        flags = {"f_flag": found.f_flag | os.ST_RDONLY} if folder in read_only else {"f_flag": found.f_flag}
        return SimpleNamespace(f_bavail=found.f_bavail, f_frsize=found.f_frsize, **flags)

    monkeypatch.setattr(os, "statvfs", statvfs)
    monkeypatch.setattr(disk, "connection", SimpleNamespace(vendor="sqlite"))
    assert disk.full_disk().startswith("the disk of the data folder is read-only")
    monkeypatch.setattr(disk, "connection", SimpleNamespace(vendor="postgresql"))
    assert disk.full_disk() == ""
    read_only.add(settings.BUNDLES)
    assert disk.full_disk().startswith("the disk of the folder of bundles is read-only")


def health(query: str = "") -> tuple[int, str]:
    answer = Client().get(f"/healthz{query}")
    return answer.status_code, answer.content.decode()


@pytest.mark.django_db
def test_the_health_check_names_each_part_and_a_restart_is_asked_for_only_where_it_helps(
    monkeypatch: pytest.MonkeyPatch, broker: FakeRedis
) -> None:
    well, live = "disk: ok\ndatabase: ok\nredis: ok\nkeeper: ok\n", "disk: ok\ndatabase: ok\n"
    assert health() == (503, well.replace("keeper: ok", "keeper: it has not started yet"))
    calendar.sweep()
    assert health() == (200, well)
    Keeper.objects.update(seen_at="2026-01-01T00:00Z")
    status, text = health()
    assert (status, "\nkeeper: it has not worked for " in text) == (503, True)
    assert health("?live") == (200, live)
    Keeper.objects.update(seen_at=timezone.now())
    broker.is_away = True
    assert health() == (503, well.replace("redis: ok", "redis: it does not answer"))
    assert health("?live") == (200, live)

    def away(*_: object) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr("tournament.monitoring.conditions.Keeper.objects.first", away)
    assert health("?live") == (503, live.replace("database: ok", "database: it does not answer"))
    assert "database: it does not answer\n" in health()[1]


@pytest.mark.django_db(transaction=True)
def test_a_message_waits_for_a_database_that_is_away_and_is_dropped_only_at_a_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    calls = iter([OperationalError("gone"), OperationalError("gone"), None])

    def store() -> None:
        if error := next(calls):
            raise error

    tasks.store_patiently(store)
    assert pauses == [1.0, 2.0]
    monkeypatch.setattr("celery.worker.state.should_stop", 0)
    calls = iter([OperationalError("gone")])
    with pytest.raises(OperationalError):
        tasks.store_patiently(store)
