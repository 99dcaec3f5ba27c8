"""Round robin: every bot meets every other once a cycle, on each ladder."""

from __future__ import annotations

from engines.formats.base import EventFormat
from engines.pairing.berger import Pair, berger_rounds


class RoundRobinFormat(EventFormat):
    """All games are known at the start."""

    code = "round-robin"
    has_cycles = True

    def table(self, players: int) -> list[list[Pair]]:
        return berger_rounds(players)
