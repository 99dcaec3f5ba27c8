"""Backups by the commands: written while others write, restored whole or not at all, into any database."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from engines.bundles.store import store_bundle
from engines.release import RELEASE
from tests.support.sites import SiteData
from tournament.embedded import StartError
from tournament.embedded.data_folder import check_data_folder
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow

FILL = """
from tests.support.schedule import (
    make_tournament, make_user, make_version, make_worker, record_short, take_all
)
from tournament.models import Bundle
from engines.bundles.store import pack_bundle, store_bundle
from django.conf import settings
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
sent = [job for batch in take_all() for job in batch.jobs]
for job in sent[:4]:
    record_short([job])
"""
"""A tournament of 18 games: some are done, some taken by a worker, and the others wait."""
CLOSE = """
from django.utils import timezone
from tournament.models import User
from tournament.services.closing import close_account
close_account(User.objects.get(username="ada"), timezone.now())
"""
GO_ON = """
from django.utils import timezone
from tests.support.schedule import ask, record_short
from tournament.models import Game, Tournament, Worker
from tournament.services.work import workers
workers.presume_lost()
Worker.objects.update(state="up", seen_at=timezone.now())
worker = Worker.objects.get()
for slot in (0, 1):
    while batch := ask(worker, slot, holds=[]):
        for job in batch.jobs:
            record_short([job])
(spring,) = Tournament.objects.filter(kind="round-robin")
print(spring.state, spring.games_done, Game.objects.filter(state="done").count())
"""
STOP = """
import os, signal, sys
from django.core.management import call_command
from tournament.services.backups import archive, restoring, rows
go_on = {where}
def die(*values, **more):
    go_on(*values, **more)
    os.kill(os.getpid(), signal.SIGKILL)
{where} = die
call_command(*{words!r})
"""
INTERRUPT = """
import sys
import django
django.setup()
from django.core.management import execute_from_command_line
from tournament.services.backups import archive, restoring, rows
go_on = {where}
def interrupt(*values, **more):
    go_on(*values, **more)
    raise KeyboardInterrupt
{where} = interrupt
execute_from_command_line(["manage.py", *{words!r}])
"""
SHOW_PROGRESS = """
import io
from tournament.services.backups import archive, rows
rows.ROWS_AT_ONCE = rows.SHOWN_ROWS = 6
archive.write_archive(io.BytesIO(), print)
"""
ODD_VALUES = r"""
import datetime
from tournament.models import Bot, BotVersion, GameLog, LadderRating, User
texts = ["", "\\N", 'a"b\tc\nd\re', "\u265e \U0001f9c5 \u2028", "NULL", '{"base64": 1}']
for number, text in enumerate(texts):
    joined = datetime.datetime(2026, 1, 1, 23, 59, 59, number * 199999, tzinfo=datetime.UTC)
    User.objects.create(username=f"odd{number}", first_name=text, date_joined=joined)
    Bot.objects.filter(pk=number).update(description=text)
floats = (0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.1)
for rating, number in zip(LadderRating.objects.order_by("pk"), floats):
    LadderRating.objects.filter(pk=rating.pk).update(mu=number)
GameLog.objects.update(content=bytes(range(256)))
BotVersion.objects.update(options={"a": [1, 2.5, None, True, {"\u00e9": '\\ " \n'}], "b": {}})
"""
"""Values that a form of text could change."""
SHOW = """
from django.apps import apps
from django.db import connection
from tournament.models import Act
for model in apps.get_models(include_auto_created=True):
    if model is not Act and model._meta.managed:
        print(model._meta.db_table)
        for row in model._base_manager.order_by("pk").values_list():
            print(tuple(bytes(v) if isinstance(v, memoryview) else v for v in row))
with connection.cursor() as cursor:
    for table in ("django_migrations", "tournament_shared_cache"):
        cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
        print([(row[0], row[1], *map(str, row[2:-1])) for row in cursor.fetchall()])
