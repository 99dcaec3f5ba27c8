"""Sites that earlier releases stored, upgraded with the present code: nothing is lost, everything goes on.

The stored sites were filled by the code of their release, which was killed among games.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psycopg
import pytest

from tests.support.sites import SiteData
from tests.support.stored_sites import stored_sites, unpack_site
from tests.tournament.embedded.test_database import open_site

pytestmark = pytest.mark.thorough
LADDERS = 5
MAX_KINDS = 100
"""The pages are more than the kinds of pages."""
CONTENT = {
    "games": "SELECT key, replace(state, 'claimed', 'waiting'), result, termination, plies, sequence"
    " FROM tournament_game ORDER BY key",
    "ratings": "SELECT version_id, ladder_id, mu, sigma, games FROM tournament_ladderrating"
    " ORDER BY version_id, ladder_id",
    "events": "SELECT game_id, version_id, mu_before, sigma_before, mu_after, sigma_after"
    " FROM tournament_ratingevent ORDER BY game_id, version_id",
    "users": "SELECT username, password, email, is_staff FROM tournament_user ORDER BY username",
    "tournaments": "SELECT slug, kind, state, games_total, games_done FROM tournament_tournament"
    " ORDER BY slug",
    "versions": "SELECT bundle_id, number, state FROM tournament_botversion ORDER BY id",
}
"""What an upgrade may not change, in columns that all releases have; games under way may wait again."""
REPLAY = """
from engines.records import read_records, verify_record
from tournament.models import GameRecord
faults = []
for row in GameRecord.objects.select_related("game"):
    (record,) = read_records(row.text.splitlines(keepends=True), row.game.key)
    faults += verify_record(record)
print(len(faults), GameRecord.objects.count())
"""
CRAWL = """
import html, re
from django.conf import settings
from django.test import Client

settings.ALLOWED_HOSTS = ["*"]
seen = set()

def is_visited(link):
    # Every page, but only every twelfth game.
    game = re.match("/games/([0-9]+)", link)
    return not link.startswith(("/static/", "/log-out/")) and not (game and int(game[1]) % 12)

for name in ("", "ada", "stan"):
    client = Client()
    if name:
        assert client.login(username=name, password="correct horse"), name
    waiting, known = ["/", "/workers/", "/staff/" if name == "stan" else "/about/"], set()
    while waiting:
        address = waiting.pop()
        if address in known:
            continue
        known.add(address)
        answer = client.get(address, headers={"Accept": "text/html"})
        assert answer.status_code in {200, 302}, f"{name} {address}: {answer.status_code}"
        seen.add(address)
        content = answer.getvalue()
        if answer.get("Content-Type", "").startswith("text/html"):
            links = re.findall(r'(?:href|data-follow)="(/[^"#?]*)', content.decode())
            waiting += [link for link in map(html.unescape, links) if is_visited(link)]
print(len(seen), sum(address.endswith(".pgn") and "/games/" in address for address in seen))
"""
GO_ON = """
from django.utils import timezone
from tests.support.schedule import make_worker, open_door, record_short, take_all
from tournament.models import Attempt, Game, Tournament
from tournament.services import calendar
from tournament.services.work import workers
now = timezone.now()
workers.presume_lost()
open_door(now)
make_worker(8, name="players@east")
calendar.sweep(now=now)
calendar.tend()
while batches := take_all():
    for batch in batches:
        for job in batch.jobs:
            record_short([job])
    calendar.tend()
for tournament in Tournament.objects.filter(name="Under way"):
    print(tournament.state, tournament.games_done == tournament.games_total)
print(Game.objects.filter(state="claimed").count(), Attempt.objects.filter(ended_at=None).count())
"""
INTERRUPTED = """
import datetime
from importlib import import_module
from types import SimpleNamespace
texts = import_module("tournament.migrations.0021_compressed_texts")
def interrupt(*_):
    raise KeyboardInterrupt
