"""Knock-out: the winner of a match goes on to the next round, the loser is out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tournament.arithmetic import standings
from tournament.formats.base import Pairs, RoundTerms, TournamentFormat
from workers.pairing.knockout import KnockoutMatch, Length, draw_bracket, pairs_due
from workers.pairing.results import MeetingResult


class KnockOut(TournamentFormat):
    """A round, or an extra pair of a level match, is drawn when all games so far are over.

    It ends with the final.
    """

    code = "knock-out"
    choice = "Knock-out: the loser of a match is out"
    is_staged = True
    games_vary = True
    has_extra_pairs = True
    has_bracket = True
    order = standings.KNOCK_OUT

    def meetings(self, players: int, rounds: int = 0) -> int:
        """The matches."""
        return max(0, players - 1)

    def due(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms
    ) -> Iterator[tuple[int, Pairs]]:
        for number, drawn in enumerate(draw_bracket(players, met, terms.length), start=1):
            pairs = [
                (match.first, match.second, match.pairs + more)
                for match in drawn
                for more in range(pairs_due(match, terms.length))
                if match.first is not None and match.second is not None
            ]
            if pairs:
                yield number, pairs

    def bracket(
        self, players: int, met: Sequence[MeetingResult], length: Length
    ) -> list[list[KnockoutMatch]]:
        return draw_bracket(players, met, length)
