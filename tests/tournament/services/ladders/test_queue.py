"""The queue's forecast of a bot's next game, against the time when it begins."""

from __future__ import annotations

import datetime
import heapq
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.utils import timezone
from pytest_django import Settings

from engines.rules.base import Result
from tests.support.schedule import (
    LADDER,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    word_of,
)
from tournament.models import Attempt, Bot, Game
from tournament.services.calendar import tend
from tournament.services.dispatch.leases import keeper_started
from tournament.services.ladders import matchmaking
from tournament.services.ladders.queue import look
from tournament.services.results import keeper
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db
Deal = Callable[[], list[GameJob]]
SECOND = datetime.timedelta(seconds=1)
GAME_S = 20
STEP_S = 5
Player = tuple[str, int]


@pytest.fixture(autouse=True)
def two_slots(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchmaking, "MOST_EARLY_PAIRS", 1)
    settings.LADDER_GAMES = 120
    make_worker(slots=2)
    keeper_started(timezone.now())


def owned(*names: str, games: tuple[str, ...] = (LADDER,)) -> None:
    for name in names:
        make_version(name, owner=make_user(name.lower()), games=games)


class Workers:
    """Two slots that play each game in the same time, on a clock of the test's own, which is the site's."""

    def __init__(self, deal: Deal, monkeypatch: pytest.MonkeyPatch) -> None:
        self._deal = deal
        self._jobs: list[GameJob] = []
        self._busy: list[tuple[int, str, GameJob]] = []
        self._began = timezone.now()
        self.second = 0
        self.begun: list[tuple[int, Player]] = []
        """When which version's games begin, on which ladder."""
        monkeypatch.setattr(timezone, "now", lambda: self.now)

    @property
    def now(self) -> datetime.datetime:
        return self._began + self.second * SECOND

    def run(self, until: int) -> None:
        while self.second < until:
            self._finish()
            tend(self.now)
            self._jobs += self._deal()
            while self._jobs and len(self._busy) < 2:
                self._begin(self._jobs.pop(0))
            self.second += STEP_S
        keeper_started(self.now)

    def first_after(self, second: int) -> dict[Player, int]:
        """How long each version waited from then on."""
        waited: dict[Player, int] = {}
        for begun, player in self.begun:
            if begun >= second:
                waited.setdefault(player, begun - second)
        return waited

    def _begin(self, job: GameJob) -> None:
        keeper.progress(word_of(job.games[0]))
        games = Game.objects.filter(key__in=[told.key for told in job.games])
        Attempt.objects.filter(game__in=games, ended_at=None).update(started_at=self.now)
        for number, game in enumerate(games.order_by("id")):
            for version in (game.white_id, game.black_id):
                self.begun.append((self.second + number * GAME_S, (game.ladder_id, version)))
        heapq.heappush(self._busy, (self.second + GAME_S * len(job.games), job.job, job))

    def _finish(self) -> None:
        while self._busy and self._busy[0][0] <= self.second:
            _, _, job = heapq.heappop(self._busy)
            for report in play_short(job, lambda *_: Result.DRAW):
                begun = (self.now - GAME_S * SECOND).isoformat()
                timed = replace(report, started=begun, finished=self.now.isoformat())
                assert isinstance(keeper.record(timed), keeper.Recorded)


@pytest.mark.thorough
def test_a_ladder_s_turns_come_about_when_they_were_foretold(
    settings: Settings, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair every two minutes; what is learnt meanwhile may change who comes first, by a pair."""
    settings.LADDER_GAMES = 60
    owned(*(f"Bot{number}" for number in range(5)))
    workers = Workers(deal, monkeypatch)
    workers.run(180)  # nothing is played at this moment
    told = look(workers.now).forecast.starts
    workers.run(1_000)
    waited = workers.first_after(180)
    assert told.keys() == waited.keys()
    assert all(abs(told[player].seconds - waited[player]) <= 120 for player in told), (told, waited)


@pytest.mark.slow
def test_extra_games_of_provisional_versions_come_about_when_they_were_foretold(
    settings: Settings, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two slots are never idle, although the ladder has a pair only every hour."""
    monkeypatch.setattr(matchmaking, "MOST_EARLY_PAIRS", 60)
    settings.LADDER_GAMES = 2
    owned(*(f"Bot{number}" for number in range(6)))
    workers = Workers(deal, monkeypatch)
    workers.run(100)
    told = look(workers.now).forecast.starts
    workers.run(500)
    waited = workers.first_after(100)
    assert told.keys() == waited.keys()
    assert all(abs(told[player].seconds - waited[player]) <= 4 * GAME_S for player in told), (told, waited)


@pytest.mark.slow
def test_what_waits_in_a_tournament_begins_about_when_it_was_foretold(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned("Ada", "Bob", "Cy", "Di", "Ed", "Flo")
    versions = [bot.versions.get() for bot in Bot.objects.order_by("id")]
    make_tournament(versions=versions, pairs=2)
    workers = Workers(deal, monkeypatch)
    workers.run(100)
    told = look(workers.now).forecast.starts
    workers.run(400)
    waited = workers.first_after(100)
    assert told.keys() == waited.keys()
    assert all(abs(told[player].seconds - waited[player]) <= 2 * GAME_S for player in told), (told, waited)
