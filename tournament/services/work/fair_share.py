"""How owners share the workers: what each has used, who comes next, and how much each may use a day.

An owner's share is what was charged to him and what his open games have used so far. The owner with the
least comes next; one who had nothing to play starts with what the least served of the others has, so that
neither unused time nor long use is remembered.

Validations have a limit of their own a day. A game or check counts on the day (UTC) on which it ends; while it runs
it counts today, with all its time so far. One whose worker went silent counts until its lease ended, so that
nobody is charged for the hours in which the site was down.
"""

from __future__ import annotations

import datetime
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, F, Min, OuterRef, Q, Sum

from tournament import access
from tournament.models import Attempt, Exam, Game, OwnerShare, SlotUse, Tournament, User
from workers.jobs import Work

SITE = 0
"""The owner of ladders and of the tournaments without an owner, as ``OwnerShare.owner``."""
HOUR = 3600.0
MOST_WAIT_SECONDS = 30.0
"""No owner shall wait longer for a slot: batches that take longer leave slots free, see ``Shares``."""


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A batch that a slot has; times in seconds."""

    job: uuid.UUID
    worker: str
    tournament: int
    owner: int
    priority: int
    games: int
    """Those that are not over."""
    expected: float
    """How long all its games were expected to take."""
    left: float
    """How long those that are not over were expected to take."""
    elapsed: float
    """Since its first game began; 0 while bundles are fetched."""
    game_elapsed: float
    """Since its current game began; not charged to the owner yet."""

    @property
    def used(self) -> float:
        """What it counts in its owner's share, besides what was charged.

        Of the time that it is only expected to take, half a minute counts: owners who come now start with
        what others have used, and may not inherit hours that are never played.
        """
        return max(min(self.left, MOST_WAIT_SECONDS), self.game_elapsed)

    @property
    def was_expected_to_hold(self) -> bool:
        """Whether it was taken as one that holds a slot for longer than an owner shall wait."""
        return self.expected > MOST_WAIT_SECONDS

    @property
    def has_held(self) -> bool:
        """Whether it has held its slot for longer than an owner shall wait."""
        return self.elapsed > MOST_WAIT_SECONDS


@dataclass(slots=True)
class Shares:
    """What owners have used, in seconds, and how many more slots may be held by long batches."""

    used: defaultdict[int, float]
    long_left: int
    active: frozenset[int]
    """Owners who had games to play when this was last noted."""
    waits_since: dict[int, datetime.datetime]

    def count_in(self, owners: Collection[int]) -> None:
        """Let those of these owners who have games only now start with what the least served other has."""
        others = [self.used[owner] for owner in self.active & set(owners)]
        level = min(others, default=max(self.used.values(), default=0.0))
        self.used.update((owner, level) for owner in set(owners) - self.active)


class PlayedTime(NamedTuple):
    """Seconds of a slot used by a tournament of this kind and owner; None is the site."""

    kind: str
    owner: int | None
    seconds: float


def of_work(work: Work, path: str = "") -> Q:
    """A filter for tournaments, or for rows whose tournament is at ``path``, whose games are of this kind."""
    validations = Q(**{f"{path}kind": Tournament.Kind.VALIDATION})
    return validations if work is Work.CHECKS else ~validations


def find_open_jobs(work: Work, now: datetime.datetime) -> list[OpenJob]:
    """The batches with games that are neither over nor reported."""
    of = "game__tournament__"
    rows = Attempt.objects.filter(of_work(work, of), ended_at=None, reported_at=None).order_by()
    grouped = rows.values("job", "assigned", f"{of}id", f"{of}owner", f"{of}priority")
    found = list(grouped.annotate(games=Count("pk"), left=Sum("expected_s"), playing=Min("started_at")))
    whole = {
        job: (expected, began)
        for job, expected, began in Attempt.objects.filter(job__in=[row["job"] for row in found])
        .order_by()
        .values_list("job")
        .annotate(Sum("expected_s"), Min("started_at"))
    }

    def since(moment: datetime.datetime | None) -> float:
        return max(0.0, (now - moment).total_seconds()) if moment else 0.0

    return [
        OpenJob(
            job=row["job"],
            worker=row["assigned"],
            tournament=row[f"{of}id"],
            owner=row[f"{of}owner"] or SITE,
            priority=row[f"{of}priority"],
            games=row["games"],
            expected=whole[row["job"]][0],
            left=row["left"],
            elapsed=since(whole[row["job"]][1]),
            game_elapsed=since(row["playing"]),
        )
        for row in found
    ]


def find_shares(jobs: Iterable[OpenJob], slots: int) -> Shares:
    """The shares as of now, on a site with so many slots for these jobs."""
    rows = list(OwnerShare.objects.values_list("owner", "served", "is_active", "waits_since"))
    used = defaultdict(float, {owner: served for owner, served, _, _ in rows})
    holding = 0
    for job in jobs:
        used[job.owner] += job.used
        holding += job.was_expected_to_hold or job.has_held
    return Shares(
        used,
        max(1, slots - settings.FREE_SLOTS) - holding,
        frozenset(owner for owner, _, is_active, _ in rows if is_active),
        {owner: since for owner, _, _, since in rows if since is not None},
    )


def waiting_tournaments(work: Work, now: datetime.datetime) -> list[tuple[int, int, int]]:
    """Running tournaments with games that wait, as (priority, owner, tournament).

    Those of a higher priority come first, and of one owner those that were served the longest time ago.
    Owners who have used up their hours are left out.
    """
    waiting = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING)
    running = Tournament.objects.running().filter(of_work(work), Exists(waiting))
    order = ("-priority", F("served_at").asc(nulls_first=True), "started_at", "id")
    rows = running.order_by(*order).values_list("priority", "owner", "id")
    without = exhausted(now, is_validation=work is Work.CHECKS)
    return [(priority, owner or SITE, pk) for priority, owner, pk in rows if owner not in without]


def note_active(work: Work, now: datetime.datetime) -> None:
    """Store which owners have games that wait or are played, and with what new ones start."""
    unplayed = Game.objects.filter(
        tournament=OuterRef("pk"), state__in=[Game.State.WAITING, Game.State.CLAIMED]
    )
    running = Tournament.objects.running().filter(Exists(unplayed)).order_by()
    owners = {owner or SITE for owner in running.values_list("owner", flat=True).distinct()}
    shares = find_shares(find_open_jobs(work, now), 1)
    before = dict(shares.used)
    shares.count_in(owners)
    for owner in sorted(owners - shares.active):
        missing = shares.used[owner] - before.get(owner, 0.0)
        OwnerShare.objects.get_or_create(owner=owner)
        OwnerShare.objects.filter(owner=owner).update(is_active=True, served=F("served") + missing)
    if gone := shares.active - owners:
        OwnerShare.objects.filter(owner__in=gone).update(is_active=False)


def note_waits(waiting: Collection[int], shares: Shares, now: datetime.datetime) -> None:
    """Store since when these owners, and no others, have waited for a slot."""
    if begun := set(waiting) - shares.waits_since.keys():
        OwnerShare.objects.filter(owner__in=begun).update(waits_since=now)
        shares.waits_since |= dict.fromkeys(begun, now)
    if over := shares.waits_since.keys() - set(waiting):
        OwnerShare.objects.filter(owner__in=over).update(waits_since=None)
        for owner in over:
            del shares.waits_since[owner]


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
        seconds[owner, kind == Tournament.Kind.VALIDATION] += used
    _charge(seconds, now)


def played_seconds(
    began: datetime.datetime, lease_until: datetime.datetime | None, now: datetime.datetime
) -> float:
    """Seconds since a game began, at most until its lease ended."""
    until = now if lease_until is None else min(now, lease_until)
    return max(0.0, (until - began).total_seconds())


def checked_seconds(
    sent_at: datetime.datetime, heard_at: datetime.datetime | None, now: datetime.datetime
) -> float:
    """Seconds since a check was sent, at most until one lease after its worker's last message."""
    lease = datetime.timedelta(seconds=settings.LEASE_SECONDS)
    return played_seconds(sent_at, (heard_at or sent_at) + lease, now)


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
    of_kind = Q(game__tournament__kind=Tournament.Kind.VALIDATION)
    games = Attempt.objects.filter(of_kind if is_validation else ~of_kind)
    games = games.filter(ended_at__isnull=True, started_at__isnull=False)
    if owner is not None:
        games = games.filter(game__tournament__owner=owner)
    for user, began, lease_until in games.order_by().values_list(
        "game__tournament__owner", "started_at", "lease_until"
    ):
        assert began is not None
        yield user, played_seconds(began, lease_until, now)
    if is_validation:
        checks = Exam.objects.filter(ended_at__isnull=True).exclude(assigned="")
        if owner is not None:
            checks = checks.filter(version__bot__owner=owner)
        for user, sent_at, heard_at in checks.order_by().values_list(
            "version__bot__owner", "sent_at", "heard_at"
        ):
            yield user, checked_seconds(sent_at, heard_at, now)
