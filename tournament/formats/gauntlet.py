"""Gauntlet: one bot, the challenger, meets each of the others once a cycle, on each ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.template.defaultfilters import pluralize

from engines.arithmetic.standings import Criterion, StandingsRow, format_points
from engines.pairing.berger import Pair
from engines.pairing.gauntlet import gauntlet_rounds
from tournament.formats.base import StandingsTable, TournamentError, TournamentFormat, Winners


class Gauntlet(TournamentFormat):
    """All games are known at the start. It ends when all of them are over."""

    code = "gauntlet"
    label = "gauntlet"
    sort_key = 2
    choice = "Gauntlet: one bot meets each of the others"
    has_cycles = True
    has_challenger = True
    extends = "pairs"
    order = (Criterion.SHARE, Criterion.POINTS)
    template = "formats/gauntlet.html"

    def meetings(self, players: int, rounds: int = 0) -> int:
        return max(0, players - 1)

    def table(self, players: int) -> list[list[Pair]]:
        return gauntlet_rounds(players)

    def check_players(self, players: Mapping[str, Sequence[Any]]) -> None:
        super().check_players(players)
        if len({entered[0].pk for entered in players.values()}) > 1:
            raise TournamentError("ladders: a gauntlet's challenger must play all of them")

    def ranked_rows(self, table: StandingsTable) -> list[tuple[int | None, StandingsRow]]:
        """The challenger, without a rank, then its opponents, ranked among themselves."""
        rows = table.crosstable.rows
        challenger = next((row for row in rows if row.player == next(iter(table.versions))), None)
        if challenger is None:
            return []
        others = [row for row in rows if row is not challenger]
        return [(None, challenger), *((row.rank - (row.rank > challenger.rank), row) for row in others)]

    def winners(self, table: StandingsTable) -> Winners | None:
        (_, challenger), *others = self.ranked_rows(table)
        points = f"{format_points(challenger.points)} of {challenger.score.total} points"
        against = f"{len(others)} opponent{pluralize(len(others))}"
        return Winners("Challenger", [challenger.player], f"{points} against {against}")
