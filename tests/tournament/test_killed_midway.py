"""The process that makes rounds and pairs is killed in the middle: none is made twice and none is lost.

A real process on the test's database runs that part of the record keeper and kills itself with SIGKILL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import make_event, make_user, make_version, make_worker, play_short
from tournament.embedded.plan import ROOT
from tournament.models import Game, Matchmaking, Pairing, ScheduleStep, Tournament, Turn
from tournament.services.calendar import tend
from tournament.services.ladders import matchmaking
from tournament.services.results import keeper
from tournament.services.schedule import tournaments
from workers.jobs import GameJob

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
Deal = Callable[[], list[GameJob]]
Kind = Tournament.Kind
PROGRAM = """
import os, signal, django
django.setup()
from tournament import queues
from tournament.services import calendar
from tournament.services.ladders import matchmaking
from tournament.services.schedule import rounds, steps
{module}.{function} = (lambda go_on: lambda *values, **more: ({first}, os.kill(os.getpid(), signal.SIGKILL)))(
    {module}.{function})
queues.clear_queue = lambda name: None
calendar.tend()
"""
BEFORE, AFTER = "None", "go_on(*values, **more)"


def tend_and_die(module: str, function: str, first: str) -> None:
    """Run what beat starts every second, and kill it before or after a call of that function."""
    database = f"sqlite:///{connection.settings_dict['NAME']}"
    if connection.vendor == "postgresql":
        settings = connection.settings_dict
        database = (
            f"postgres://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}/{settings['NAME']}"
        )
    environment = {
        **os.environ,
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "tournament.settings",
        "DUARENA_LADDER_GAMES": "60",
    }
    program = PROGRAM.format(module=module, function=function, first=first)
    ended = subprocess.run((sys.executable, "-c", program), cwd=ROOT, env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL


def play_all(deal: Deal) -> None:
    while jobs := deal():
        for job in jobs:
            keeper.record_all(list(play_short(job)))


@pytest.mark.parametrize("first", [BEFORE, AFTER])
@pytest.mark.parametrize("kind", [Kind.SWISS, Kind.KNOCK_OUT])
def test_a_round_is_made_once_though_its_maker_is_killed(
    deal: Deal, kind: Tournament.Kind, first: str
) -> None:
    tournament = make_event(kind, bots=4)
    play_all(deal)
    tend_and_die("rounds", "schedule_pairings", first)
    tournament.refresh_from_db()
    assert tournament.games_total == tournament.games_done == Game.objects.count()
    assert (tend(), tend()) == (1, 0)
    games = Game.objects.filter(pairing__round=2)
    assert games.count() == 2 * Pairing.objects.filter(round=2).count() > 0
    tournament.refresh_from_db()
    assert tournament.games_total == Game.objects.count()


@pytest.mark.parametrize(
    ("function", "first"), [("plan_cycles", AFTER), ("insert_pairings", BEFORE), ("insert_pairings", AFTER)]
)
def test_a_large_schedule_is_made_once_though_its_maker_is_killed(
    monkeypatch: pytest.MonkeyPatch, function: str, first: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(tournaments, "take_steps_of", lambda tournament: None)
        tournament = make_event(Kind.ROUND_ROBIN, bots=4, pairs=500)
    assert tournament.games_total == 6000
    if function == "insert_pairings":
        assert tend() == 1
    tend_and_die("steps", function, first)
    assert not Game.objects.exists()
    while ScheduleStep.objects.exists():
        assert tend()
    assert Game.objects.count() == 2 * Pairing.objects.count() == 6000


def test_a_round_is_sent_out_though_its_maker_is_killed_after_making_it(deal: Deal) -> None:
    make_event(Kind.SWISS, bots=4)
    play_all(deal)
    tend_and_die("calendar", "tend_ladders", BEFORE)
    assert tend() == 0
    assert {job.games[0].key.split("/")[1] for job in deal()} == {"2"}


@pytest.mark.parametrize(
    ("function", "first"),
    [("draw_pairs", AFTER), ("store_pairings", AFTER), ("find_rivals", BEFORE)],
)
def test_a_ladder_s_pair_is_made_once_though_the_matchmaker_is_killed(
    deal: Deal, settings: Settings, monkeypatch: pytest.MonkeyPatch, function: str, first: str
) -> None:
    settings.LADDER_GAMES = 60
    make_worker()
    versions = [make_version(name, owner=make_user(name.lower())) for name in ("Ada", "Bob")]
    monkeypatch.setattr(matchmaking, "MOST_EARLY_PAIRS", 1)
    Matchmaking.objects.ensure()
    tend_and_die("matchmaking", function, first)
    assert not Game.objects.exists()
    assert not Turn.objects.exists()
    now = timezone.now()
    assert (tend(now), tend(now)) == (1, 0)
    made = Matchmaking.objects.get(ladder=versions[0].games[0])
    assert (made.pairs_made, Pairing.objects.count(), Game.objects.count(), len(deal())) == (1, 1, 2, 1)
