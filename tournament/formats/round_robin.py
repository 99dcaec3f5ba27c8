"""Round robin: every bot meets every other once a cycle, on each ladder."""

from __future__ import annotations

from tournament.formats.base import TournamentFormat
from workers.pairing.berger import Pair, berger_rounds


class RoundRobin(TournamentFormat):
    """All games are known at the start. It ends when all of them are over."""

    code = "round-robin"
    choice = "Round robin: every bot meets every other"
    has_cycles = True
    ends_with_its_games = True
    extends = "pairs"

    def table(self, players: int) -> list[list[Pair]]:
        return berger_rounds(players)