"""
"""All rows of all tables but the one to which a backup adds its own row when it is whole."""
WRITE_AT_EACH_STEP = """
import os
import re
from pathlib import Path
from django.db import connections
from tournament.services.backups import archive, rows
other = connections.create_connection("default")
other.settings_dict["OPTIONS"].pop("transaction_mode", None)
cursor = other.cursor()
cursor.execute("CREATE TABLE zz_marks (number INTEGER)")
written = 0
write_table = rows.write_table
def write(table, file, *more):
    global written
    written += 1
    cursor.execute("INSERT INTO zz_marks VALUES (1)")
    write_table(table, file, *more)
rows.ROWS_AT_ONCE = 2
rows.write_table = write
archive.write_backup(Path({path!r}))
cursor.execute("DROP TABLE zz_marks")
print(written)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SiteData:
    made = SiteData(tmp_path_factory.mktemp("site") / "data")
    made.run(FILL)
    made.run(ODD_VALUES)
    store_bundle(made.data / "evidence", b"an archive of evidence")
    return made


@pytest.fixture(scope="module")
def backup(site: SiteData) -> Path:
    path = site.data.parent / "backup.zip"
    said = site.manage("backup", str(path))
    assert said == f"{path}: {path.stat().st_size:,} bytes, release {RELEASE}\n"
    return path


@pytest.fixture(scope="module")
def shown(site: SiteData) -> str:
    return site.run(SHOW)


def place(tmp_path: Path) -> SiteData:
    """An empty data folder, and the environment of a site in it."""
    return SiteData(tmp_path / "restored", migrate=False)


@pytest.fixture(scope="module")
def begun(backup: Path) -> SiteData:
    """A data folder whose restore was killed after the tables were made, which takes longest."""
    made = SiteData(backup.parent / "begun", migrate=False)
    die_after(made, "restoring.MigrationExecutor.migrate", "restore", str(backup))
    return made


def copy_of(begun: SiteData, tmp_path: Path) -> SiteData:
    copied = place(tmp_path)
    shutil.copytree(begun.data, copied.data, dirs_exist_ok=True)
    return copied


Places = Callable[..., SiteData]


