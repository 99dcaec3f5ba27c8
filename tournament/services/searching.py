"""Takes requests for searches: who may ask which bot for how much. ``work.searches`` gives them to slots."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q
from django.utils.crypto import salted_hmac

from engines.rules.base import Position
from tournament import access
from tournament.models import BotSearch, BotVersion, Game, PersonGame, User, Worker
from tournament.queues import push_turns
from tournament.services.accounts.tokens import TooMuch, spend
from tournament.services.fair_share import is_exhausted
from tournament.services.work.searches import end_searches
from workers.jobs import Work
from workers.service.turns import QUEUES

DAY = datetime.timedelta(days=1)
SECONDS = (1, 3, 10)
"""To choose from, for a position."""
MOST_MS = 10_000
"""For one position."""
MOST_SECONDS = 600
"""Of one search."""
COST = 10.0
"""Of a user's allowance, for a search or a game: 24 at once, and one every five seconds from then on."""
GUEST_MS, GUEST_SECONDS = 3_000, 60
"""For a visitor without an account: for one position, and on one day."""


class SearchRefused(Exception):
    """The text is a sentence for the person who asked."""


def answering(ladder: str, user: access.Visitor) -> list[BotVersion]:
    """The versions on a ladder that the visitor may ask, bots by name."""
    asked = Q(bot__answers=True) | Q(bot__owner=None)
    if user.is_authenticated:
        asked |= Q(bot__owner=user)
    return [version for version in BotVersion.objects.entering().filter(asked) if version.plays(ladder)]


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

    Ends the person's earlier search. Raises ``SearchRefused``.
    """
    asker = f"user {user.pk}" if user else salted_hmac("searches", address).hexdigest()[:40]
    text = "\n".join([str(version.pk), ladder, str(start), " ".join(moves), str(list(plies)), str(ms)])
    content = hashlib.sha256(text.encode()).hexdigest()
    same = BotSearch.objects.filter(content=content, why="").order_by("-asked_at").first()
    if same is not None:
        return same
    check_asked(version, ladder, user)
    _check_limits(len(plies), ms, user, asker, now)
    with transaction.atomic():
        end_searches(BotSearch.objects.filter(asker=asker), "Ended by your next request.", now)
        search = BotSearch.objects.create(
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
    wake_slots()
    return search


def request_move(game: PersonGame, now: datetime.datetime) -> BotSearch:
    """Have the bot of a person's game search its move; part of the caller's transaction."""
    return BotSearch.objects.create(
        ladder_id=game.ladder_id,
        version=game.version,
        owner=game.person,
        asker=f"game {game.pk}",
        person_game=game,
        moves=game.moves,
        plies=[len(game.moves.split())],
        ms=game.ms,
        asked_at=now,
    )


def wake_slots() -> None:
    """Have a free slot ask at once."""
    push_turns(QUEUES[Work.ANALYSIS])


def check_asked(version: BotVersion, ladder: str, user: User | None) -> None:
    """Check that the user may ask the bot, and that a worker can run it; raises ``SearchRefused``."""
    if not access.may_ask(user, version.bot) or not version.plays(ladder):
        raise SearchRefused("This bot does not answer here.")
    if version.state != BotVersion.State.VALID:
        raise SearchRefused(f"{version} is {version.state}: only valid versions answer.")
    if not Worker.objects.given_jobs().taking(Work.ANALYSIS).exists():
        raise SearchRefused("No worker of this site takes searches at this time.")


def check_user(user: User, now: datetime.datetime) -> None:
    """Deduct a request from the user's allowance; raises ``SearchRefused``."""
    if is_exhausted(user, now):
        raise SearchRefused("Your slot-hours of today are used up.")
    try:
        spend(user, COST, now)
    except TooMuch as refused:
        raise SearchRefused(
            f"You have asked much in a short time: try again in {refused.seconds} s."
        ) from refused


def _check_limits(positions: int, ms: int, user: User | None, asker: str, now: datetime.datetime) -> None:
    if positions * ms > MOST_SECONDS * 1_000 or ms > MOST_MS:
        raise SearchRefused(
            f"A search takes at most {MOST_SECONDS} seconds, and {MOST_MS // 1_000} for a position."
        )
    if user is not None:
        check_user(user, now)
        return
    lately = BotSearch.objects.filter(asker=asker, asked_at__gt=now - DAY).values_list("ms", "plies")
    used = sum(one_ms * len(plies) for one_ms, plies in lately)
    if ms > GUEST_MS or positions > 1:
        raise SearchRefused("Log in for longer searches.")
    if used + ms > GUEST_SECONDS * 1_000:
        raise SearchRefused(
            f"Without an account, searches take {GUEST_SECONDS} seconds a day: log in for more."
        )
