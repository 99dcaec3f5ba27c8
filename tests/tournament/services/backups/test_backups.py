"""Backups of sites on SQLite, by the commands: written while others write, restored whole or not at all."""

from __future__ import annotations

import gzip
import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.sites import SiteData
from tournament.embedded.data_folder import ForeignFolder, check_data_folder
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow

FILL = """
from django.utils import timezone
from django.db import transaction
from tests.support.schedule import make_tournament, make_version, make_worker, make_user, play_short
from tournament import queues
from tournament.services.dispatch import dispatch
from tournament.services.results import keeper
from tournament.models import Bundle
from workers.bundles.store import pack_bundle, store_bundle
from django.conf import settings
sent = []
queues.send_jobs = lambda jobs, queue: sent.extend(jobs)
queues.send_command = lambda command: None
versions = [make_version(name, owner=make_user(name.lower())) for name in ("Ada", "Bob", "Eve")]
for version in versions:
    sha256 = store_bundle(settings.BUNDLES, pack_bundle({"bot.toml": b'[bot]\\nname = "A"\\nversion = "1"\\n'
        b'command = ["python3", "main.py"]\\ngames = ["duploline"]\\n',
        "main.py": version.bot.name.encode()}))
    Bundle.objects.get_or_create(sha256=sha256, defaults={"size": 1})
    version.bundle_id = sha256
    version.save()
make_tournament(versions=versions, pairs=3)
make_worker()
dispatch.fill_buffer()
for job in sent[:4]:
    keeper.record_all(list(play_short(job)))
"""
"""A tournament of 18 games, of which some are done, some queued at a worker, and the others wait."""
GO_ON = """
from django.utils import timezone
from tests.support.schedule import play_short
from tournament import queues
from tournament.models import Game, Tournament
from tournament.services.dispatch import dispatch, workers
from tournament.services.dispatch.leases import keeper_started
from tournament.services.results import keeper
from workers.service.messaging.heartbeat import Heartbeat
sent = []
queues.send_jobs = lambda jobs, queue: sent.extend(jobs)
queues.clear_queue = queues.send_command = lambda name: None
workers.presume_lost()
keeper_started()
started = Heartbeat(
    "players@east", "next run", "host", "games", "0.1.0", 2, 0, 0, 0, 0, 0, "", "A", "", True, False)
workers.record_heartbeat(started, timezone.now())
while dispatch.fill_buffer():
    for job in sent:
        keeper.record_all(list(play_short(job)))
    sent.clear()
(spring,) = Tournament.objects.filter(kind="round-robin")
print(spring.state, spring.games_done, Game.objects.filter(state="done").count())
"""
STOP = """
import os, signal, sys
from django.core.management import call_command
from tournament.services.backups import archive, postgresql, restoring, sqlite, writing
go_on = {where}
def die(*values, **more):
    go_on(*values, **more)
    os.kill(os.getpid(), signal.SIGKILL)
{where} = die
call_command(*{words!r})
"""


