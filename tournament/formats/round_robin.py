"""Round robin: every bot meets every other once a cycle, on each ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.pairing.berger import Pair, berger_rounds
from tournament.formats.base import COLOURS, TournamentFormat, count_pairs

if TYPE_CHECKING:
    from tournament.models import Tournament


class RoundRobin(TournamentFormat):
    """All games are known at the start. It ends when all of them are over."""

    code = "round-robin"
    label = "round robin"
    sort_key = 1
    choice = "Round robin: every bot meets every other"
    has_cycles = True
    extends = "pairs"

    def table(self, players: int) -> list[list[Pair]]:
        return berger_rounds(players)

    def describe_meetings(self, tournament: Tournament) -> str:
        return f"{count_pairs(tournament)} between every two bots on each ladder. {COLOURS}"
