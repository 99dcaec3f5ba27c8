"""A process of the site is killed in the middle: nothing is made, taken or recorded twice, nothing is lost.

A real process on the test's database runs a part of the record keeper, or answers a request of a worker, and
kills itself with SIGKILL.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django import Settings

from tests.support.databases import database_url
from tests.support.door import DoorWorker
from tests.support.dumped import NOVEMBER, OCTOBER, make_dumps, play_ladder
from tests.support.meeting_scores import check_scores
from tests.support.played_evidence import make_evidence, play_event
from tests.support.schedule import (
    Deal,
    make_event,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    record_short,
    void,
)
from tests.support.seats import wrong_seats
from tournament.embedded.plan import ROOT
from tournament.models import (
    Attempt,
    Dump,
    Evidence,
    Game,
    GameRecord,
    InboxReport,
    Ladder,
    LatestPairing,
    Matchmaking,
    Pairing,
)
from tournament.services.calendar import tend
from tournament.services.ladders import matchmaking
from tournament.services.results import keeper
from tournament.services.results.rebuilding import rebuild
from tournament.services.schedule import tournaments
from workers.jobs import PROTOCOL

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PROGRAM = """
import importlib, json, os, signal, sys, django
django.setup()
from django.db import connection
from django.test import Client
from tournament import queues
from tournament.services import calendar
from tournament.services.evidence.making import make
from tournament.services.evidence.tournaments import TournamentEvidence
from tournament.services.results import keeper
queues.send = lambda *values, **more: None
def kill(*values, **more): os.kill(os.getpid(), signal.SIGKILL)
def request(path, body, headers):
    client = Client(SERVER_NAME="127.0.0.1", headers=json.loads(headers))
    answer = client.post(path, body.encode(), content_type="application/json")
    assert answer.status_code in {200, 201, 204}, answer.content
"""
BEFORE, AFTER = "None", "go_on(*values, **more)"
ONE_CALL = """
module = importlib.import_module("tournament.services.{path}")
go_on = module.{function}
module.{function} = lambda *values, **more: ({first}, kill())
calendar.tend()
"""
EACH_STATEMENT = """
def count(execute, sql, params, many, context):
    step()
    return execute(sql, params, many, context)
def step():
    global left
    if left == 0:
        kill()
    left -= 1
def act():
    connection.connect()
    connection.execute_wrappers.append(count)
    commit = connection._commit
    connection._commit = lambda: (step(), commit())
    {act}
