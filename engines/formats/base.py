"""What decides the pairings and the standings of a tournament of any format. A format has no state."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from engines.arithmetic.standings import BY_POINTS, Crosstable, Order, StandingsRow
from engines.pairing.berger import Pair
from engines.pairing.knockout import KnockoutMatch, Length
from engines.pairing.meetings import GAMES_A_PAIR
from engines.pairing.results import NO_ABSENCES, Absences, MeetingResult

Pairs = list[tuple[int, int, int]]
"""Pairs to play as (first, second, number of the pair in their meeting, from 0); players are seeds."""


@dataclass(frozen=True, slots=True)
class RoundTerms:
    """The terms from which rounds are drawn."""

    rounds: int
    """The rounds of a Swiss."""
    length: Length
    """The length of a match of a knock-out, or of a meeting of a Swiss."""
    absent: Absences = field(default_factory=dict)
    """The withdrawn players by round, also those of the round to draw."""

    @property
    def games_a_meeting(self) -> int:
        return GAMES_A_PAIR * self.length.pairs


class EventFormat:
    """The format of a tournament, as far as its pairings and tables depend on it."""

    code: ClassVar[str]
    """Its name in addresses, files and the database."""

    # Its schedule

    has_cycles: ClassVar[bool] = False
    """Its schedule is a table that is repeated once a cycle, for one pair of games a meeting."""
    is_staged: ClassVar[bool] = False
    """Its rounds are drawn one after another from the results so far, see ``due``."""
    has_challenger: ClassVar[bool] = False
    """The first entry meets each of the others; it must play on all ladders."""

    def meetings(self, players: int, rounds: int = 0) -> int:
        """The number of meetings of two players on a ladder, in a cycle or in all rounds."""
        return players * (players - 1) // 2

    def count_rounds(self, players: int, rounds: int) -> int:
        """The rounds on a ladder, if they are drawn one after another; ``rounds`` is the tournament's."""
        return rounds

    def table(self, players: int) -> list[list[Pair]]:
        """The rounds of one cycle, if it has cycles; players count from 1."""
        raise NotImplementedError

    def absences(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms, withdrawn: Collection[int]
    ) -> Absences:
        """``terms.absent`` with those who are withdrawn now, before ``due`` draws what follows."""
        raise NotImplementedError

    def due(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms
    ) -> Iterator[tuple[int, Pairs]]:
        """The pairs that follow on a ladder whose games are all over, by round; none at the end.

        For a format whose rounds are drawn from the results so far.
        """
        raise NotImplementedError

    # Its results

    has_bracket: ClassVar[bool] = False
    order: ClassVar[Order] = BY_POINTS
    """The criteria for the order of its players."""

    def bracket(
        self, players: int, met: Sequence[MeetingResult], length: Length, absent: Absences = NO_ABSENCES
    ) -> list[list[KnockoutMatch]]:
        """The rounds of its bracket; empty if it has none."""
        return []

    def ranked_rows(
        self, crosstable: Crosstable, players: Sequence[int]
    ) -> list[tuple[int | None, StandingsRow]]:
        """The rows in the order of the standings with their ranks; None for a player without one.

        ``players`` are in the order of their seeds or entries.
        """
        return [(row.rank, row) for row in crosstable.rows]
