"""Requests for searches: who may ask which bot for how much. ``work.searches`` gives them to slots."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.crypto import salted_hmac

from engines.rules.base import Position
from tournament import access
from tournament.addresses import counted_address
from tournament.models import BotSearch, BotVersion, Game, LadderRating, PersonGame, User, Worker
from tournament.models.ladders import condition_column
from tournament.services.accounts.tokens import TooMuch, spend
from tournament.services.fair_share import is_exhausted
from tournament.services.work.messages import send_search
from tournament.services.work.searches import end_searches
from workers.jobs import Work

DAY = datetime.timedelta(days=1)
SECONDS = (1, 3, 10)
"""The choices for a position."""
TIMES_MS = (100, 300, 1_000)
"""The choices for each position of a game."""
MAX_MS = 10_000
"""The most milliseconds for one position."""
MAX_SECONDS = 600
"""The most seconds of one search."""
COST = 10.0
"""The part of a user's allowance that a search or a game costs: 24 at once, and one every five seconds
from then on."""
GUEST_MS, GUEST_SECONDS = 3_000, 60
"""The limits of a visitor without an account: for one position, and on one day."""
MAX_GUESTS = 20
"""Open searches of visitors without accounts."""
HOUR = datetime.timedelta(hours=1)
GUESTS_SECONDS = 600
"""The limit for all visitors without accounts together, within an hour."""


class SearchRefused(Exception):
    """The text is a sentence for the person who asked."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A visitor without an account who plays against bots."""

    key: str
    """The key by which the session knows the games; empty before the first one."""
    network: str
    """See ``network_of``."""


def network_of(address: str) -> str:
    """A hash of the network of an address, by which visitors without accounts are counted."""
    return salted_hmac("searches", counted_address(address)).hexdigest()[:40]


def games_from(network: str) -> QuerySet[PersonGame]:
    """The games of visitors without accounts from a network."""
    return PersonGame.objects.filter(network=network).exclude(network="")  # the exclusion is for the index


def answering(ladder: str, user: access.Visitor) -> list[BotVersion]:
    """The versions on a ladder that the visitor may ask, the strongest first and the visitor's own last."""
    own = Q(bot__owner__isnull=False, bot__owner=user.pk)
    rating = LadderRating.objects.filter(ladder=ladder, version=OuterRef("pk")).values("conservative")
    versions = BotVersion.objects.entering([ladder]).filter(access.everybody_may_ask("bot__") | own)
    strength = Coalesce(Subquery(rating), 0.0)
    return list(versions.order_by(condition_column(own), strength.desc(), "bot__name_key", "-number"))


def request_search(
    ladder: str,
    version: BotVersion,
    start: Position,
    moves: Sequence[str],
    plies: Sequence[int],
    ms: int,
    *,
    user: User | None,
    address: str,
    now: datetime.datetime,
    game: Game | None = None,
) -> BotSearch:
    """Have a bot evaluate positions of a line, which is legal; the same again gets the same search.

    A new one ends the person's earlier search. Raises ``SearchRefused``.
    """
    asker = f"user {user.pk}" if user else network_of(address)
    parts = [version.pk, ladder, start, " ".join(moves), list(plies), ms, game.pk if game else ""]
    content = hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
    is_shared = Q(ended_at__isnull=False) | Q(asker=asker)
    same = BotSearch.objects.filter(is_shared, content=content, why="").order_by("-asked_at").first()
    if same is not None:
        return same
    check_asked(version, ladder, user)
    _check_limits(len(plies), ms, user, asker, now)
    search = BotSearch(
        ladder_id=ladder,
        version=version,
        owner=user,
        asker=asker,
        content=content,
        game=game,
        start="" if start == type(start).initial() else str(start),
        moves=" ".join(moves),
        plies=list(plies),
        ms=ms,
        asked_at=now,
    )
    try:
        with transaction.atomic():
            end_searches(BotSearch.objects.filter(asker=asker), "Ended by your next request.", now)
            _store(search)
    except IntegrityError:
        raise SearchRefused("You ask for another search at the same time: try again.") from None
    return search


def request_position(
    ladder: str,
    version: BotVersion,
    positions: Sequence[Position],
    moves: Sequence[str],
    seconds: int,
    *,
    user: User | None,
    address: str,
    now: datetime.datetime,
) -> BotSearch:
    """Have a bot evaluate the last position of a line; see ``request_search``."""
    if seconds not in SECONDS:
        raise SearchRefused("Choose how long the bot searches.")
    if positions[-1].outcome().decided:
        raise SearchRefused("The game is over in this position.")
    whole = (positions[0], moves, [len(moves)], 1_000 * seconds)
    return request_search(ladder, version, *whole, user=user, address=address, now=now)