@pytest.fixture(scope="module")
def on_postgres(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> SiteData:
    """A site on PostgreSQL with the rows of the other, to be copied: ``filled``; ``empty`` has its tables."""
    made = SiteData(tmp_path_factory.mktemp("postgres") / "data", migrate=False)
    for name, template in (("empty", "template1"), ("filled", "empty")):
        made.environment["DATABASE_URL"] = _make_database(postgres, name, template)
        if name == "empty":
            made.manage("migrate", "-v0")
    made.run(FILL)
    made.run(ODD_VALUES)
    return made


@pytest.fixture
def places(request: pytest.FixtureRequest) -> Places:
    """Makes the place of a new site on a kind of database, which may begin as a copy."""
    numbers = count()

    def make(kind: str, data: Path, *, copied: str = "") -> SiteData:
        if kind == "sqlite":
            return SiteData(data, migrate=bool(copied))
        made, server = SiteData(data, migrate=False), request.getfixturevalue("postgres")
        if copied:
            shutil.copytree(request.getfixturevalue("on_postgres").data, data)
        database = f"site{next(numbers)}"
        made.environment["DATABASE_URL"] = _make_database(server, database, copied or "template1")
        return made

    return make


def _make_database(server: str, name: str, template: str) -> str:
    """The address of a new PostgreSQL database."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return urlsplit(server)._replace(path=f"/{name}").geturl()


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


def interrupt_after(site: SiteData, where: str, *words: str) -> str:
    """Run a command with Ctrl-C after the first call of a function; returns what it said."""
    ended = subprocess.run(
        (sys.executable, "-c", INTERRUPT.format(where=where, words=words)),
        cwd=ROOT,
        env={**site.environment, "DJANGO_SETTINGS_MODULE": "tournament.settings"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stderr.splitlines()[-1]


KINDS = [
    ("sqlite", "sqlite"),
    pytest.param(("sqlite", "postgresql"), marks=pytest.mark.thorough),
    pytest.param(("postgresql", "sqlite"), marks=pytest.mark.thorough),
    pytest.param(("postgresql", "postgresql"), marks=pytest.mark.thorough),
]


@pytest.mark.parametrize("kinds", KINDS, ids="-to-".join)
def test_a_restored_site_has_the_same_rows_on_any_database_and_goes_on(
    site: SiteData, begun: SiteData, places: Places, tmp_path: Path, kinds: tuple[str, str]
) -> None:
    source = site
    if kinds[0] != "sqlite":
        source = places(kinds[0], tmp_path / "source", copied="filled")
    has_tables = kinds == ("postgresql", "sqlite")  # which the case of two SQLite databases has made
    restored = copy_of(begun, tmp_path) if has_tables else places(kinds[1], tmp_path / "restored")
    backup = tmp_path / "backup.zip"
    source.manage("backup", str(backup))
    before = source.run(SHOW)
    said = restored.manage("restore", str(backup))
    assert said.startswith("restored the site of 2")
    assert restored.run(SHOW) == before
    said = restored.manage("rebuild_ratings")
    assert "duploline: " in said
    assert restored.run(GO_ON) == "finished 18 18\n"  # it makes new rows in many tables


def test_ratings_of_a_restored_site_rebuild_to_the_bit(begun: SiteData, tmp_path: Path) -> None:
    source, restored = SiteData(tmp_path / "source"), copy_of(begun, tmp_path)
    source.run(FILL)
    source.manage("backup", str(tmp_path / "backup.zip"))
    restored.manage("restore", str(tmp_path / "backup.zip"))
    before = restored.run(SHOW)
    said = restored.manage("rebuild_ratings")
    (rated,) = restored.ask("SELECT count(DISTINCT game_id) FROM tournament_ratingevent")[0]
    assert rated
    assert f"duploline: {rated} rated games, nothing changed" in said
    assert restored.run(SHOW) == before


def test_a_restored_site_has_the_bundles_and_the_key_and_is_private(
    site: SiteData, backup: Path, begun: SiteData, tmp_path: Path
) -> None:
    restored = copy_of(begun, tmp_path)
    restored.manage("restore", str(backup))
    bundles = [file.relative_to(site.data) for file in (site.data / "bundles").rglob("*.zip")]
    assert len(bundles) == len(list((restored.data / "bundles").rglob("*.zip"))) == 3
    archives = [file.relative_to(site.data) for file in (site.data / "evidence").rglob("*.zip")]
    assert len(archives) == 1
    for file in [Path("secret_key"), *bundles, *archives]:
        assert (restored.data / file).read_bytes() == (site.data / file).read_bytes()
    check_data_folder(restored.data)
    for path in (backup, restored.data, restored.data / "secret_key", restored.data / "db.sqlite3"):
        assert path.stat().st_mode & 0o077 == 0, "it holds the key and hashes of passwords"


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)])
def test_a_backup_is_one_moment_of_a_database_that_others_write(
    places: Places, tmp_path: Path, kind: str
) -> None:
    """The writer does not wait, or it would wait for ever: it is the same thread."""
    source, path = places(kind, tmp_path / "source", copied="empty"), tmp_path / "backup.zip"
    assert int(source.run(WRITE_AT_EACH_STEP.format(path=str(path)))) > 30
    with zipfile.ZipFile(path) as archive:
        assert archive.read("tables/zz_marks.jsonl") == b'["number"]\n'


def test_a_backup_into_a_pipe_is_restored_like_any_other(
    site: SiteData, begun: SiteData, shown: str, tmp_path: Path
) -> None:
    program = f"{sys.executable} manage.py backup - | cat >{tmp_path}/backup.zip"
    subprocess.run(program, shell=True, cwd=ROOT, env=site.environment, check=True)
    restored = copy_of(begun, tmp_path)
    restored.manage("restore", f"{tmp_path}/backup.zip")
    assert restored.run(SHOW) == shown


@pytest.mark.parametrize("where", ["rows.write_table", "archive._add_bundle", "os.fsync"])
def test_a_backup_that_is_killed_leaves_the_file_of_before_and_a_draft_that_the_next_one_replaces(
    site: SiteData, tmp_path: Path, where: str
) -> None:
    path = tmp_path / "monday.zip"
    path.write_bytes(b"the one before")
    die_after(site, where, "backup", str(path))
    assert path.read_bytes() == b"the one before"
    assert {entry.name for entry in tmp_path.iterdir()} <= {path.name, ".backup.part"}
    site.manage("backup", str(tmp_path / "tuesday.zip"))
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, "tuesday.zip"}
    with zipfile.ZipFile(tmp_path / "tuesday.zip") as archive:
        assert archive.namelist()[-1] == "about.json"


@pytest.mark.parametrize("where", ["rows.write_table", "archive._add_bundle"])
def test_an_interrupted_backup_says_so_and_leaves_nothing(site: SiteData, tmp_path: Path, where: str) -> None:
    said = interrupt_after(site, where, "backup", str(tmp_path / "backup.zip"))
    assert said == "CommandError: interrupted: no backup was written"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "state"),
    [("restoring.check_archive", "nothing was restored"), ("rows.read_table", "the restore is not complete")],
)
def test_an_interrupted_restore_says_what_there_is_of_the_site(
    backup: Path, begun: SiteData, tmp_path: Path, where: str, state: str
) -> None:
    restored = place(tmp_path) if where.startswith("restoring") else copy_of(begun, tmp_path)
    said = interrupt_after(restored, where, "restore", str(backup))
    assert said.startswith(f"CommandError: interrupted: {state}")


def test_a_backup_shows_how_far_it_is_unless_it_is_to_be_quiet(site: SiteData, tmp_path: Path) -> None:
    lines = site.run(SHOW_PROGRESS).splitlines()
    games = [line for line in lines if line.startswith("tournament_game: ")]
    assert games == [f"tournament_game: {rows} rows" for rows in (0, 6, 12, 18)]
    assert re.fullmatch(r"(\d)/\1 bundles", lines[-1])
    for words, first in (((), "backup: account_emailaddress: 0 rows"), (("-v0",), "")):
        command = (sys.executable, "manage.py", "backup", str(tmp_path / "backup.zip"), *words)
        ended = subprocess.run(command, cwd=ROOT, env=site.environment, capture_output=True, text=True)
        assert ended.stderr.partition("\n")[0] == first


def test_a_backup_names_its_release_and_a_later_one_is_noted(
    backup: Path, begun: SiteData, tmp_path: Path
) -> None:
    with zipfile.ZipFile(backup) as archive:
        about = json.loads(archive.read("about.json"))
    assert about["release"] == RELEASE
    given = tmp_path / "given"
    given.write_bytes(rewritten(backup, about_json=json.dumps(about | {"release": "99.0.0+a1"}).encode()))
    command = (sys.executable, "manage.py", "restore", str(given))
    restored = copy_of(begun, tmp_path)
    ended = subprocess.run(command, cwd=ROOT, env=restored.environment, capture_output=True, text=True)
    assert "release 99.0.0+a1: " in ended.stdout
    assert ended.stderr.endswith(f"The backup is of a later release than this one, {RELEASE}.\n")


def test_two_backups_into_one_folder_do_not_mix(site: SiteData, tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from tournament.services.backups import archive
path = Path({str(tmp_path)!r}, "one.zip")
write_archive = archive.write_archive
def write_another(file, *more):
    try:
        archive.write_backup(path.with_name("two.zip"))
    except archive.BackupError as error:
        print(error)
    write_archive(file, *more)
archive.write_archive = write_another
archive.write_backup(path)
"""
    assert site.run(program) == f"another backup is being written in {tmp_path}\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["one.zip"]


@pytest.mark.parametrize(
    "where",
    [
        "restoring.check_archive",
        "restoring.MigrationExecutor.migrate",
        "rows.read_table",
        "rows.finish",
        "restoring.store_bundle",
        "os.replace",
    ],
)
def test_a_restore_that_is_killed_starts_no_site_and_can_be_repeated(
    shown: str, backup: Path, begun: SiteData, tmp_path: Path, where: str
) -> None:
    restored = place(tmp_path) if where.startswith("restoring.check") else copy_of(begun, tmp_path)
    die_after(restored, where, "restore", str(backup))
    if where != "restoring.check_archive":
        with pytest.raises(StartError, match="was interrupted: repeat"):
            check_data_folder(restored.data)
    restored.manage("restore", str(backup))
    check_data_folder(restored.data)
    assert restored.run(SHOW) == shown


def test_nothing_is_restored_over_a_site(site: SiteData, shown: str, backup: Path) -> None:
    said = fails(site, "restore", str(backup))
    assert f"nothing was restored: the data folder '{site.data}' is not empty, it has '.duarena'" in said
    assert site.run(SHOW) == shown


@pytest.mark.thorough
def test_nothing_is_restored_over_the_rows_of_another_site_not_even_by_a_repeated_restore(
    backup: Path, places: Places, tmp_path: Path
) -> None:
    used = places("postgresql", tmp_path / "used", copied="empty")
    other = SiteData(tmp_path / "other", migrate=False)
    other.environment["DATABASE_URL"] = used.environment["DATABASE_URL"]
    before = used.run(SHOW)
    for _ in range(2):
        assert "nothing was restored: the database is not empty" in fails(other, "restore", str(backup))
    (other.data / ".restoring").mkdir()
    assert "the database is not empty" in fails(other, "restore", str(backup))
    assert used.run(SHOW) == before


def rewritten(backup: Path, **members: bytes | None) -> bytes:
    """The backup with other members, None for without; a member's name has _ for each / and dot."""
    written = io.BytesIO()
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name in source.namelist():
            content = members.pop(name.replace("/", "_").replace(".", "_"), source.read(name))
            if content is not None:
                file.writestr(name, content)
        for name, content in members.items():
            with warnings.catch_warnings(action="ignore"):  # of a name that comes twice
                file.writestr(name, content or b"")
    return written.getvalue()


def damaged_files(backup: Path) -> dict[str, bytes]:
    """Files that are no backup, by a part of the sentence."""
    whole = backup.read_bytes()
    with zipfile.ZipFile(backup) as archive:
        about = json.loads(archive.read("about.json"))
        member = archive.getinfo("tables/tournament_game.jsonl")
    names_end = member.header_offset + 30
    position = names_end + sum(struct.unpack("<HH", whole[names_end - 4 : names_end]))
    broken = whole[:position] + b"\xff" + whole[position + 1 :]  # a block of a type that does not exist

    def saying(**fields: object) -> bytes:
        return rewritten(backup, about_json=json.dumps(about | fields).encode())

    return {
        "is no backup of Duarena, or damaged: Error -3 while decompressing data": broken,
        "or damaged: File is not a zip file": whole[: len(whole) // 2],
        "is no backup of Duarena, or damaged: ": b"",
        "'secret_key' is empty": rewritten(backup, secret_key=b" \n"),
        "or damaged: \"There is no item named 'secret_key'": rewritten(backup, secret_key=None),
        "or damaged: \"There is no item named 'about.json'": rewritten(backup, about_json=None),
        "or damaged: Expecting": rewritten(backup, about_json=b"{"),
        "or damaged: tournament": rewritten(backup, about_json=b"[1]"),
        "got an unexpected keyword argument 'more'": saying(more=1),
        "is 9, and this release reads 2": saying(format=9),
        "was made by release 9.9 with the migration tournament.9999_x": saying(
            release="9.9", migrations={"tournament": "9999_x"}
        ),
        "with the migration later.0001_initial, which this release": saying(
            migrations=about["migrations"] | {"later": "0001_initial"}
        ),
    }


@pytest.mark.thorough
def test_a_damaged_or_foreign_file_is_refused_and_leaves_the_folder_usable(
    shown: str, backup: Path, tmp_path: Path
) -> None:
    restored, given = place(tmp_path), tmp_path / "given"
    beside = set(tmp_path.iterdir())
    for sentence, content in damaged_files(backup).items():
        given.write_bytes(content)
        said = fails(restored, "restore", str(given))
        assert sentence in said, (sentence, said)
        assert "nothing was restored: " in said
        assert "Traceback" not in said
        assert set(tmp_path.iterdir()) <= beside | {given, restored.data}
        assert {entry.name for entry in restored.data.iterdir()} <= {"lock", "secret_key"}
    restored.manage("restore", str(backup))
    assert restored.run(SHOW) == shown


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b'["id","name"]\n[1', "line 2 of the table 'auth_group' is malformed: Expecting"),
        (b'["id","name"]\n7', "line 2 of the table 'auth_group' is malformed: 'int' object is not iterable"),
        (b'["id","name"]\n[1,{}]', "line 2 of the table 'auth_group' is malformed: 'base64'"),
        (b'["id","nick"]\n[1,"a"]', "the database has no column 'nick' in the table 'auth_group'"),
        (b"[]\n", "the database has no column '' in the table 'auth_group'"),
        (b'["id","name"]\n[1]', "the restore is not complete: "),
        (b'["id","name"]\n[99999999999999999999,"a"]', "a row of the table 'auth_group' cannot be stored: "),
        (b'["id","name"]\n[1,"\\ud800"]', "a row of the table 'auth_group' cannot be stored: "),
        (b'["id","name"]\n[1,null]', "NOT NULL constraint failed: auth_group.name"),
    ],
)
def test_a_row_that_cannot_be_stored_is_named_and_another_file_can_be_restored(
    shown: str, backup: Path, begun: SiteData, tmp_path: Path, line: bytes, sentence: str
) -> None:
    restored, given = copy_of(begun, tmp_path), tmp_path / "given"
    given.write_bytes(rewritten(backup, tables_auth_group_jsonl=line))
    said = fails(restored, "restore", str(given))
    assert sentence in said
    assert "Traceback" not in said
    with pytest.raises(StartError, match="was interrupted: repeat"):
        check_data_folder(restored.data)
    if line == b"[]\n":
        restored.manage("restore", str(backup))
        assert restored.run(SHOW) == shown