@pytest.fixture(autouse=True)
def ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """For root other rules hold about the owner of a data folder."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SiteData:
    made = SiteData(tmp_path_factory.mktemp("site") / "data")
    made.run(FILL)
    return made


@pytest.fixture(scope="module")
def backup(site: SiteData) -> Path:
    path = site.data.parent / "backup.tar"
    said = site.manage("backup", str(path))
    assert said == f"{path}: {path.stat().st_size:,} bytes\n"
    return path


def place(tmp_path: Path) -> SiteData:
    """An empty data folder, and the environment of a site in it."""
    return SiteData(tmp_path / "restored", migrate=False)


def fails(site: SiteData, *words: str) -> str:
    run = subprocess.run(
        (sys.executable, "manage.py", *words),
        cwd=ROOT,
        env=site.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout
    return run.stderr


def die_after(site: SiteData, where: str, *words: str) -> None:
    """Run a command and kill it after the first call of a function."""
    program = STOP.format(where=where, words=words)
    ended = subprocess.run(
        (sys.executable, "-c", "import django; django.setup()\n" + program),
        cwd=ROOT,
        env={**site.environment, "DJANGO_SETTINGS_MODULE": "tournament.settings"},
        check=False,
        capture_output=True,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def rows(site: SiteData) -> dict[str, list[tuple[object, ...]]]:
    """Of all tables but the one to which a backup adds its own row when it is whole."""
    tables = site.ask("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return {
        str(name): sorted(site.ask(f'SELECT * FROM "{name}"'), key=repr)
        for (name,) in tables
        if name != "tournament_act"
    }


def test_a_restored_site_has_the_same_rows_bundles_and_key(
    site: SiteData, backup: Path, tmp_path: Path
) -> None:
    restored = place(tmp_path)
    said = restored.manage("restore", str(backup))
    assert said.startswith("restored the site of 2")
    assert rows(restored) == rows(site)
    for folder in (site.data, restored.data):
        assert len(list((folder / "bundles").rglob("*.zip"))) == 3
    for file in [
        Path("secret_key"),
        *(f.relative_to(site.data) for f in (site.data / "bundles").rglob("*.zip")),
    ]:
        assert (restored.data / file).read_bytes() == (site.data / file).read_bytes()
    assert not (restored.data / ".restoring").exists()
    assert (restored.data / "secret_key").stat().st_mode & 0o077 == 0
    check_data_folder(restored.data)
    assert backup.stat().st_mode & 0o077 == 0, "it holds the key and hashes of passwords"


def test_the_ratings_of_a_restored_site_rebuild_to_the_bit_and_its_tournament_goes_on(
    backup: Path, tmp_path: Path
) -> None:
    restored = place(tmp_path)
    restored.manage("restore", str(backup))
    before = rows(restored)
    said = restored.manage("rebuild_ratings")
    (rated,) = restored.ask("SELECT count(DISTINCT game_id) FROM tournament_ratingevent")[0]
    assert f"duploline: {rated} rated games, nothing changed" in said
    assert rated
    assert rows(restored) == before
    assert restored.run(GO_ON) == "finished 18 18\n"


def test_a_backup_is_one_moment_of_a_database_that_others_write(
    site: SiteData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tournament.services.backups import sqlite

    monkeypatch.setattr(sqlite, "PAGES_AT_ONCE", 5)
    steps = 0
    with sqlite3.connect(site.data / "db.sqlite3", isolation_level=None) as writer:
        writer.execute("CREATE TABLE marks (number INTEGER)")

        def write(what: str, done: int, total: int) -> None:
            nonlocal steps
            steps += 1
            writer.execute("INSERT INTO marks VALUES (1)")

        sqlite.dump(site.data / "db.sqlite3", tmp_path / "copy", write)
        (written,) = writer.execute("SELECT count(*) FROM marks").fetchone()
        writer.execute("DROP TABLE marks")
    assert written == steps > 10
    sqlite.check(tmp_path / "copy")
    with sqlite3.connect(tmp_path / "copy") as copy:
        assert copy.execute("SELECT count(*) FROM marks").fetchone() == (0,)


@pytest.mark.parametrize("where", ["sqlite.dump", "archive.ArchiveWriter.add", "archive.ArchiveWriter.close"])
def test_a_backup_that_is_killed_leaves_the_file_of_before(
    site: SiteData, tmp_path: Path, where: str
) -> None:
    path = tmp_path / "backup.tar.gz"
    path.write_bytes(b"the one before")
    die_after(site, where, "backup", str(path))
    assert path.read_bytes() == b"the one before"
    site.manage("backup", str(path))
    with tarfile.open(path, "r:gz") as file:
        assert file.getnames()[-1] == "contents.json"


@pytest.mark.parametrize(
    "where",
    [
        "archive._unpack",
        "restoring.extract",
        "restoring._place_bundles",
        "restoring._place_key",
        "os.replace",
    ],
)
def test_a_restore_that_is_killed_starts_no_site_and_can_be_repeated(
    site: SiteData, backup: Path, tmp_path: Path, where: str
) -> None:
    restored = place(tmp_path)
    die_after(restored, where, "restore", str(backup))
    with pytest.raises(ForeignFolder, match="was interrupted: repeat"):
        check_data_folder(restored.data)
    if (restored.data / "db.sqlite3").exists():
        (restored.data / "db.sqlite3").unlink()
    restored.manage("restore", str(backup))
    check_data_folder(restored.data)
    assert rows(restored) == rows(site)


def test_nothing_is_restored_over_a_site(site: SiteData, backup: Path) -> None:
    before = rows(site)
    said = fails(site, "restore", str(backup))
    assert f"nothing was restored: the data folder '{site.data}' is not empty, it has 'bundles'" in said
    assert rows(site) == before


@pytest.mark.thorough
def test_a_damaged_or_foreign_file_is_refused_and_leaves_the_folder_usable(
    site: SiteData, backup: Path, tmp_path: Path
) -> None:
    whole = backup.read_bytes()
    position = whole.index(b"SQLite format 3") + 5000
    flipped = bytes([whole[position] ^ 1])
    cut = whole[: len(whole) // 2]
    foreign = tmp_path / "foreign.tar"
    with tarfile.open(foreign, "w") as file:
        file.add(ROOT / "manage.py", "../manage.py")
    short = tmp_path / "short.tar"
    with tarfile.open(backup) as source, tarfile.open(short, "w") as file:
        file.addfile(member := source.getmember("about.json"), source.extractfile(member))
    files = {
        "is damaged: 'database/db.sqlite3' is not what was written": whole[:position]
        + flipped
        + whole[position + 1 :],
        "is no backup, or a part of one": cut,
        "is no backup of Duarena: it holds '../manage.py'": foreign.read_bytes(),
        "is not a whole backup: it is cut off": short.read_bytes(),
        "or a part of one: empty file": b"",
        "or a part of one": gzip.compress(whole)[:-9000],
    }
    restored = place(tmp_path)
    beside = set(tmp_path.iterdir())
    for sentence, content in files.items():
        given = tmp_path / "given"
        given.write_bytes(content)
        assert sentence in (said := fails(restored, "restore", str(given))), said
        assert set(tmp_path.iterdir()) <= beside | {given, restored.data}
    restored.manage("restore", str(backup))
    assert rows(restored) == rows(site)


@pytest.mark.thorough
def test_a_backup_of_a_later_release_is_refused_by_name(backup: Path, tmp_path: Path) -> None:
    restored = place(tmp_path)
    later = tmp_path / "later.tar"
    program = f"""
import dataclasses
from pathlib import Path
from tournament.services.backups import writing
about = writing._about
writing._about = lambda: dataclasses.replace(about(), release="9.9", migrations={{"tournament": "9999_x"}})
writing.write_backup(Path({str(later)!r}), lambda *_: None)
"""
    source = SiteData(tmp_path / "source")
    source.run(program)
    said = fails(restored, "restore", str(later))
    assert "was made by release 9.9 with the migration tournament.9999_x" in said


def test_a_missing_bundle_that_a_version_needs_fails_the_backup(site: SiteData, tmp_path: Path) -> None:
    bundle = next((site.data / "bundles").rglob("*.zip"))
    content = bundle.read_bytes()
    bundle.unlink()
    try:
        said = fails(site, "backup", str(tmp_path / "backup.tar"))
    finally:
        bundle.write_bytes(content)
    assert f"no backup was written: the bundle {bundle} is missing, but a version needs it" in said
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written_is_named(site: SiteData, tmp_path: Path) -> None:
    said = fails(site, "backup", str(tmp_path / "nowhere" / "backup.tar"))
    assert "no backup was written: there is no folder" in said
