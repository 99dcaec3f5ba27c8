"""Fills a database with a site of many games: bots, ladders, tournaments of every format, version tests.

Bots, schedules, rounds and ratings come from the project's services, results from ``playing``.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.pages.playing import WORKERS, BulkPlay
from engines.rules.registry import GAMES
from tests.support.filled_site import go_live
from tests.support.schedule import make_version, make_worker
from tournament.models import (
    ActiveVersion,
    Attempt,
    Bot,
    Game,
    Keeper,
    Ladder,
    Matchmaking,
    Tournament,
    Turn,
    User,
    Worker,
)  # fmt: skip
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.results.estimates import refresh_estimates
from tournament.services.results.leaders import follow_leader
from tournament.services.results.rebuilding import rebuild
from tournament.services.schedule.pairings import (
    PlannedPairing,
    make_games,
    openings_of,
    pairing_seed,
    store_pairings,
)
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.tournaments import TournamentTerms, create, start
from tournament.services.version_tests.progress import tend_tests
from tournament.services.version_tests.starting import VersionTestTerms, start_test

MILLION: Final = 1_000_000
DAYS: Final = 300
"""The games are spread over these days before now."""
PHASES: Final = 8
"""Ladders and tournaments play in turns, so that the games of each are spread over the whole time."""
OPENINGS: Final = 100
"""Of each ladder."""
CONTROL: Final = "5+0.05"
Kind = Tournament.Kind


@dataclass(frozen=True, slots=True)
class Event:
    """Equal tournaments; of a running one a part of the games is ``played``."""

    count: int
    kind: Tournament.Kind
    bots: int
    ladders: int = 1
    pairs: int = 1
    played: float = 1.0
    opening_plies: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the site is; ladders play what tournaments leave of ``games``."""

    games: int
    bots: int = 500
    owners: int = 200
    events: Sequence[Event] = ()
    tests: int = 30
    test_games: int = 600


def plan_of(games: int) -> Plan:
    """Smaller sites have fewer tournaments of the same sizes."""
    share = games / MILLION

    def some(count: int) -> int:
        return max(1, round(count * share))

    events = [
        Event(some(3), Kind.ROUND_ROBIN, 100, pairs=max(1, round(4 * share))),
        Event(1, Kind.ROUND_ROBIN, 100, played=0.5),
        Event(some(4), Kind.ROUND_ROBIN, 40, ladders=2, pairs=2, opening_plies=4),
        Event(some(60), Kind.ROUND_ROBIN, 12, ladders=5),
        Event(some(10), Kind.GAUNTLET, 60, pairs=10, opening_plies=4),
        Event(some(10), Kind.SWISS, 64, ladders=2),
        Event(1, Kind.SWISS, 100, ladders=2, played=0.5),
        Event(some(10), Kind.KNOCK_OUT, 64, ladders=2),
    ]
    return Plan(games, events=events, tests=max(4, round(30 * share)))


