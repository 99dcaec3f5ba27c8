"""Fills a database with a site of many games: bots, ladders, tournaments of every format, version tests.

Accounts, bots, schedules, rounds, verdicts and ratings come from the project's services, results from
``playing``. ``Plan`` says how much there is of everything.
"""

from __future__ import annotations

import datetime
import hashlib
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.pages.playing import BulkPlay
from engines.rules.registry import GAMES
from tournament.models import (
    ActiveVersion,
    Attempt,
    Bot,
    BotVersion,
    Bundle,
    Game,
    Keeper,
    Ladder,
    LiveGame,
    Matchmaking,
    Tournament,
    Turn,
    User,
    Worker,
)
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.bots.activity import activate
from tournament.services.results.estimates import refresh_estimates
from tournament.services.results.leaders import follow_leader
from tournament.services.results.rebuilding import rebuild
from tournament.services.schedule.pairings import PlannedPairing, openings_of, pairing_seed, store_pairings
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.steps import take_step
from tournament.services.schedule.tournaments import TournamentTerms, create, create_validation, start
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
PASSWORD: Final = "correct horse"
Kind = Tournament.Kind
Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Event:
    """Equal tournaments of a plan."""

    count: int
    kind: Tournament.Kind
    bots: int
    ladders: int = 1
    pairs: int = 1
    played: float = 1.0
    """The part of its games, or of its rounds, that is played; less than one: it is running."""
    opening_plies: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the site is."""

    games: int
    """At least, validations and version tests included; ladders play what tournaments leave."""
    bots: int = 500
    owners: int = 200
    versions: int = 3
    """The most versions of a bot."""
    events: Sequence[Event] = ()
    tests: int = 30
    test_games: int = 600
    validations: int = 50
    drafts: int = 20


def plan_of(games: int) -> Plan:
    """The plan of ``benchmarks.pages``; smaller sites have fewer tournaments of the same sizes."""
    share = games / MILLION

    def some(count: int) -> int:
        return max(1, round(count * share))

    large = [Event(1, Kind.ROUND_ROBIN, 100, pairs=10, opening_plies=4)] if share >= 0.5 else []
    return Plan(
        games,
        events=[
            *large,
            Event(some(3), Kind.ROUND_ROBIN, 100),
            Event(1, Kind.ROUND_ROBIN, 100, played=0.5),
            Event(some(4), Kind.ROUND_ROBIN, 40, ladders=2, pairs=2, opening_plies=4),
            Event(1, Kind.ROUND_ROBIN, 40, ladders=2, pairs=2, played=0.5),
            Event(some(4), Kind.ROUND_ROBIN, 20, ladders=5, pairs=4, opening_plies=4),
            Event(some(60), Kind.ROUND_ROBIN, 12, ladders=5),
            Event(some(10), Kind.GAUNTLET, 60, pairs=10, opening_plies=4),
            Event(1, Kind.GAUNTLET, 60, pairs=10, played=0.5),
            Event(some(10), Kind.SWISS, 64, ladders=2),
            Event(1, Kind.SWISS, 100, ladders=2, played=0.5),
            Event(some(10), Kind.KNOCK_OUT, 64, ladders=2),
            Event(1, Kind.KNOCK_OUT, 64, ladders=2, played=0.5),
        ],
        tests=max(4, round(30 * share)),
    )


class SiteFiller:
    """Makes everything of a plan, in order; the same plan and seed make the same site."""

    def __init__(self, plan: Plan, show: Show = print, seed: int = 1) -> None:
        self.plan, self.show = plan, show
        self.source = random.Random(seed)
        self.strengths: dict[int, float] = {}
        self.open: list[tuple[Event, Tournament]] = []
        self.number = 0

    def fill(self) -> None:
        """The whole site, in an empty database with its tables."""
        Ladder.objects.ensure()
        Matchmaking.objects.ensure()
        self._make_people()
        self._make_workers()
        step = datetime.timedelta(days=DAYS) / max(1, self.plan.games)
        self.player = BulkPlay(self.strengths, timezone.now() - datetime.timedelta(days=DAYS), step)
        self._validate()
        self._play_phases()
        self._rate()
        self._finish_now()

    # People and bots

    def _make_people(self) -> None:
        User.objects.create_user("staff", password=PASSWORD, is_staff=True, is_superuser=True)
        first = User.objects.create_user("owner-1", password=PASSWORD)
        others = [
            User(username=f"owner-{n}", password=first.password) for n in range(2, self.plan.owners + 1)
        ]
        self.owners = [first, *User.objects.bulk_create(others)]
        for number in range(self.plan.bots):
            with transaction.atomic():
                self._make_bot(number)
        self.active = {
            code: list(ActiveVersion.objects.filter(ladder=code).select_related("version__bot"))
            for code in GAMES
        }
        self.show(f"{self.plan.bots} bots with {len(self.strengths)} versions of {len(self.owners)} owners")

    def _make_bot(self, number: int) -> None:
        bot = Bot.objects.register(self.owners[number % len(self.owners)], f"Bot {number + 1}")
        games = list(GAMES) if self.source.random() < 0.6 else self.source.sample(list(GAMES), 3)
        strength = self.source.gauss(0, 200)
        versions = [
            _add_version(bot, n + 1, games) for n in range(self.source.randint(1, self.plan.versions))
        ]
        for version in versions:
            strength += 20
            self.strengths[version.pk] = strength
        activate(versions[-1])

    def _make_workers(self) -> None:
        now = timezone.now()
        Keeper.objects.create(up_since=now, seen_at=now)
        for number in range(1, 5):
            Worker.objects.create(
                name=f"players@host{number}", queue="games", level="A", started_at=now, seen_at=now, slots=4,
                busy=2, games_an_hour=500, run=str(uuid.UUID(int=number)), version="1", speed="20.0",
            )  # fmt: skip

    def _validate(self) -> None:
        for number in range(self.plan.validations):
            bot = Bot.objects.register(self.source.choice(self.owners), f"New bot {number + 1}")
            version = _add_version(bot, 1, list(GAMES), BotVersion.State.VALIDATING)
            begun = create_validation(version)
            BotVersion.objects.filter(pk=version.pk).update(validation=begun)
            self.player.versions[version.pk] = version
            start(begun)
            self.player.play(begun)

    # Games

    def _play_phases(self) -> None:
        events = [event for event in self.plan.events for _ in range(event.count)]
        self.source.shuffle(events)
        planned = sum(_count(event) for event in events) + self.plan.tests * self.plan.test_games // 2
        a_ladder = max(0, self.plan.games - planned) // len(GAMES) // GAMES_A_PAIR
        endless = {code: self._endless(code) for code in GAMES}
        for phase in range(PHASES):
            for code, tournament in endless.items():
                self._play_ladder(tournament, code, a_ladder // PHASES)
            for event in events[phase::PHASES]:
                self._run(event)
            for _ in range(self.plan.tests // PHASES + 1):
                self._test(played=True)
            self.show(f"{sum(self.player.sequences.values()):,} games played")
        for _ in range(3):
            self._test(played=False)
        for _ in range(self.plan.drafts):
            self._create(Event(1, Kind.ROUND_ROBIN, 8))

    def _endless(self, code: str) -> Tournament:
        """The tournament of a ladder's matchmaker, as ``matchmaking`` makes it."""
        made = Tournament.objects.create(
            slug=f"ladder-{code}", name=f"{GAMES[code].name} ladder", kind=Kind.LADDER,
            state=Tournament.State.RUNNING, ladders=[code], opening_plies=4, time_control=CONTROL, seed=1,
            priority=-100, started_at=timezone.now(),
        )  # fmt: skip
        Matchmaking.objects.filter(pk=code).update(
            tournament=made, games_an_hour=600, next_at=timezone.now() + datetime.timedelta(days=DAYS)
        )
        return made

    def _play_ladder(self, tournament: Tournament, code: str, pairs: int) -> None:
        row = Matchmaking.objects.get(pk=code)
        openings = openings_of(tournament, code, 1, OPENINGS)
        last: dict[int, int] = {}

        def planned() -> Iterator[PlannedPairing]:
            for number in range(row.pairs_made + 1, row.pairs_made + pairs + 1):
                first, second = self._two_active(code)
                last[first] = last[second] = number
                opening = openings[number % len(openings)]
                seed = pairing_seed(tournament.seed, code, number, 1)
                yield PlannedPairing(code, number, 1, first, second, opening, seed)

        with transaction.atomic():
            store_pairings(tournament, planned(), GAMES_A_PAIR)
        Matchmaking.objects.filter(pk=code).update(pairs_made=row.pairs_made + pairs)
        Turn.objects.filter(ladder=code).delete()
        Turn.objects.bulk_create(
            Turn(ladder_id=code, version_id=pk, pair=number, pairs=60) for pk, number in last.items()
        )
        self.player.play(tournament)

    def _two_active(self, code: str) -> tuple[int, int]:
        while True:
            one, other = self.source.sample(self.active[code], 2)
            if one.version.bot.owner_id != other.version.bot.owner_id:
                return one.version_id, other.version_id

    def _create(self, event: Event) -> Tournament:
        self.number += 1
        codes = list(GAMES)[self.number % len(GAMES) :] + list(GAMES)[: self.number % len(GAMES)]
        ladders = codes[: event.ladders]
        able = [one.version for one in self.active[ladders[0]] if all(map(one.version.plays, ladders))]
        terms: dict[str, Any] = {"rounds": 9} if event.kind == Kind.SWISS else {}
        return create(
            self.source.choice(self.owners),
            TournamentTerms(
                name=f"{event.kind.label.title()} {self.number}", kind=event.kind,
                versions=self.source.sample(able, min(event.bots, len(able))), ladders=ladders,
                pairs=event.pairs, time_control=CONTROL, seed=self.number,
                opening_plies=event.opening_plies, **terms,
            ),
        )  # fmt: skip

    def _run(self, event: Event) -> None:
        tournament = self._create(event)
        start(tournament)
        while step := tournament.steps.select_related("tournament").order_by("id").first():
            take_step(step)
        if not tournament.is_staged:
            self.player.play(tournament, round(event.played * tournament.games_total) or None)
            return
        rounds = 0
        while tournament.state == Tournament.State.RUNNING and (event.played == 1 or rounds < 4):
            if self.player.play(tournament):
                rounds += 1
            advance_all()
            tournament.refresh_from_db()

    def _test(self, *, played: bool) -> None:
        bots = Bot.objects.filter(versions__number=2, versions__state="valid").exclude(owner=None)
        bot = self.source.choice(list(bots.select_related("owner").order_by("pk")[:100]))
        baseline, candidate = bot.versions.filter(number__lte=2).order_by("number")
        assert bot.owner is not None
        test = start_test(
            bot.owner,
            VersionTestTerms(
                candidate=candidate, baseline=baseline, ladder=candidate.games[0], elo0=0.0, elo1=5.0,
                most_games=self.plan.test_games, time_control=CONTROL, opening_plies=0, seed=1,
            ),
        )  # fmt: skip
        while test.state == Tournament.State.RUNNING and (
            played or test.games_done < self.plan.test_games // 3
        ):
            self.player.play(test)
            tend_tests()
            test.refresh_from_db()

    # Ratings, and what is happening now

    def _rate(self) -> None:
        now = timezone.now()
        for ladder in Ladder.objects.filter(sequence__gt=0):
            rebuild(ladder.pk)
            follow_leader(ladder, now)
            self.show(f"{ladder.pk} is rated")
        refresh_estimates(now)

    def _finish_now(self) -> None:
        running = Tournament.objects.running().exclude(kind=Kind.LADDER).order_by("id")
        for tournament in running[:8]:
            for game in tournament.games.filter(state=Game.State.WAITING).select_related("pairing")[:2]:
                _go_live(game)
        if connection.vendor == "postgresql":  # as its autovacuum does
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        self.show(f"{Game.objects.done().count():,} games")