texts.CHUNK, texts.Progress.add = 100, interrupt
soon = datetime.datetime(2026, 11, 23, tzinfo=datetime.timezone.utc)  # no log's time is over
texts.timezone = SimpleNamespace(now=lambda: soon)
try:
    texts.compress("default")
except KeyboardInterrupt:
    print("interrupted")
"""


def look_up(site: SiteData, query: str) -> Any:
    if "DATABASE_URL" not in site.environment:
        return site.ask(query)
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture(params=stored_sites(), ids=lambda path: path.name.removesuffix(".tar.xz"))
def site(request: pytest.FixtureRequest, tmp_path: Path) -> SiteData:
    address: str = request.getfixturevalue("postgres") if "postgresql" in request.param.name else ""
    return unpack_site(request.param, tmp_path / "data", address)


def test_every_release_has_a_stored_site_of_both_databases() -> None:
    names = {path.name for path in stored_sites()}
    assert names >= {f"0.1.0-{database}.tar.xz" for database in ("sqlite", "postgresql")}


def test_a_site_of_an_earlier_release_is_upgraded_whole_and_goes_on(site: SiteData) -> None:
    before = {name: look_up(site, query) for name, query in CONTENT.items()}
    assert all(before.values())

    assert open_site(site).stdout.endswith("The database is up to date.\n")

    after = {name: look_up(site, query) for name, query in CONTENT.items()}
    for name in CONTENT:
        assert after[name] == before[name], name
    done = [row for row in before["games"] if row[1] == "done"]
    assert site.run(REPLAY) == f"0 {len(done)}\n"
    assert site.manage("rebuild_ratings").count("nothing changed") == LADDERS
    pages, records = map(int, site.run(CRAWL).split())
    assert pages > MAX_KINDS
    assert records
    assert site.run(GO_ON) == "finished True\n0 0\n"
    assert site.manage("rebuild_ratings").count("nothing changed") == LADDERS


def test_texts_that_an_interrupted_update_has_compressed_are_not_compressed_again(site: SiteData) -> None:
    logs = "SELECT game_id, side, stderr, lines FROM tournament_gamelog ORDER BY id"
    records = "SELECT count(*) FROM tournament_gamerecord"
    done = "SELECT count(*), max(id) FROM unfinished_logs"
    before, number = look_up(site, logs), look_up(site, records)
    assert site.run(INTERRUPTED) == "interrupted\n"
    first = look_up(site, done)
    assert first[0][0] == 100 < len(before)
    assert look_up(site, logs) == before, "the earlier release can go on"
    assert site.run(INTERRUPTED) == "interrupted\n"
    assert look_up(site, done)[0][1] > first[0][1]

    assert open_site(site).stdout.endswith("The database is up to date.\n")

    assert site.run(REPLAY) == f"0 {number[0][0]}\n"
    (backup,) = (site.data / "backups").glob("*.zip")
    with ZipFile(backup) as archive:
        assert "unfinished" not in " ".join(archive.namelist())


RECORDED_LATE = """
from importlib import import_module
from django.db import connection
texts = import_module("tournament.migrations.0021_compressed_texts")
with connection.cursor() as cursor:
    cursor.execute("SELECT min(game_id) FROM tournament_gamerecord")
    (first,) = cursor.fetchone()
    cursor.execute("CREATE TABLE kept AS SELECT * FROM tournament_gamerecord WHERE game_id = %s", [first])
    cursor.execute("DELETE FROM tournament_gamerecord WHERE game_id = %s", [first])
    texts.compress("default")
    cursor.execute("INSERT INTO tournament_gamerecord SELECT * FROM kept")
    cursor.execute("DROP TABLE kept")
"""


def test_a_game_that_the_earlier_release_records_after_later_ones_were_compressed_is_kept(
    site: SiteData,
) -> None:
    number = look_up(site, "SELECT count(*) FROM tournament_gamerecord")[0][0]
    site.run(RECORDED_LATE)
    assert open_site(site).stdout.endswith("The database is up to date.\n")
    assert site.run(REPLAY) == f"0 {number}\n"