for line in sys.stdin:
    if not (child := os.fork()):
        left = int(line)
        act()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""For each number that it reads, acts in a child that is killed before so many statements or commits."""


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "tournament.settings",
        "DUARENA_BUNDLES": str(settings.BUNDLES),
        "DUARENA_EVIDENCE": str(settings.EVIDENCE),
        "DUARENA_LADDER_GAMES": "60",
    }


def killed_between_statements(act: str, *arguments: str, imports: str = "") -> Iterator[None]:
    """Act again and again, each time killed one statement later; a step each, the last was not killed."""
    program = PROGRAM + imports + EACH_STATEMENT.format(act=act)
    command = (sys.executable, "-c", program, *arguments)
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for statements in range(MAX_STATEMENTS):
            process.stdin.write(f"{statements}\n")
            process.stdin.flush()
            status = int(process.stdout.readline())
            assert status in {0, -signal.SIGKILL}
            yield
            if status == 0:
                break
        assert 5 < statements < MAX_STATEMENTS - 1
        process.stdin.close()


def tend_and_die(module: str, function: str, first: str) -> None:
    """Run what is due every second, and kill it before or after a call of that function."""
    path = {"matchmaking": "ladders.matchmaking", "calendar": "calendar"}.get(module, f"schedule.{module}")
    program = PROGRAM + ONE_CALL.format(path=path, function=function, first=first)
    ended = subprocess.run((sys.executable, "-c", program), cwd=ROOT, env=environment(), check=False)
    assert ended.returncode == -signal.SIGKILL


def play_all(deal: Deal) -> None:
    while jobs := deal():
        for job in jobs:
            record_short([job])


@pytest.mark.parametrize("first", [BEFORE, AFTER])
@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
def test_a_round_is_made_once_though_its_maker_is_killed(deal: Deal, kind: str, first: str) -> None:
    tournament = make_event(kind, bots=4)
    play_all(deal)
    tend_and_die("rounds", "store_pairings", first)
    tournament.refresh_from_db()
    assert tournament.games_total == tournament.games_done == Game.objects.count()
    assert (tend(), tend()) == (1, 0)
    check_scores()
    games = Game.objects.filter(pairing__round=2)
    assert games.count() == 2 * Pairing.objects.filter(round=2).count() > 0
    tournament.refresh_from_db()
    assert tournament.games_total == Game.objects.count()


@pytest.mark.parametrize(
    ("function", "first"), [("plan_cycles", AFTER), ("_insert_pairings", BEFORE), ("_insert_pairings", AFTER)]
)
def test_a_large_schedule_is_made_once_though_its_maker_is_killed(
    monkeypatch: pytest.MonkeyPatch, function: str, first: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(tournaments, "make_games", lambda tournament: None)
        tournament = make_event("round-robin", bots=4, pairs=500)
    assert tournament.games_total == 6000
    tend_and_die("pairings", function, first)
    assert not Game.objects.exists()
    while tend():
        pass
    assert Game.objects.count() == 2 * Pairing.objects.count() == 6000


def test_a_round_is_sent_out_though_its_maker_is_killed_after_making_it(deal: Deal) -> None:
    make_event("swiss", bots=4)
    play_all(deal)
    tend_and_die("calendar", "tend_ladders", BEFORE)
    assert tend() == 0
    assert {job.games[0].key.split("/")[1] for job in deal()} == {"2"}


@pytest.mark.parametrize(
    ("function", "first"), [("draw_pairs", AFTER), ("store_pairings", AFTER), ("find_rivals", BEFORE)]
)
def test_a_ladder_s_pair_is_made_once_though_the_matchmaker_is_killed(
    deal: Deal, settings: Settings, monkeypatch: pytest.MonkeyPatch, function: str, first: str
) -> None:
    settings.LADDER_GAMES = 60
    make_worker()
    versions = [make_version(name, owner=make_user(name.lower())) for name in ("Ada", "Bob")]
    monkeypatch.setattr(matchmaking, "MAX_EARLY_PAIRS", 1)
    Matchmaking.objects.ensure()
    tend_and_die("matchmaking", function, first)
    assert not Game.objects.exists()
    assert not LatestPairing.objects.exists()
    now = timezone.now()
    assert (tend(now), tend(now)) == (1, 0)
    made = Matchmaking.objects.get(ladder=versions[0].games[0])
    assert (made.pairs_made, Pairing.objects.count(), Game.objects.count(), len(deal())) == (1, 1, 2, 1)


# Requests of workers, and the record keeper between every two statements

MAX_STATEMENTS = 500


def request(worker: DoorWorker, path: str, body: object) -> tuple[str, ...]:
    """The act of a request, with its arguments."""
    headers = {"Authorization": f"Bearer {worker.token}", "Duarena-Protocol": str(PROTOCOL)}
    return "request(*sys.argv[1:])", path, msgspec.json.encode(body).decode(), json.dumps(headers)


def check_claims() -> None:
    """Every claimed game has one open attempt, and nothing else is open."""
    claimed = dict(Game.objects.filter(state="claimed").values_list("attempt", "pk"))
    still = dict(Attempt.objects.filter(ended_at__isnull=True).values_list("pk", "game_id"))
    assert claimed == still


def test_an_ask_that_was_killed_anywhere_takes_nothing_twice() -> None:
    worker = DoorWorker()
    worker.beat()
    make_tournament(ladders=["dogon-kulei"])
    ask = worker.new_ask()
    taken = set()
    for _ in killed_between_statements(*request(worker, "/api/work/", ask)):
        check_claims()
        taken.add(Game.objects.filter(state="claimed").count())
        batch = worker.ask(ask)  # the answer was lost: the request comes again
        assert batch is not None
        check_claims()
        assert Attempt.objects.filter(ended_at__isnull=True).count() == 2
        worker.post(batch.job, returned=tuple(game.attempt for game in batch.jobs[0].games))
        Attempt.objects.all().delete()
    assert taken == {0, 2}


def test_a_report_whose_post_was_killed_anywhere_is_in_the_inbox_once_it_is_marked() -> None:
    worker = DoorWorker()
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    batch = worker.take()
    reports = tuple(report for job in batch.jobs for report in play_short(job))
    seen = set()
    post = request(worker, f"/api/work/{batch.job}/", worker.new_post(reports=reports))
    for _ in killed_between_statements(*post):
        marked = set(Attempt.objects.filter(reported_at__isnull=False).values_list("pk", flat=True))
        assert marked == set(InboxReport.objects.values_list("attempt", flat=True))
        seen.add(len(marked))
        worker.post(batch.job, reports=reports)  # the answer was lost: the request comes again
        assert InboxReport.objects.count() == 2
        InboxReport.objects.all().delete()
        Attempt.objects.update(reported_at=None)
    assert seen == {0, 2}
    worker.post(batch.job, reports=reports)
    keeper.record_inbox(10)
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    check_claims()


def test_games_are_recorded_once_though_the_record_keeper_is_killed_between_every_two_statements() -> None:
    worker = DoorWorker()
    make_tournament(ladders=["dogon-kulei"], pairs=2)
    batch = worker.take()
    first, second, *others = (report for job in batch.jobs for report in play_short(job))
    worker.post(batch.job, reports=(first, void(second), *others))
    for _ in killed_between_statements("keeper.record_inbox(10)"):
        done = set(Game.objects.filter(state="done").values_list("attempt", flat=True))
        recorded = Attempt.objects.filter(end="recorded")
        assert done == set(recorded.values_list("pk", flat=True))
        assert GameRecord.objects.count() == len(done)
        assert list(wrong_seats()) == []
        assert not InboxReport.objects.filter(attempt__in=done).exists()
        check_scores()
    assert not InboxReport.objects.exists()
    voids = Game.objects.get(key=second.key)
    assert (voids.voids, voids.state) == (1, "waiting")
    assert Game.objects.filter(state="done").count() == len(others) + 1
    assert Ladder.objects.get(pk="dogon-kulei").sequence == len(others) + 1
    assert not any(one.changed for one in rebuild())


def test_no_half_archive_is_published_though_its_maker_is_killed_between_every_two_statements() -> None:
    cup = play_event("swiss", rounds=2)
    make_evidence()
    first = Evidence.objects.get()
    content = first.path.read_bytes()
    first.delete()
    first.path.unlink()
    for _ in killed_between_statements(f"list(make(TournamentEvidence.next_of({cup.pk})))"):
        for row in Evidence.objects.all():
            assert row.path.read_bytes() == content
    assert Evidence.objects.get().sha256 == first.sha256
    assert cup.games.filter(state="done").count() == cup.games_done


def test_a_dump_has_the_same_bytes_though_its_maker_is_killed_between_every_two_statements() -> None:
    play_ladder([OCTOBER] * 7 + [NOVEMBER])
    first = make_dumps()
    contents = [{name: row.path(name).read_bytes() for name in row.files} for row in first]
    Dump.objects.all().delete()
    shutil.rmtree(settings.DUMPS)
    act = "[list(make_dump(month, DECEMBER)) for _ in range(2) for month in due_months(DECEMBER)]"
    imports = """
from pathlib import Path
from django.conf import settings
from tests.support.dumped import DECEMBER
from tournament.services.dumps.making import due_months, make as make_dump
settings.DUMPS = Path(sys.argv[1])
settings.SECRET_KEY = sys.argv[2]
"""
    folder, key = str(settings.DUMPS), settings.SECRET_KEY
    for _ in killed_between_statements(act, folder, key, imports=imports):
        for row in Dump.objects.all():
            assert row.listing == first[row.month.month == 10].listing
    made = make_dumps()
    assert [{name: row.path(name).read_bytes() for name in row.files} for row in made] == contents