def refresh_clocks() -> None:
    """Let the keeper and the workers of a site that was filled earlier be alive now."""
    now = timezone.now()
    Keeper.objects.update(seen_at=now)
    Worker.objects.update(seen_at=now)
    Attempt.objects.filter(ended_at__isnull=True).update(lease_until=now + datetime.timedelta(hours=1))


def _count(event: Event) -> int:
    """About how many games it plays."""
    meetings = {
        Kind.ROUND_ROBIN: event.bots * (event.bots - 1) // 2,
        Kind.SWISS: 9 * event.bots // 2,
    }.get(event.kind, event.bots)
    return round(event.played * meetings * event.pairs * GAMES_A_PAIR * event.ladders)


def _add_version(
    bot: Bot, number: int, games: list[str], state: BotVersion.State = BotVersion.State.VALID
) -> BotVersion:
    digest = hashlib.sha256(f"{bot.slug} {number}".encode()).hexdigest()
    return BotVersion.objects.create(
        bot=bot,
        number=number,
        label=f"1.{number}",
        bundle=Bundle.objects.create(sha256=digest, size=20_000),
        command=["python3", "main.py"],
        games=games,
        state=state,
    )


def _go_live(game: Game) -> None:
    """Let a worker be playing it."""
    now = timezone.now()
    attempt = Attempt.objects.create(
        job=uuid.uuid4(), game=game, assigned="players@host1", worker="players@host1/1", sent_at=now,
        started_at=now, expected_s=1.0, lease_until=now,
    )  # fmt: skip
    Game.objects.filter(pk=game.pk).update(state=Game.State.CLAIMED, attempt=attempt.pk)
    moves = [[token, "book"] for token in game.pairing.opening_moves]
    LiveGame.objects.create(game=game, moves=moves, white_ms=4000, black_ms=4000, updated_at=now)


def speed_up() -> None:
    """Write without waiting for the disk; only for the connection that fills the database."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA synchronous=OFF")
            cursor.execute("PRAGMA cache_size=-400000")
        else:
            cursor.execute("SET synchronous_commit TO off")
