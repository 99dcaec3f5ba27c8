"""Gauntlet: one bot, the challenger, meets each of the others once a cycle, on each ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.template.defaultfilters import pluralize

from engines.arithmetic.standings import format_points
from engines.formats.gauntlet import GauntletFormat
from tournament.formats.base import StandingsTable, TournamentError, TournamentFormat, Winners


class Gauntlet(GauntletFormat, TournamentFormat):
    """It ends when all of its games are over."""

    code = GauntletFormat.code
    label = "gauntlet"
    sort_key = 2
    choice = "Gauntlet: one bot meets each of the others"
    extends = "pairs"
    template = "formats/gauntlet.html"

    def check_players(self, players: Mapping[str, Sequence[Any]]) -> None:
        super().check_players(players)
        if len({entered[0].pk for entered in players.values()}) > 1:
            raise TournamentError("ladders: a gauntlet's challenger must play all of them")

    def winners(self, table: StandingsTable) -> Winners | None:
        (_, challenger), *others = self.ranked_rows(table.crosstable, list(table.versions))
        points = f"{format_points(challenger.points)} of {challenger.score.total} points"
        against = f"{len(others)} opponent{pluralize(len(others))}"
        return Winners("Challenger", [challenger.player], f"{points} against {against}")
