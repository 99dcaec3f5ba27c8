"""The workers' time: charges it to owners of tournaments and searches, and says who has had how much of it.

Within one priority the owner who has used the least seconds is next, what his games have taken so far
included. An owner may use so many hours of slots a day; validations have a limit of their own.

A game, check or search counts on the day (UTC) on which it ends; while it runs it counts today, with all its
time so far. One whose worker went silent counts until its lease ended, so that nobody is charged for the
hours in which the site was down.
"""

from __future__ import annotations

import datetime
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, Sum, Value
from django.db.models.functions import Coalesce, Least

from tournament import access
from tournament.formats import FORMATS, kinds
from tournament.models import Attempt, BotSearch, Exam, Game, OwnerShare, SlotUse, Tournament, User
from tournament.models.tournaments import GAMES_A_PAIR
from workers.jobs import Work

SITE = 0
"""The owner of ladders and of the tournaments without an owner, as ``OwnerShare.owner``."""
HOUR = 3600.0
MOST_WAIT_SECONDS = 30.0
"""No owner shall wait longer for a slot: jobs that take longer leave slots free."""


class PlayedTime(NamedTuple):
    """Seconds of a slot used by a tournament of this kind and owner; None is the site."""

    kind: str
    owner: int | None
    seconds: float


def charge(
    seconds: Mapping[int | None, float], now: datetime.datetime, *, is_validation: bool = False
) -> None:
    """Add seconds of slots to owners' accounts; the last step of the transaction that ends the attempts.

    The keys are users' ids; None is the site.
    """
    _charge({(owner, is_validation): used for owner, used in seconds.items()}, now)


def charge_games(times: Iterable[PlayedTime], now: datetime.datetime) -> None:
    """Charge the time of games to the owners of their tournaments, like ``charge``."""
    seconds: dict[tuple[int | None, bool], float] = defaultdict(float)
    for kind, owner, used in times:
        seconds[owner, FORMATS[kind].work is Work.CHECKS] += used
    _charge(seconds, now)


def played_seconds(
    began: datetime.datetime, lease_until: datetime.datetime | None, now: datetime.datetime
) -> float:
    """Seconds since a game began, at most until its lease ended."""
    until = now if lease_until is None else min(now, lease_until)
    return max(0.0, (until - began).total_seconds())


def used_today(owner: User, now: datetime.datetime, *, is_validation: bool = False) -> float:
    """Hours of slots that a user's tournaments, or validations, have used today, with what runs now."""
    return used_by_owner(now, owner=owner, is_validation=is_validation).get(owner.pk, 0.0) / HOUR


def used_by_owner(
    now: datetime.datetime, *, is_validation: bool = False, owner: User | None = None
) -> dict[int, float]:
    """Seconds of slots used today by tournaments, or validations, of each user or only of ``owner``.

    Users who have used none are missing.
    """
    mine = Q() if owner is None else Q(owner=owner)
    column = _column(is_validation)
    charged = SlotUse.objects.filter(mine, day=now.date()).values_list("owner", column)
    used: dict[int, float] = defaultdict(float, charged)
    for user, seconds in _running(owner, now, is_validation=is_validation):
        if user is not None:
            used[user] += seconds
    return {user: seconds for user, seconds in used.items() if seconds > 0}


def hours_a_day(*, is_validation: bool = False) -> float:
    """The limit of an account that is not staff; 0 is no limit."""
    return float(settings.VALIDATION_HOURS if is_validation else settings.SLOT_HOURS)


def exhausted(now: datetime.datetime, *, is_validation: bool = False) -> set[int]:
    """Users who have used up today's hours of tournaments, or of validations; never staff."""
    most = hours_a_day(is_validation=is_validation) * HOUR
    if not most:
        return set()
    used = used_by_owner(now, is_validation=is_validation)
    over = [owner for owner, seconds in used.items() if seconds >= most]
    if not over:
        return set()
    return set(User.objects.filter(pk__in=over, is_staff=False).values_list("pk", flat=True))


def is_exhausted(owner: User, now: datetime.datetime, *, is_validation: bool = False) -> bool:
    """Whether this user is one of those whom ``exhausted`` returns."""
    most = hours_a_day(is_validation=is_validation)
    if not most or not access.has_limits(owner):
        return False
    return used_today(owner, now, is_validation=is_validation) >= most


