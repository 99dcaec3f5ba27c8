"""How a tournament is played, as text for its page."""

from __future__ import annotations

from dataclasses import dataclass

from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.html import format_html

from tournament.models import Tournament


@dataclass(frozen=True, slots=True)
class TermsText:
    """The format, the meetings and the openings of a tournament; ``meetings`` may contain HTML."""

    format: str
    meetings: str
    openings: str


def describe_terms(tournament: Tournament) -> TermsText:
    return TermsText(_format(tournament), _meetings(tournament), _openings(tournament))


def _format(tournament: Tournament) -> str:
    name, rounds = tournament.get_kind_display(), tournament.rounds
    return f"{name}, {rounds} round{pluralize(rounds)}" if rounds else name


def _meetings(tournament: Tournament) -> str:
    if tournament.format.is_endless:
        return format_html(
            'While workers are idle, the <a href="{}#ladders">matchmaker</a> draws pairs of active bots,'
            " which play one opening with both colours.",
            reverse("formats"),
        )
    pairs = f"{tournament.pairs} pair{pluralize(tournament.pairs)} of games"
    colours = "The two games of a pair have the same opening and opposite colours."
    if tournament.format.has_cycles and not tournament.format.has_challenger:
        return f"{pairs} between every two bots on each ladder. {colours}"
    if tournament.format.has_bracket and tournament.extra_pairs:
        extra = f"{tournament.extra_pairs} extra pair{pluralize(tournament.extra_pairs)}"
        return (
            f"{pairs} in each match. {colours} A match that is level is extended by up to {extra};"
            " if it is still level, the better seed advances."
        )
    if tournament.format.has_bracket:
        return f"{pairs} in each match. {colours} If a match is level, the better seed advances."
    return f"{pairs} in each meeting. {colours}"


def _openings(tournament: Tournament) -> str:
    plies, seed = tournament.opening_plies, tournament.seed
    if not plies:
        return f"The initial position; the seed is {seed}."
    openings = f"{plies} random pl{pluralize(plies, 'y,ies')} from seed {seed}"
    return f"{openings}, new for each pair." if tournament.format.is_endless else f"{openings}."
