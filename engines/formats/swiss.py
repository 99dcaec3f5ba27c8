"""Swiss: in each round bots with similar scores meet that have not met before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from engines.arithmetic.standings import Criterion
from engines.formats.base import EventFormat, Pairs, RoundTerms
from engines.pairing.results import Absences, MeetingResult
from engines.pairing.swiss import next_round, swiss_round


class SwissFormat(EventFormat):
    """A round is drawn when all games of the one before are over, on all ladders.

    Halted games are over. ``due`` needs networkx.
    """

    code = "swiss"
    is_staged = True
    order = (
        Criterion.POINTS,
        Criterion.BUCHHOLZ,
        Criterion.SONNEBORN_BERGER,
        Criterion.DIRECT_ENCOUNTER,
    )

    def meetings(self, players: int, rounds: int = 0) -> int:
        return rounds * (players // 2)

    def absences(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms, withdrawn: Collection[int]
    ) -> Absences:
        number = next_round(met)
        others = {one: gone for one, gone in terms.absent.items() if one != number}
        return {**others, number: withdrawn} if withdrawn else others

    def due(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms
    ) -> Iterator[tuple[int, Pairs]]:
        number = next_round(met)
        if number > terms.rounds:
            return
        if pairs := swiss_round(players, met, terms.games_a_meeting, terms.absent):
            yield number, [(a, b, pair) for pair in range(terms.length.pairs) for a, b in pairs]