def _charge(seconds: Mapping[tuple[int | None, bool], float], now: datetime.datetime) -> None:
    # In the order of the owners, as all transactions do: see ``locks``.
    for owner, is_validation in sorted(seconds, key=lambda account: (account[0] or SITE, account[1])):
        used = seconds[owner, is_validation]
        if used <= 0:
            continue
        OwnerShare.objects.get_or_create(owner=owner or SITE)
        OwnerShare.objects.filter(owner=owner or SITE).update(served=F("served") + used)
        if owner is not None:
            column = _column(is_validation)
            SlotUse.objects.get_or_create(owner_id=owner, day=now.date())
            SlotUse.objects.filter(owner_id=owner, day=now.date()).update(**{column: F(column) + used})


def _column(is_validation: bool) -> str:
    return "validation_seconds" if is_validation else "seconds"


def _running(
    owner: User | None, now: datetime.datetime, *, is_validation: bool
) -> Iterable[tuple[int | None, float]]:
    """The owner and the seconds so far of each game, and of each check, that is running."""
    work = Work.CHECKS if is_validation else Work.GAMES
    games = Attempt.objects.filter(of_work(work, "game__tournament__"))
    games = games.filter(ended_at__isnull=True, started_at__isnull=False)
    if owner is not None:
        games = games.filter(game__tournament__owner=owner)
    for user, began, lease_until in games.order_by().values_list(
        "game__tournament__owner", "started_at", "lease_until"
    ):
        assert began is not None
        yield user, played_seconds(began, lease_until, now)
    if not is_validation:
        searches = BotSearch.objects.exclude(assigned="").filter(owner__isnull=False)
        if owner is not None:
            searches = searches.filter(owner=owner)
        for user, sent_at, lease_until in searches.order_by().values_list("owner", "sent_at", "lease_until"):
            if sent_at is not None:
                yield user, played_seconds(sent_at, lease_until, now)
    if is_validation:
        checks = Exam.objects.filter(ended_at__isnull=True).exclude(assigned="")
        if owner is not None:
            checks = checks.filter(version__bot__owner=owner)
        columns = ("version__bot__owner", "sent_at", "lease_until")
        for user, sent_at, lease_until in checks.order_by().values_list(*columns):
            yield user, played_seconds(sent_at, lease_until, now)


# Whose turn it is


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job with open games; times are in seconds."""

    job: uuid.UUID
    worker: str
    tournament: int
    owner: int
    """The tournament's owner; ``SITE`` if it has none."""
    priority: int
    games: int
    """How many games its slot still has; 0 if all are reported."""
    a_game: float
    """How long the longest of its open games was expected to take."""
    left: float
    """How long those that its slot still has were expected to take."""
    reported: float
    """The same of those that are reported and not recorded, each at most ``MOST_WAIT_SECONDS``."""
    elapsed: float
    """Since it was taken."""
    game_elapsed: float | None
    """Since the first ``go`` of its current game; None if none is known to be played."""

    @property
    def used(self) -> float:
        """What it counts in its owner's share, besides what was charged.

        Of the time that it is only expected to take, half a minute counts: owners who come now start with
        what others have used, and may not inherit hours that are never played.
        """
        return self.reported + max(min(self.left, MOST_WAIT_SECONDS), self.game_elapsed or 0.0)

    @property
    def was_expected_to_hold(self) -> bool:
        """Whether it was taken as one that holds its slot for longer than an owner shall wait."""
        return self.games > 0 and GAMES_A_PAIR * self.a_game > MOST_WAIT_SECONDS

    @property
    def is_long(self) -> bool:
        """Whether it holds its slot for longer than an owner shall wait, as expected or not."""
        return self.was_expected_to_hold or (self.games > 0 and self.elapsed > MOST_WAIT_SECONDS)


def of_work(work: Work, path: str = "") -> Q:
    """A filter for tournaments, or for rows with one at ``path``, whose games are this kind of work."""
    return Q(**{f"{path}kind__in": kinds(lambda one: one.work is work)})


def find_open_jobs(work: Work, now: datetime.datetime) -> list[OpenJob]:
    """The jobs of this kind of work that slots have, or whose reports are not recorded yet."""
    is_held = Q(reported_at__isnull=True)
    counted = Least("expected_s", Value(MOST_WAIT_SECONDS))
    unended = Attempt.objects.filter(ended_at__isnull=True).order_by()
    rows = list(
        # Not by the bare column: SQLite would read all attempts, by their index of jobs.
        unended.values("assigned", one=Coalesce("job", "job")).annotate(
            game=Min("game"),
            games=Count("pk", filter=is_held),
            a_game=Max("expected_s"),
            left=Sum("expected_s", filter=is_held, default=0.0),
            reported=Sum(counted, filter=~is_held, default=0.0),
            taken=Min("sent_at"),
            playing=Min("started_at", filter=is_held),
        )
    )
    games = Game.objects.filter(of_work(work, "tournament__"), pk__in=[row["game"] for row in rows])
    columns = ("pk", "tournament", "tournament__owner", "tournament__priority")
    tournaments = {game: found for game, *found in games.values_list(*columns)}

    def since(moment: datetime.datetime) -> float:
        return max(0.0, (now - moment).total_seconds())

    jobs = []
    for row in rows:
        if row["game"] in tournaments:
            tournament, owner, priority = tournaments[row["game"]]
            jobs.append(
                OpenJob(
                    job=row["one"],
                    worker=row["assigned"],
                    tournament=tournament,
                    owner=owner or SITE,
                    priority=priority,
                    games=row["games"],
                    a_game=row["a_game"],
                    left=row["left"],
                    reported=row["reported"],
                    elapsed=since(row["taken"]),
                    game_elapsed=since(row["playing"]) if row["playing"] else None,
                )
            )
    return jobs