def request_analysis(
    game: Game,
    version: BotVersion,
    positions: Sequence[Position],
    moves: Sequence[str],
    ms: int,
    *,
    user: User | None,
    now: datetime.datetime,
) -> BotSearch:
    """Have a bot evaluate all positions of a recorded game; see ``request_search``."""
    if user is None:
        raise SearchRefused("Log in to request the analysis of a game.")
    if ms not in TIMES_MS:
        raise SearchRefused("Choose how long the bot searches for each position.")
    undecided = len(positions) - positions[-1].outcome().decided
    whole = (positions[0], moves, range(undecided), ms)
    return request_search(game.ladder_id, version, *whole, user=user, address="", now=now, game=game)


def request_move(game: PersonGame, now: datetime.datetime) -> BotSearch:
    """Have the bot of a person's game search its move; part of the caller's transaction."""
    search = BotSearch(
        ladder_id=game.ladder_id,
        version=game.version,
        owner=game.person,
        asker=f"game {game.pk}",
        person_game=game,
        moves=game.moves,
        plies=[game.plies],
        ms=game.ms,
        asked_at=now,
    )
    _store(search)
    return search


def _store(search: BotSearch) -> None:
    """Store a search, and have a free slot ask at once."""
    search.save(force_insert=True)
    transaction.on_commit(send_search)


def check_asked(version: BotVersion, ladder: str, user: User | None) -> None:
    """Check that the user may ask the bot, and that a worker can run it; raises ``SearchRefused``."""
    if not access.may_ask(user, version.bot) or not version.plays(ladder):
        raise SearchRefused("This bot does not answer here.")
    if version.state != BotVersion.State.VALID:
        raise SearchRefused(f"{version} is {version.state}: only valid versions answer.")
    check_workers()


def check_workers() -> None:
    """Check that a worker takes searches; raises ``SearchRefused``."""
    if not Worker.objects.given_jobs().taking(Work.ANALYSIS).exists():
        raise SearchRefused("No worker of this site takes searches at this time.")


def check_hours(user: User, now: datetime.datetime) -> None:
    """Check that the user has slot-hours left; raises ``SearchRefused``."""
    if is_exhausted(user, now):
        raise SearchRefused("Your slot-hours of today are used up.")


def check_user(user: User, now: datetime.datetime) -> None:
    """Deduct a request from the user's allowance; raises ``SearchRefused``."""
    check_hours(user, now)
    try:
        spend(user, COST, now)
    except TooMuch as refused:
        raise SearchRefused(
            f"You have asked much in a short time: try again in {refused.seconds} s."
        ) from refused


def _check_limits(positions: int, ms: int, user: User | None, asker: str, now: datetime.datetime) -> None:
    if positions * ms > MAX_SECONDS * 1_000 or ms > MAX_MS:
        raise SearchRefused(
            f"A search takes at most {MAX_SECONDS} seconds, and {MAX_MS // 1_000} for a position."
        )
    if user is not None:
        check_user(user, now)
        return
    check_guests(asker)
    if ms > GUEST_MS or positions > 1:
        raise SearchRefused("Log in for longer searches.")
    _check_guest_time(asker, ms, now)


def check_guests(asker: str = "") -> None:
    """Check that not too many other visitors without accounts wait; raises ``SearchRefused``."""
    others = BotSearch.objects.of_people().filter(owner=None, ended_at__isnull=True).exclude(asker=asker)
    if others.count() >= MAX_GUESTS:
        raise SearchRefused("Many visitors ask at this time: try again in a minute, or log in.")


def check_guest_game(game: PersonGame, now: datetime.datetime) -> None:
    """Check that a visitor without an account may have the bot move; raises ``SearchRefused``.

    Only the moves of bots that are no samples count in the time of a day and of an hour.
    """
    check_guests()
    if game.ms > GUEST_MS:
        raise SearchRefused(
            f"Without an account a bot has at most {GUEST_MS / 1000:g} seconds a move: log in for more."
        )
    if not game.version.bot.is_sample:
        _check_guest_time(game.network, game.ms, now)


def _check_guest_time(network: str, ms: int, now: datetime.datetime) -> None:
    recent = Q(ended_at__isnull=True) | Q(ended_at__gt=now - HOUR)
    guests = BotSearch.objects.of_people().filter(owner=None)
    counted = guests.exclude(person_game__isnull=False, version__bot__owner__isnull=True)
    used_by_all = counted.filter(recent).aggregate(ms=Sum("ms"))["ms"] or 0
    if used_by_all + ms > GUESTS_SECONDS * 1_000:
        raise SearchRefused(
            f"Visitors without an account have used their {GUESTS_SECONDS // 60} minutes of this hour:"
            " try again later, or log in."
        )
    lately = counted.filter(asked_at__gt=now - DAY)
    used = sum(
        one_ms * len(plies)
        for own in (Q(asker=network), Q(person_game__in=games_from(network)))
        for one_ms, plies in lately.filter(own).values_list("ms", "plies")
    )
    if used + ms > GUEST_SECONDS * 1_000:
        raise SearchRefused(
            f"Without an account, searches take {GUEST_SECONDS} seconds a day: log in for more."
        )