class SiteFiller:
    """The same plan and seed make the same site."""

    def __init__(self, plan: Plan, show: Callable[[str], None] = print, seed: int = 1) -> None:
        self.plan, self.show = plan, show
        self.source = random.Random(seed)
        self.strengths: dict[int, float] = {}
        self.number = 0

    def fill(self) -> None:
        """The whole site, in an empty database with its tables."""
        Ladder.objects.ensure()
        Matchmaking.objects.ensure()
        self._make_people()
        begin, now = datetime.timedelta(days=DAYS), timezone.now()
        self.player = BulkPlay(self.strengths, now - begin, begin / self.plan.games)
        self._play_phases()
        for ladder in Ladder.objects.filter(sequence__gt=0):
            rebuild(ladder.pk)
            follow_leader(ladder, now)
            self.show(f"{ladder.pk} is rated")
        refresh_estimates(now)
        for event in Tournament.objects.running().exclude(kind=Kind.LADDER).order_by("id")[:8]:
            for game in event.games.filter(state=Game.State.WAITING).select_related("pairing")[:2]:
                go_live(game)
        if connection.vendor == "postgresql":  # as its autovacuum does
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        self.show(f"{Game.objects.done().count():,} games")

    def _make_people(self) -> None:
        User.objects.create_user("staff", is_staff=True, is_superuser=True)
        owners = User.objects.bulk_create(User(username=f"owner-{n + 1}") for n in range(self.plan.owners))
        for number in range(self.plan.bots):
            games = list(GAMES) if self.source.random() < 0.6 else self.source.sample(list(GAMES), 3)
            strength = self.source.gauss(0, 200)
            with transaction.atomic():
                for _ in range(self.source.randint(1, 3)):
                    owner = owners[number % len(owners)]
                    version = make_version(f"Bot {number + 1}", owner=owner, games=games)
                    strength += 20
                    self.strengths[version.pk] = strength
        active = ActiveVersion.objects.select_related("version__bot")
        self.active = {code: list(active.filter(ladder=code)) for code in GAMES}
        now = timezone.now()
        Keeper.objects.create(seen_at=now)
        for name in WORKERS:
            make_worker(4, name=name)
        self.show(f"{self.plan.bots} bots with {len(self.strengths)} versions of {len(owners)} owners")

    def _play_phases(self) -> None:
        events = [event for event in self.plan.events for _ in range(event.count)]
        self.source.shuffle(events)
        planned = sum(map(_count, events)) + self.plan.tests * self.plan.test_games // 2
        a_ladder = max(0, self.plan.games - planned) // len(GAMES) // GAMES_A_PAIR
        endless = {code: self._endless(code) for code in GAMES}
        for phase in range(PHASES):
            for code, tournament in endless.items():
                self._play_ladder(tournament, code, a_ladder // PHASES)
            for event in events[phase::PHASES]:
                self._run(event)
            for _ in range(self.plan.tests // PHASES + 1):
                self._test()
            self.show(f"{sum(self.player.sequences.values()):,} games played")

    def _endless(self, code: str) -> Tournament:
        """The tournament of a ladder's matchmaker, as ``matchmaking`` makes it."""
        made = Tournament.objects.create(
            slug=f"ladder-{code}", name=f"{GAMES[code].name} ladder", kind=Kind.LADDER,
            state=Tournament.State.RUNNING, ladders=[code], opening_plies=4, time_control=CONTROL, seed=1,
            priority=-100, started_at=timezone.now(),
        )  # fmt: skip
        later = timezone.now() + datetime.timedelta(days=DAYS)
        Matchmaking.objects.filter(pk=code).update(tournament=made, games_an_hour=600, next_at=later)
        return made

    def _play_ladder(self, tournament: Tournament, code: str, pairs: int) -> None:
        row = Matchmaking.objects.get(pk=code)
        openings = openings_of(tournament, code, 1, OPENINGS)
        last: dict[int, int] = {}

        def planned() -> Iterator[PlannedPairing]:
            for number in range(row.pairs_made + 1, row.pairs_made + pairs + 1):
                first, second = (one.version_id for one in self.source.sample(self.active[code], 2))
                last[first] = last[second] = number
                opening = openings[number % len(openings)]
                seed = pairing_seed(tournament.seed, code, number, 1)
                yield PlannedPairing(code, number, 1, first, second, opening, seed)

        with transaction.atomic():
            store_pairings(tournament, planned(), GAMES_A_PAIR)
        Matchmaking.objects.filter(pk=code).update(pairs_made=row.pairs_made + pairs)
        Turn.objects.filter(ladder=code).delete()
        turns = (Turn(ladder_id=code, version_id=pk, pair=number, pairs=60) for pk, number in last.items())
        Turn.objects.bulk_create(turns)
        self.player.play(tournament)

    def _create(self, event: Event) -> Tournament:
        self.number += 1
        first = self.number % len(GAMES)
        ladders = [*GAMES, *GAMES][first : first + event.ladders]
        able = [one.version for one in self.active[ladders[0]] if all(map(one.version.plays, ladders))]
        terms: dict[str, Any] = {"rounds": 9} if event.kind == Kind.SWISS else {}
        entrants = self.source.sample(able, min(event.bots, len(able)))
        terms |= {
            "name": f"{event.kind.label.title()} {self.number}",
            "kind": event.kind,
            "versions": entrants,
        }
        terms |= {"ladders": ladders, "pairs": event.pairs, "opening_plies": event.opening_plies}
        owner = User.objects.get(username=f"owner-{self.source.randint(1, self.plan.owners)}")
        return create(owner, TournamentTerms(**terms, time_control=CONTROL, seed=self.number))

    def _run(self, event: Event) -> None:
        tournament = self._create(event)
        start(tournament)
        while make_games(tournament):
            pass
        if not tournament.format.is_staged:
            self.player.play(tournament, round(event.played * tournament.games_total) or None)
            return
        rounds = 0
        while tournament.state == Tournament.State.RUNNING and (event.played == 1 or rounds < 4):
            rounds += self.player.play(tournament) > 0
            advance_all()
            tournament.refresh_from_db()

    def _test(self) -> None:
        bots = Bot.objects.filter(versions__number=2).select_related("owner").order_by("pk")
        bot = self.source.choice(bots[:100])
        baseline, candidate = bot.versions.filter(number__lte=2).order_by("number")
        assert bot.owner is not None
        test = start_test(
            bot.owner,
            VersionTestTerms(
                candidate=candidate, baseline=baseline, ladder=candidate.games[0], elo0=0.0, elo1=5.0,
                most_games=self.plan.test_games, time_control=CONTROL, opening_plies=0, seed=1,
            ),
        )  # fmt: skip
        while test.state == Tournament.State.RUNNING:
            self.player.play(test)
            tend_tests()
            test.refresh_from_db()


def refresh_clocks() -> None:
    """Let the keeper and the workers of a site that was filled earlier be alive now."""
    now = timezone.now()
    Keeper.objects.update(seen_at=now)
    Worker.objects.update(seen_at=now)
    Attempt.objects.filter(ended_at__isnull=True).update(lease_until=now + datetime.timedelta(hours=1))


def _count(event: Event) -> int:
    """About how many games it plays."""
    all_pairs = {Kind.ROUND_ROBIN: event.bots * (event.bots - 1) // 2, Kind.SWISS: 9 * event.bots // 2}
    meetings = all_pairs.get(event.kind, event.bots)
    return round(event.played * meetings * event.pairs * GAMES_A_PAIR * event.ladders)


def speed_up() -> None:
    """Write without waiting for the disk; only for the connection that fills the database."""
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=OFF" if is_sqlite else "SET synchronous_commit TO off")
