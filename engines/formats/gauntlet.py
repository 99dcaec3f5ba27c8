"""Gauntlet: one bot, the challenger, meets each of the others once a cycle, on each ladder."""

from __future__ import annotations

from collections.abc import Sequence

from engines.arithmetic.standings import Criterion, Crosstable, StandingsRow
from engines.formats.base import EventFormat
from engines.pairing.berger import Pair
from engines.pairing.gauntlet import gauntlet_rounds


class GauntletFormat(EventFormat):
    """All games are known at the start."""

    code = "gauntlet"
    has_cycles = True
    has_challenger = True
    order = (Criterion.SHARE, Criterion.POINTS)

    def meetings(self, players: int, rounds: int = 0) -> int:
        return max(0, players - 1)

    def table(self, players: int) -> list[list[Pair]]:
        return gauntlet_rounds(players)

    def ranked_rows(
        self, crosstable: Crosstable, players: Sequence[int]
    ) -> list[tuple[int | None, StandingsRow]]:
        """The challenger, without a rank, then its opponents, ranked among themselves."""
        rows = crosstable.rows
        challenger = next((row for row in rows if row.player == players[0]), None)
        if challenger is None:
            return []
        others = [row for row in rows if row is not challenger]
        return [(None, challenger), *((row.rank - (row.rank > challenger.rank), row) for row in others)]
