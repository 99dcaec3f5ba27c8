"""What a user does to a tournament, from a page or by the API: the log has what staff does in others' place.

Who may do it is decided before, by ``tournament.access``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tournament.formats.base import TournamentError
from tournament.models import Bot, BotVersion, Tournament, User
from tournament.services.accounts.acts import record_act
from tournament.services.schedule import entries, tournaments


@dataclass(frozen=True, slots=True)
class Control:
    """An action of the organizer."""

    act: Callable[[Tournament], object]
    done: str
    """What the organizer is told then."""
    deed: str
    """What the log says of staff that does it."""


CONTROLS: Mapping[str, Control] = {
    "start": Control(tournaments.start, "The tournament is started.", "started it"),
    "announce": Control(tournaments.announce, "The tournament is announced.", "announced it"),
    "pause": Control(
        tournaments.pause,
        "The tournament is paused. Games under way are stopped and played again later.",
        "paused it",
    ),
    "resume": Control(tournaments.resume, "The tournament continues.", "resumed it"),
    "cancel": Control(
        tournaments.cancel, "The tournament is cancelled. The recorded games are kept.", "cancelled it"
    ),
    "continue": Control(tournaments.continue_cancelled, "The tournament continues.", "continued it"),
}
"""By their words in addresses; for those that need no further values."""


def run_control(user: User, tournament: Tournament, control: Control, *, is_for_staff: bool = False) -> None:
    """Run an action of the organizer, or of staff alone; raises ``TournamentError``."""
    control.act(tournament)
    if is_for_staff or tournament.owner_id != user.pk:
        log_act(user, tournament, control.deed)


def enter_bot(user: User, tournament: Tournament, bot: Bot) -> None:
    """Enter one of ``access.enterable_bots``; raises ``TournamentError``."""
    entries.enter(tournament, bot, user)
    if bot.owner_id != user.pk:
        log_act(user, tournament, f"entered the bot {bot}")


def withdraw_bot(user: User, tournament: Tournament, bot: Bot) -> None:
    """Withdraw a bot that the user may edit; may be repeated. Raises ``TournamentError``."""
    entries.leave(tournament, bot)
    if bot.owner_id != user.pk:
        log_act(user, tournament, f"withdrew the bot {bot}")


def challenge(user: User, own: Bot, opponent: Bot) -> Tournament:
    """Start a short match between the newest active versions of two bots; raises ``TournamentError``."""
    entering = BotVersion.objects.entering().filter(bot__in=[own, opponent]).order_by("number")
    playing = {version.bot_id: version for version in entering}  # the newest of each
    if len(playing) < 2:
        raise TournamentError("bot: an active version of both bots is needed")
    return tournaments.start_match(user, playing[own.pk], playing[opponent.pk])


def log_act(user: User, tournament: Tournament, deed: str) -> None:
    """Log what staff did to a tournament."""
    kind = "version test" if tournament.format.is_sequential else "tournament"
    record_act(user, deed, f"{kind} {tournament}", tournament.get_absolute_url())
