"""Swiss: in each round bots with similar scores meet that have not met before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from engines.arithmetic.standings import Criterion
from engines.pairing.results import Absences, MeetingResult
from engines.pairing.swiss import MAX_PLAYERS, next_round, swiss_round
from tournament.formats.base import (
    MAX_ROUNDS,
    Pairs,
    Parameter,
    RoundTerms,
    TournamentError,
    TournamentFormat,
)


class Swiss(TournamentFormat):
    """A round is drawn when all games of the one before are over, on all ladders, unless it is paused.

    Halted games are over. It ends after the last round, on a ladder also when fewer than two bots are left
    that are not withdrawn. See ``services.schedule.rounds``.
    """

    code = "swiss"
    label = "Swiss"
    sort_key = 3
    choice = "Swiss: a few rounds against opponents with a similar score"
    is_staged = True
    extends = "rounds"
    parameters = (
        Parameter(
            name="rounds",
            label="Rounds",
            least=1,
            most=MAX_ROUNDS,
            initial=5,
            help_text="5 rounds find the best of 8 bots, 9 rounds the best of 100.",
            missing="Enter the number of rounds of the Swiss.",
        ),
    )
    order = (
        Criterion.POINTS,
        Criterion.BUCHHOLZ,
        Criterion.SONNEBORN_BERGER,
        Criterion.DIRECT_ENCOUNTER,
    )
    template = "formats/swiss.html"

    def meetings(self, players: int, rounds: int = 0) -> int:
        return rounds * (players // 2)

    def check_size(self, players: Mapping[str, Sequence[Any]]) -> None:
        for code, entered in players.items():
            if len(entered) > MAX_PLAYERS:
                raise TournamentError(
                    f"bots: {len(entered)} play {code!r}, a Swiss has {MAX_PLAYERS} at most"
                )

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