@dataclass(frozen=True, slots=True)
class Shares:
    """The seconds that owners have used, with those of their open jobs."""

    used: Mapping[int, float]
    missing: Mapping[int, float]
    """What newcomers, who had no games until now, had used less than that."""

    def place(self, owner: int) -> tuple[float, bool, int]:
        """A key for sorting: the owner who has used the least is first, newcomers come before equals."""
        return self.used[owner], owner not in self.missing, owner


def find_shares(waiting: Iterable[tuple[int, int]], jobs: Iterable[OpenJob]) -> Shares:
    """The shares as of now; ``waiting`` has the priority and the owner of games that wait.

    A newcomer has used as much as the least served of those with games of the same priority: time before it
    came is not made up for, nor is long use held against it. If nobody had any, all newcomers start alike.
    """
    ranks: dict[int, set[int]] = defaultdict(set)
    for priority, owner in (*waiting, *((job.priority, job.owner) for job in jobs)):
        ranks[priority].add(owner)
    known = OwnerShare.objects.filter(owner__in=set().union(*ranks.values()))
    rows = list(known.values_list("owner", "served", "is_active"))
    used = defaultdict(float, {owner: served for owner, served, _ in rows})
    for job in jobs:
        used[job.owner] += job.used
    active = {owner for owner, _, is_active in rows if is_active}
    missing: dict[int, float] = {}
    for rank in sorted(ranks, reverse=True):
        levels = [used[owner] for owner in ranks[rank] & active]
        if new := ranks[rank] - active:
            level = min(levels) if levels else _most_served()
            for owner in new:
                missing[owner] = level - used[owner]
                used[owner] = level
            active |= new
    return Shares(used, missing)


def admit(shares: Shares) -> None:
    """Store that the newcomers have games, and with what they start."""
    for owner, missing in sorted(shares.missing.items()):
        OwnerShare.objects.get_or_create(owner=owner)
        newcomer = OwnerShare.objects.filter(owner=owner, is_active=False)
        newcomer.update(is_active=True, served=F("served") + missing)


def dismiss_owners() -> None:
    """Note which owners have no game left that waits or is played."""
    is_open = [Game.State.WAITING, Game.State.CLAIMED]
    unplayed = Game.objects.filter(tournament=OuterRef("pk"), state__in=is_open)
    playing = Tournament.objects.running().filter(Exists(unplayed)).order_by()
    owners = {owner or SITE for owner in playing.values_list("owner", flat=True).distinct()}
    active = set(OwnerShare.objects.filter(is_active=True).values_list("owner", flat=True))
    if gone := active - owners:
        OwnerShare.objects.filter(owner__in=gone).update(is_active=False)


def note_waits(waiting: Collection[int], now: datetime.datetime) -> dict[int, datetime.datetime]:
    """Store since when these owners, and no others, have waited for a slot; returns it."""
    rows = OwnerShare.objects.filter(waits_since__isnull=False).values_list("owner", "waits_since")
    since: dict[int, Any] = dict(rows)
    if begun := set(waiting) - since.keys():
        OwnerShare.objects.bulk_create([OwnerShare(owner=one) for one in begun], ignore_conflicts=True)
        OwnerShare.objects.filter(owner__in=begun).update(waits_since=now)
    if over := since.keys() - set(waiting):
        OwnerShare.objects.filter(owner__in=over).update(waits_since=None)
    return {owner: since.get(owner, now) for owner in waiting}


def has_waited_long(now: datetime.datetime) -> bool:
    """Whether an owner has waited for a slot for longer than owners shall wait."""
    limit = now - datetime.timedelta(seconds=MOST_WAIT_SECONDS)
    return OwnerShare.objects.filter(waits_since__lt=limit).exists()


def _most_served() -> float:
    return float(OwnerShare.objects.aggregate(most=Max("served"))["most"] or 0.0)
