"""Knock-out: the winner of a match goes on to the next round, the loser is out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.template.defaultfilters import pluralize

from engines.formats.knock_out import KnockOutFormat
from tournament.formats.base import COLOURS, Parameter, StandingsTable, TournamentFormat, Winners, count_pairs

if TYPE_CHECKING:
    from tournament.models import Tournament


class KnockOut(KnockOutFormat, TournamentFormat):
    """It ends with the final."""

    code = KnockOutFormat.code
    label = "knock-out"
    sort_key = 4
    choice = "Knock-out: the loser of a match is out"
    games_vary = True
    parameters = (
        Parameter(
            name="extra_pairs",
            label="Extra pairs",
            least=0,
            most=100,
            initial=4,
            help_text="One at a time while a match is level; then the better seed advances.",
        ),
    )
    template = "formats/knock_out.html"

    def describe_meetings(self, tournament: Tournament) -> str:
        more, level = tournament.extra_pairs, "If a match is level, the better seed advances."
        if more:
            level = (
                f"A match that is level is extended by up to {more} extra pair{pluralize(more)};"
                " if it is still level, the better seed advances."
            )
        return f"{count_pairs(tournament)} in each match. {COLOURS} {level}"

    def winners(self, table: StandingsTable) -> Winners | None:
        """The winner of the final."""
        if not table.bracket or (final := table.bracket[-1][0]).winner is None:
            return None
        note = "better seed in a level final" if final.by_last_resort else ""
        return Winners("Champion", [table.seeded(final.winner).pk], note)
