"""How many games a tournament has, how long it takes, and how long it still takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.defaultfilters import pluralize
from django.utils.html import format_html

from engines.console import format_duration
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.terms import TournamentTerms, count_games
from tournament.services.work.durations import (
    estimate_seconds,
    remaining_seconds,
    slots_at_work,
    slots_expected,
)

State = Tournament.State
FEW_SECONDS = 5.0
"""A shorter time is not worth a number."""


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
        if not self.games:
            return "No games: fewer than two of the bots play the same ladder."
        text = '<b class="tabular">{}</b>, {}, if {} played at once.'
        if self.at_least:
            text = 'At least <b class="tabular">{}</b>, {}, if {} played at once.'
        games = f"{self.games} game{pluralize(self.games)}"
        at_once = "1 game is" if self.at_once == 1 else f"{self.at_once} games are"
        return format_html(text, games, about(self.seconds), at_once)


def cost_of(of: TournamentTerms | Tournament, versions: Sequence[BotVersion]) -> Cost:
    """The cost of a tournament with these players."""
    games = count_games(of, versions)
    seconds = estimate_seconds(games, of.time_control)
    return Cost(sum(games.values()), seconds, slots_expected(), of.format.games_vary)


def describe_progress(tournament: Tournament) -> str:
    """How long the tournament took, or which round is played and how much is left; may be empty."""
    if tournament.format.is_endless:
        return "Paused: no games are started." if tournament.state == State.PAUSED else ""
    if tournament.is_over:
        return _describe_end(tournament)
    if tournament.state not in {State.RUNNING, State.PAUSED}:
        return "" if tournament.games_total else "The games are made at the start."
    return f"{_describe_round(tournament)} {_describe_rest(tournament)}".strip()


def _describe_round(tournament: Tournament) -> str:
    """The round that is played, of all; empty unless they are drawn one after another."""
    if not tournament.format.is_staged:
        return ""
    latest = [
        tournament.pairings.filter(ladder=code).order_by("-round").values_list("round", flat=True).first()
        for code in tournament.ladders
    ]
    counts = [
        tournament.format.count_rounds(len(ids), tournament.rounds) for ids in tournament.seeds.values()
    ]
    played = max((number for number in latest if number), default=0)
    return f"Round {played} of {max(counts)}." if played and counts else ""


def _describe_rest(tournament: Tournament) -> str:
    games = tournament.games_expected - tournament.games_done
    if not games:
        return ""
    if tournament.state == State.PAUSED:
        return f"Paused with {games} game{pluralize(games)} left."
    slots = slots_at_work()
    if not slots:
        return "No worker plays games at the moment."
    left = f"{about(remaining_seconds(tournament, games, slots))} left."
    is_least = tournament.format.games_vary
    return f"At least {left.removeprefix('about ')}" if is_least else f"{left[0].upper()}{left[1:]}"


def _describe_end(tournament: Tournament) -> str:
    if tournament.state == State.CANCELLED:
        games = tournament.games_expected - tournament.games_done
        return f"Cancelled with {games} game{pluralize(games)} not played." if games else "Cancelled."
    if not (tournament.games_done and tournament.started_at and tournament.finished_at):
        return "No games were played." if not tournament.games_done else ""
    took = (tournament.finished_at - tournament.started_at).total_seconds()
    return f"Played in {about(took).removeprefix('about ')}."


def about(seconds: float) -> str:
    return "a few seconds" if seconds < FEW_SECONDS else f"about {format_duration(seconds, words=True)}"
