"""How many games a tournament has and how long it takes, estimated before its start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.defaultfilters import pluralize
from django.utils.html import format_html

from engines.console import format_duration
from tournament.forms import TournamentForm
from tournament.models import BotVersion, Tournament
from tournament.services.dispatch.durations import count_games, estimate_seconds
from tournament.services.dispatch.slots import slots_expected


@dataclass(frozen=True, slots=True)
class Cost:
    """The estimate for a tournament; a knock-out can have more games than estimated (``at_least``)."""

    games: int
    seconds: float
    at_once: int
    """How many games are played at the same time."""
    at_least: bool

    @property
    def sentence(self) -> str:
        """One sentence, with HTML."""
        text = '<b class="tabular">{}</b>, about {}, if {} played at once.'
        if self.at_least:
            text = 'At least <b class="tabular">{}</b>, about {}, if {} played at once.'
        games = f"{self.games} game{pluralize(self.games)}"
        at_once = "1 game is" if self.at_once == 1 else f"{self.at_once} games are"
        return format_html(text, games, format_duration(max(2, self.seconds), words=True), at_once)


def cost_of(tournament: Tournament, versions: Sequence[BotVersion]) -> Cost:
    """The cost of a stored tournament with these entries."""
    games = count_games(
        versions=versions,
        ladders=tournament.ladders,
        pairs=tournament.pairs,
        kind=tournament.kind,
        rounds=tournament.rounds,
    )
    return _cost(games, tournament.time_control, tournament.kind)


def cost_of_form(form: TournamentForm) -> Cost | None:
    """The cost of the tournament in a form; None if the form is not valid or its entries are still open."""
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
    return Cost(total, seconds, slots_expected(), kind == Tournament.Kind.KNOCK_OUT)
