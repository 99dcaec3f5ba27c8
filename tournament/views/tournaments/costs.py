"""What a tournament would cost, told before it is started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engines.console import format_duration
from tournament.forms import TournamentForm
from tournament.models import BotVersion, Tournament
from tournament.services.dispatch.durations import count_games, estimate_seconds
from tournament.services.dispatch.slots import slots_expected


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
    return Cost(
        total,
        format_duration(max(2, seconds), words=True),
        slots_expected(),
        kind == Tournament.Kind.KNOCK_OUT,
    )
