"""Rebuilding the live tables: games that come meanwhile, a kill, another rebuild."""

from __future__ import annotations

import datetime
import importlib
import os
import signal
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from tests.support.schedule import (
    Deal,
    OnCommit,
    make_tournament,
    make_version,
    play_short,
    record,
    record_short,
)
from tests.support.threads import at_once
from tests.tournament.services.results.test_ratings import table
from tournament.embedded.plan import ROOT
from tournament.models import Game, Ladder, LadderRating, PairOutcome, PairScore, RatingEvent
from tournament.services.results import estimates, rebuilding
from tournament.services.results.rebuilding import rebuild

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER = "dogon-kulei"
KILLED = """
import os, signal, django
django.setup()
from tournament.services.results import rebuilding
rebuilding.CHUNK = 2
def progress(ladder, done, total):
    if done > 4:
        os.kill(os.getpid(), signal.SIGKILL)
rebuilding.rebuild("dogon-kulei", progress)
"""


def schedule(games: int = 3) -> None:
    make_tournament(
        versions=[make_version(f"Bot {n}", games=[LADDER]) for n in range(games)],
        ladders=[LADDER],
        pairs=2,
        opening_plies=2,
    )


def play(deal: Deal) -> None:
    while jobs := deal():
        record_short(jobs)


def spoil() -> None:
    RatingEvent.objects.filter(sequence__gt=2).update(mu_after=F("mu_after") + 1)
    LadderRating.objects.update(mu=99, wins=0)
    PairScore.objects.update(wins=F("wins") + 1)
    PairOutcome.objects.update(count=F("count") + 1)


def empty() -> None:
    for model in (RatingEvent, LadderRating, PairScore, PairOutcome):
        model._default_manager.all().delete()


def test_games_recorded_during_a_rebuild_are_in_it_once(deal: Deal, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are rated live from the wrong ratings, and then once more by the rebuild from the right ones."""
    monkeypatch.setattr(rebuilding, "CHUNK", 2)
    monkeypatch.setattr(rebuilding, "FEW", 0)
    schedule(4)
    first = deal()
    record_short([first[0]])
    spoil()
    late = [report for job in first[1:] for report in play_short(job)]
    seen = []

    def record_more(ladder: str, done: int, total: int) -> None:
        seen.append((done, total))
        if late:
            record(late.pop())

    rebuilt = rebuild(LADDER, record_more)[0]
    assert rebuilt.changed
    assert not late
    assert len(seen) > 2
    assert rebuilt.games == Game.objects.filter(rated=True).count() > 2
    assert RatingEvent.objects.count() == 2 * rebuilt.games
    stored = table()
    assert not rebuild(LADDER)[0].changed
    empty()
    rebuild(LADDER)
    assert table() == stored


def test_games_recorded_while_counts_are_replaced_are_counted_once(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "VERSIONS", 1)
    schedule(4)
    first, *others = deal()
    record_short([first])
    spoil()
    late = [report for job in others for report in play_short(job)][:4]

    def record_one_more(ladder: str, done: int, total: int) -> None:
        if late:
            record(late.pop())

    rebuild(LADDER, record_one_more)
    assert not late
    stored = table()
    empty()
    rebuild(LADDER)
    assert table() == stored


@pytest.mark.django_db(transaction=True)
def test_other_connections_write_between_the_parts_of_a_rebuild(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "CHUNK", 2)
    schedule()
    play(deal)
    spoil()
    written: list[int] = []

    def look(ladder: str, done: int, total: int) -> None:
        others = Ladder.objects.filter(pk="dualma")
        written.extend(at_once(lambda: others.update(sequence=F("sequence") + 1)))

    assert rebuild(LADDER, look)[0].changed
    assert len(written) >= 3
    assert set(written) == {1}


@pytest.mark.django_db(transaction=True)
def test_a_rebuild_after_one_that_was_killed_completes_it(deal: Deal) -> None:
    schedule()
    play(deal)
    right = table()
    spoil()
    wrong = table()
    if connection.vendor != "sqlite":
        pytest.skip("the other process opens the test's file")
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
        "DJANGO_SETTINGS_MODULE": "tournament.settings",
    }
    ended = subprocess.run((sys.executable, "-c", KILLED), cwd=ROOT, env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert right != table() != wrong
    assert rebuild(LADDER)[0].changed
    assert table() == right


def test_two_rebuilds_at_the_same_time_repair_the_tables(deal: Deal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilding, "CHUNK", 2)
    schedule()
    play(deal)
    right = table()
    spoil()
    others = iter((rebuilding.rebuild,))

    def rebuild_beside(ladder: str, done: int, total: int) -> None:
        for other in others:
            assert other(LADDER)[0].changed

    rebuild(LADDER, rebuild_beside)
    assert table() == right


def test_pairs_are_counted_live_as_a_rebuild_and_the_migration_count_them(deal: Deal) -> None:
    schedule(4)
    play(deal)
    live = table()["PairOutcome"]
    assert sum(row["count"] for row in live) > 3
    migration = importlib.import_module("tournament.migrations.0015_pair_outcomes")
    PairOutcome.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(migration.COUNT_PAIRS)
    assert table()["PairOutcome"] == live
    PairOutcome.objects.all().delete()
    assert rebuild(LADDER)[0].changed
    assert table()["PairOutcome"] == live


def test_a_long_ladder_shows_its_last_estimate_until_the_keeper_renews_it(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule()
    play(deal)
    right, now = estimates.compute(LADDER), timezone.now()
    spoil()
    assert estimates.refresh_estimates(now) == 1
    wrong = estimates.ladder_estimate(LADDER)
    assert wrong != right
    monkeypatch.setattr(estimates, "AT_ONCE", 1)
    assert rebuild(LADDER)[0].changed
    assert estimates.ladder_estimate(LADDER) == wrong
    assert estimates.refresh_estimates(now + datetime.timedelta(minutes=1)) == 1
    assert estimates.ladder_estimate(LADDER) == right


def test_the_command_shows_its_progress(deal: Deal, on_commit: OnCommit) -> None:
    schedule()
    play(deal)
    progress = StringIO()
    call_command("rebuild_ratings", "--ladder", LADDER, stdout=StringIO(), stderr=progress)
    count = Ladder.objects.get(pk=LADDER).sequence
    assert f"{LADDER}: {count}/{count} games rated" in progress.getvalue()
