"""What every tournament format answers. A format has no state and uses no database.

``TournamentFormat`` has the answers of an ordinary tournament. Each format is a class in a module of this
package and overrides what is different.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tournament.arithmetic.standings import ROUND_ROBIN, Order
from workers.jobs import Work
from workers.pairing.berger import Pair
from workers.pairing.knockout import KnockoutMatch, Length
from workers.pairing.results import MeetingResult

Pairs = list[tuple[int, int, int]]
"""Pairs to play as (first, second, number of the pair in their meeting, from 0); players are seeds."""


class TournamentError(ValueError):
    """Invalid terms of a tournament: one sentence that begins with the field's name."""


@dataclass(frozen=True, slots=True)
class RoundTerms:
    """The terms from which rounds are drawn."""

    rounds: int
    """The rounds of a Swiss."""
    length: Length
    """Of a match of a knock-out, or of a meeting of a Swiss."""
    games_a_meeting: int


class TournamentFormat:
    """The format of a tournament."""

    code: ClassVar[str]
    """The value of ``Tournament.kind``."""
    choice: ClassVar[str] = ""
    """Its line in the form for a new tournament; empty if users do not make it there."""
    page: ClassVar[str] = "tournament"
    """The name of its page's address."""
    work: ClassVar[Work] = Work.GAMES
    """Which workers play its games."""

    # Who sees it

    is_listed: ClassVar[bool] = True
    """Lists of tournaments show it."""
    is_public: ClassVar[bool] = True
    """Everybody may see its games, once it has begun."""
    has_news: ClassVar[bool] = True
    """Feeds and notices tell its start and its end."""

    # Its schedule

    has_cycles: ClassVar[bool] = False
    """Its schedule is a table that is repeated once a cycle, for one pair of games a meeting."""
    is_staged: ClassVar[bool] = False
    """Its rounds are drawn one after another from the results so far, see ``due``."""
    is_endless: ClassVar[bool] = False
    """More games always follow."""
    ends_with_its_games: ClassVar[bool] = False
    """It is over once all games of its schedule are."""
    is_sequential: ClassVar[bool] = False
    """Its pairs are made a few at a time, until a sequential test is decided."""
    is_background: ClassVar[bool] = False
    """Its games wait for those of all other tournaments."""
    extends: ClassVar[Literal["", "pairs", "rounds"]] = ""
    """What can be added to it after its start."""
    games_vary: ClassVar[bool] = False
    """It may take more games than the fewest that decide it."""

    # Its terms

    has_rounds: ClassVar[bool] = False
    has_extra_pairs: ClassVar[bool] = False
    has_challenger: ClassVar[bool] = False
    """The first entry meets each of the others; it must play on all ladders."""

    # Its results

    counts_forfeits: ClassVar[bool] = True
    """Games lost by a bot's own fault count towards its withdrawal."""
    keeps_logs: ClassVar[bool] = False
    """The logs of all its games are kept as long as those of games with a fault."""
    has_places: ClassVar[bool] = True
    """Its players have places, and its page has tables."""
    has_bracket: ClassVar[bool] = False
    order: ClassVar[Order] = ROUND_ROBIN
    """The criteria for the order of its players."""

    def meetings(self, players: int, rounds: int = 0) -> int:
        """The number of meetings of two players on a ladder, in a cycle or in all rounds."""
        return players * (players - 1) // 2

    def table(self, players: int) -> list[list[Pair]]:
        """The rounds of one cycle, if it has cycles; players count from 1."""
        raise NotImplementedError

    def due(
        self, players: int, met: Sequence[MeetingResult], terms: RoundTerms
    ) -> Iterator[tuple[int, Pairs]]:
        """The pairs that follow on a ladder whose games are all over, by round; none at the end.

        For a format whose rounds are drawn from the results so far.
        """
        raise NotImplementedError

    def bracket(
        self, players: int, met: Sequence[MeetingResult], length: Length
    ) -> list[list[KnockoutMatch]]:
        """The rounds of its bracket; empty if it has none."""
        return []

    def check_size(self, players: Mapping[str, Sequence[Any]]) -> None:
        """Check that those who play on each ladder are not too many; raises ``TournamentError``."""

    def check_players(self, players: Mapping[str, Sequence[Any]]) -> None:
        """Check that those who play on each ladder are enough; raises ``TournamentError``."""
        for code, entered in players.items():
            if len(entered) < 2:
                who = f"only {str(entered[0])!r} plays" if entered else "none of the bots plays"
                raise TournamentError(f"ladders: {who} {code!r}, it needs two")
