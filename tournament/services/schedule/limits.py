"""Limits for accounts that are not staff: how long a game may last, and how much a user may schedule.

The site's own tournaments and those of staff have none. The limits are settings (``tournament.settings``).
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings

from engines.rules.registry import find_game
from engines.timecontrol import parse_time_control
from tournament import access
from tournament.models import Tournament, User
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.schedule.terms import TournamentError, TournamentTerms, meetings, players_of
from workers.engine.players import UNTIMED_SECONDS

MINUTE = 60.0
State = Tournament.State


def check_limits(owner: User | None, terms: TournamentTerms) -> None:
    """Check a new draft of this owner; raises ``TournamentError``."""
    if owner is None or not access.has_limits(owner):
        return
    check_game_length(owner, terms.ladders, terms.time_control, terms.ply_limit)
    players = players_of(terms.versions, terms.ladders).values()
    met = sum(meetings(terms.kind, len(entered), terms.rounds) for entered in players)
    check_games(owner, met * terms.pairs * GAMES_A_PAIR)
    drafts = Tournament.objects.public().filter(owner=owner, state=State.DRAFT).count()
    if terms.kind != Tournament.Kind.VERSION_TEST and drafts >= settings.MAX_DRAFTS:
        raise TournamentError(
            f"name: you have {drafts} drafts, and {settings.MAX_DRAFTS} are the most: start or cancel one"
        )


def check_game_length(
    owner: User | None, ladders: Sequence[str], time_control: str, ply_limit: int | None = None
) -> None:
    """Check the longest game that these terms allow; raises ``TournamentError``."""
    if owner is None or not access.has_limits(owner):
        return
    minutes = max(longest_seconds(code, time_control, ply_limit) for code in ladders) / MINUTE
    if 0 < settings.MAX_GAME_MINUTES < minutes:
        raise TournamentError(
            f"time control: with {time_control} a game could take {minutes:.0f} minutes, and "
            f"{settings.MAX_GAME_MINUTES} are the most: shorten it, add a time for each move such as "
            "1/move, or lower the ply limit"
        )


def check_games(owner: User | None, games: int) -> None:
    """Check the number of games of one tournament; raises ``TournamentError``."""
    if owner is not None and access.has_limits(owner) and games > settings.MAX_TOURNAMENT_GAMES:
        raise TournamentError(
            f"pairs: {games} games are too many, a tournament of yours holds {settings.MAX_TOURNAMENT_GAMES}"
        )


def check_running(tournament: Tournament) -> None:
    """Check that the owner of a draft may start or announce one more; raises ``TournamentError``."""
    owner = tournament.owner
    if owner is None or not access.has_limits(owner) or tournament.kind == Tournament.Kind.VALIDATION:
        return
    states = [State.RUNNING, State.PAUSED, State.ANNOUNCED]
    running = Tournament.objects.public().filter(owner=owner, state__in=states).count()
    if running >= settings.MAX_RUNNING:
        raise TournamentError(
            f"state: {running} of your tournaments run, are paused or announced, and {settings.MAX_RUNNING} "
            "are the most: wait until one ends"
        )


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
