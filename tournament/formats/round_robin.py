"""Round robin: every bot meets every other once a cycle, on each ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.formats.round_robin import RoundRobinFormat
from tournament.formats.base import COLOURS, TournamentFormat, count_pairs

if TYPE_CHECKING:
    from tournament.models import Tournament


class RoundRobin(RoundRobinFormat, TournamentFormat):
    """It ends when all of its games are over."""

    code = RoundRobinFormat.code
    label = "round robin"
    sort_key = 1
    choice = "Round robin: every bot meets every other"
    extends = "pairs"

    def describe_meetings(self, tournament: Tournament) -> str:
        return f"{count_pairs(tournament)} between every two bots on each ladder. {COLOURS}"
