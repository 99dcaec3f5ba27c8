"""Ladder: the matchmaker makes one pair of active bots after another, while workers are idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.html import format_html

from tournament.formats.base import TournamentFormat

if TYPE_CHECKING:
    from tournament.models import Tournament


class LadderFormat(TournamentFormat):
    """The site's; it has no end. See ``services.ladders.matchmaking``."""

    code = "ladder"
    label = "ladder"
    is_endless = True
    has_news = False
    openings_note = ", new for each pair"

    def describe_meetings(self, tournament: Tournament) -> str:
        return format_html(
            'While workers are idle, the <a href="{}#ladders">matchmaker</a> draws pairs of active bots,'
            " which play one opening with both colours.",
            reverse("formats"),
        )
