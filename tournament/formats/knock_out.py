"""Knock-out: the winner of a match goes on to the next round, the loser is out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from django.template.defaultfilters import pluralize

from engines.arithmetic.standings import Criterion
from engines.pairing.knockout import KnockoutMatch, Length, draw_bracket, note_withdrawn, pairs_due
from engines.pairing.results import NO_ABSENCES, Absences, MeetingResult
from tournament.formats.base import (
    COLOURS,
    Pairs,
    Parameter,
    RoundTerms,
    StandingsTable,
    TournamentFormat,
    Winners,
    count_pairs,
)

if TYPE_CHECKING:
    from tournament.models import Tournament


class KnockOut(TournamentFormat):
    """A round, or an extra pair of a level match, is drawn when all games so far are over.

    It ends with the final.
    """

    code = "knock-out"
    label = "knock-out"
    sort_key = 4
    choice = "Knock-out: the loser of a match is out"
    is_staged = True
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
    has_bracket = True
    order = (Criterion.MATCHES_WON,)
    template = "formats/knock_out.html"

    def meetings(self, players: int, rounds: int = 0) -> int:
        """The matches."""
        return max(0, players - 1)

    def count_rounds(self, players: int, rounds: int) -> int:
        return max(0, players - 1).bit_length()

    def absences(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms, withdrawn: Collection[int]
    ) -> Absences:
        return note_withdrawn(players, met, terms.length, terms.absent, withdrawn)

    def due(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms
    ) -> Iterator[tuple[int, Pairs]]:
        for number, drawn in enumerate(draw_bracket(players, met, terms.length, terms.absent), start=1):
            pairs = [
                (match.first, match.second, match.pairs + more)
                for match in drawn
                for more in range(pairs_due(match, terms.length))
                if match.first is not None and match.second is not None
            ]
            if pairs:
                yield number, pairs

    def bracket(
        self, players: int, met: Sequence[MeetingResult], length: Length, absent: Absences = NO_ABSENCES
    ) -> list[list[KnockoutMatch]]:
        return draw_bracket(players, met, length, absent)

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
