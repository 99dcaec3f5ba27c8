"""Limits for accounts that are not staff: how long a game may last, and how much a user may schedule.

The site's own tournaments and those of staff have none. The limits are settings (``tournament.settings``).
They are checked whenever more becomes due to be played: at the creation, the announcement, the start, the
resumption and the extension. Each check first locks the owner's account (``lock_account``), so that of two
requests at the same time the second counts the first.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from engines.rules.registry import find_game
from engines.timecontrol import parse_time_control
from tournament import access
from tournament.formats.base import TournamentError
from tournament.models import BotVersion, Tournament, User
from tournament.services.locks import lock_row
from tournament.services.schedule.terms import TournamentTerms, count_most_games
from workers.jobs import UNTIMED_SECONDS, Work

MINUTE = 60.0
MAX_GAMES_AT_HOME = 200_000
"""Games that a user's own workers have played in the events of a day, until another begins."""
State = Tournament.State
RUNNING = ([State.RUNNING], "run")
BEGUN = ([State.RUNNING, State.PAUSED], "run or are paused")
TAKEN = ([State.RUNNING, State.PAUSED, State.ANNOUNCED], "run, are paused or announced")
"""States of tournaments that count against the number of an account, with the verbs for them."""


class LimitError(TournamentError):
    """A limit of the owner's account is reached; what was asked for may be possible later."""


def lock_account(user: int | None) -> None:
    """Lock the row of a user, before any tournament's; part of the caller's transaction. None is the site.

    Rows that refer to the user can still be inserted: the record keeper charges time while it is locked.
    """
    if user is not None:
        lock_row(User.objects.all(), user)


def check_limits(owner: User | None, terms: TournamentTerms) -> None:
    """Check a new draft of this owner; raises ``LimitError``. Part of the transaction that stores it."""
    check_home(terms, owner, terms.versions)
    if owner is None or not access.has_limits(owner):
        return
    lock_account(owner.pk)
    check_game_length(owner, terms.ladders, terms.time_control, terms.ply_limit)
    check_games(terms, owner, terms.versions)
    drafts = Tournament.objects.public().filter(owner=owner, state=State.DRAFT).count()
    if terms.format.is_listed and drafts >= settings.MAX_DRAFTS:
        raise LimitError(
            f"name: you have {drafts} drafts, and {settings.MAX_DRAFTS} are the most: start or cancel one"
        )


def check_stored(tournament: Tournament, versions: Sequence[BotVersion]) -> None:
    """Check a stored tournament with these entries before it is played; raises ``LimitError``.

    Its limits may have changed since, and others may have entered bots.
    """
    owner = tournament.owner
    check_home(tournament, owner, versions)
    check_game_length(owner, tournament.ladders, tournament.time_control, tournament.ply_limit)
    check_games(tournament, owner, versions)


def check_game_length(
    owner: User | None, ladders: Sequence[str], time_control: str, ply_limit: int | None = None
) -> None:
    """Check the longest game that these terms allow; raises ``LimitError``."""
    if owner is None or not access.has_limits(owner):
        return
    minutes = max(longest_seconds(code, time_control, ply_limit) for code in ladders) / MINUTE
    if 0 < settings.MAX_GAME_MINUTES < minutes:
        raise LimitError(
            f"time control: with {time_control} a game could take {minutes:.0f} minutes, and "
            f"{settings.MAX_GAME_MINUTES} are the most: shorten it, add a time for each move such as "
            "1/move, or lower the ply limit"
        )


def check_home(of: TournamentTerms | Tournament, owner: User | None, versions: Sequence[BotVersion]) -> None:
    """Check that the owner's own workers may play these versions, if they are to; raises ``LimitError``."""
    if not of.own_workers:
        return
    if of.rated:
        raise LimitError("rated: games of your own workers are not rated")
    if of.entry_until is not None:
        raise LimitError("entry until: nobody else enters bots where your own workers play")
    for version in versions:
        if owner is None or not access.may_play_at_home(owner, version):
            raise LimitError(
                f"bots: {str(version)!r} is neither yours nor published, so your own workers cannot have it"
            )
    _check_games_at_home(owner)


def _check_games_at_home(owner: User | None) -> None:
    """Check how many games of a day own workers report, at any pace, and the site keeps."""
    if owner is None or not access.has_limits(owner):
        return
    since = timezone.now() - datetime.timedelta(days=1)
    lately = Tournament.objects.filter(owner=owner, own_workers=True, started_at__gt=since)
    games = lately.aggregate(games=Sum("games_done"))["games"] or 0
    if games >= MAX_GAMES_AT_HOME:
        raise LimitError(
            f"own workers: those of your events of the last 24 hours have played {games} games, and"
            f" {MAX_GAMES_AT_HOME} are the most: begin the next one later"
        )


def check_games(
    of: TournamentTerms | Tournament, owner: User | None, versions: Sequence[BotVersion], entered: str = ""
) -> None:
    """Check the number of games of one tournament; raises ``LimitError``.

    ``entered`` is its name, if another user enters a bot and has to understand the error.
    """
    if owner is None or not access.has_limits(owner):
        return
    games, most = count_most_games(of, versions), settings.MAX_TOURNAMENT_GAMES
    if games > most and entered:
        raise LimitError(
            f"bot: {entered!r} would have {games} games, and {most} are the most for a tournament of its "
            "organizer"
        )
    if games > most:
        raise LimitError(f"pairs: {games} games are too many, a tournament of yours holds {most}")


def check_running(tournament: Tournament) -> None:
    """Check that the owner may have this tournament running or announced; raises ``LimitError``.

    The owner's other tournaments count: beside a draft and one that is over those in the states of ``TAKEN``,
    beside an announced one those that have begun, beside one that has begun those that run. So an owner who
    has too many after the limit was lowered can still start as many as it allows.
    """
    owner = tournament.owner
    if owner is None or not access.has_limits(owner) or tournament.format.work is Work.CHECKS:
        return
    states, verbs = _counted_beside(State(tournament.state))
    others = Tournament.objects.public().filter(owner=owner, state__in=states).exclude(pk=tournament.pk)
    if (count := others.count()) >= settings.MAX_RUNNING:
        raise LimitError(
            f"state: {count} of your tournaments {verbs}, and {settings.MAX_RUNNING} are the most: "
            "wait until one ends"
        )


def _counted_beside(state: Tournament.State) -> tuple[list[Tournament.State], str]:
    if state in {State.RUNNING, State.PAUSED}:
        return RUNNING
    return BEGUN if state == State.ANNOUNCED else TAKEN


def longest_seconds(ladder: str, time_control: str, ply_limit: int | None) -> float:
    """The longest time that both players together may think in a game.

    Without a limit of time an engine loses after ``UNTIMED_SECONDS`` without a move.
    """
    control = parse_time_control(time_control)
    plies = find_game(ladder).ply_limit if ply_limit is None else ply_limit
    limits = [plies * float(UNTIMED_SECONDS)]
    if control.base_ms is not None:
        limits.append((2 * control.base_ms + plies * control.increment_ms) / 1000)
    if control.move_ms is not None:
        limits.append(plies * control.move_ms / 1000)
    return min(limits) if control.is_timed else limits[0]
