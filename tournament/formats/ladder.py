"""Ladder: the matchmaker makes one pair of active bots after another, while workers are idle."""

from __future__ import annotations

from tournament.formats.base import TournamentFormat


class LadderFormat(TournamentFormat):
    """The site's; it has no end. See ``services.ladders.matchmaking``."""

    code = "ladder"
    is_endless = True
    has_news = False
    has_places = False
