"""Knock-out: the winner of a match goes on to the next round, the loser is out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from engines.arithmetic.standings import Criterion
from engines.formats.base import EventFormat, Pairs, RoundTerms
from engines.pairing.knockout import KnockoutMatch, Length, draw_bracket, note_withdrawn, pairs_due
from engines.pairing.results import NO_ABSENCES, Absences, MeetingResult


class KnockOutFormat(EventFormat):
    """A round, or an extra pair of a level match, is drawn when all games so far are over."""

    code = "knock-out"
    is_staged = True
    has_bracket = True
    order = (Criterion.MATCHES_WON,)

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
