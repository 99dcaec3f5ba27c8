"""What a tournament would cost, told before it is started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tournament.forms import TournamentForm
from tournament.models import BotVersion, Tournament
from tournament.services.durations import count_games, estimate_seconds
from tournament.services.slots import slots_expected


@dataclass(frozen=True, slots=True)
class Cost:
    """``duration`` in words; a knock-out may take more."""

    games: int
    duration: str
    at_once: int
    at_least: bool


def cost_of(tournament: Tournament, versions: Sequence[BotVersion]) -> Cost:
    """Of a stored tournament with these entries."""
    games = count_games(
        versions=versions,
        ladders=tournament.ladders,
        pairs=tournament.pairs,
        kind=tournament.kind,
        rounds=tournament.rounds,
    )
    return _cost(games, tournament.time_control, tournament.kind)


def cost_of_form(form: TournamentForm) -> Cost | None:
    """Of what a form asks for, if it can be read and does not wait for entries."""
    if not form.is_valid() or form.cleaned_data["entry_until"]:
        return None
    data = form.cleaned_data
    games = count_games(
        versions=list(data["bots"]),
        ladders=data["ladders"],
        pairs=data["pairs"],
        kind=data["kind"],
        rounds=data["rounds"] or 0,
    )
    return _cost(games, data["time_control"], data["kind"])


def _cost(games: dict[str, int], time_control: str, kind: str) -> Cost:
    seconds = estimate_seconds(games, time_control)
    total = sum(games.values())
    return Cost(total, format_duration(seconds), slots_expected(), kind == Tournament.Kind.KNOCK_OUT)


def format_duration(seconds: float) -> str:
    """A duration as people say it, two units at most."""
    if seconds < 90:
        return f"{max(2, round(seconds))} seconds"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} minutes"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days} days {hours} h"