def test_a_bundle_with_another_content_is_named(backup: Path, begun: SiteData, tmp_path: Path) -> None:
    with zipfile.ZipFile(backup) as archive:
        bundle = next(name for name in archive.namelist() if name.startswith("bundles/"))
    (tmp_path / "given").write_bytes(rewritten(backup, **{re.sub("[/.]", "_", bundle): b"another"}))
    said = fails(copy_of(begun, tmp_path), "restore", str(tmp_path / "given"))
    assert f"the restore is not complete: the content of '{bundle}' has another SHA-256" in said


def test_a_missing_bundle_that_a_version_needs_fails_the_backup(site: SiteData, tmp_path: Path) -> None:
    bundle = next((site.data / "bundles").rglob("*.zip"))
    content = bundle.read_bytes()
    bundle.unlink()
    try:
        said = fails(site, "backup", str(tmp_path / "backup.zip"))
    finally:
        bundle.write_bytes(content)
    assert f"no backup was written: the bundle {bundle} is missing, but a version needs it" in said
    assert os.listdir(tmp_path) == []


def test_the_programs_of_a_closed_account_are_not_missing(
    begun: SiteData, backup: Path, tmp_path: Path
) -> None:
    closed = copy_of(begun, tmp_path)
    closed.manage("restore", str(backup))
    closed.run(CLOSE)
    closed.manage("backup", str(tmp_path / "later.zip"))
    counts = [
        len([name for name in zipfile.ZipFile(path).namelist() if name.startswith("bundles/")])
        for path in (backup, tmp_path / "later.zip")
    ]
    assert counts[1] == counts[0] - 1


def test_a_place_that_cannot_be_written_is_named(site: SiteData, tmp_path: Path) -> None:
    said = fails(site, "backup", str(tmp_path / "nowhere" / "backup.zip"))
    assert "no backup was written: there is no folder" in said
