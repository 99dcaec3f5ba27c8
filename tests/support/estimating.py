"""Estimates of strengths from games and pairs of games that are given one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engines.estimation.estimates import PRIOR_ELO, Estimate, estimate_columns
from engines.estimation.openings import HALF_POINTS, OpeningScore
from engines.estimation.tallies import RESULTS, TallyColumns
from engines.rules.base import Result


@dataclass(frozen=True, slots=True)
class Tally:
    """How many single games had one result; ``white`` and ``black`` are players' ids."""

    white: int
    black: int
    result: Result
    count: int = 1


@dataclass(frozen=True, slots=True)
class PairTally:
    """How many pairs of games had the same two results.

    ``one`` is White in the game with the result ``first``, ``other`` in the game with the result ``second``.
    """

    one: int
    other: int
    first: Result
    second: Result
    count: int = 1
    opening: str = ""
    """Pairs with the same name share their opening; unless it is empty, for an opening of each pair."""


def estimate(
    players: Sequence[int],
    tallies: Iterable[Tally],
    pairs: Iterable[PairTally] = (),
    *,
    prior_elo: float = PRIOR_ELO,
) -> Estimate:
    """The most probable strengths of ``players``, from single games and from pairs of games.

    ``tallies`` has no games of ``pairs``. Games of other players or without a result are left out. The order
    and the grouping of games do not matter.
    """
    pairs = list(pairs)
    columns = TallyColumns.joined(
        [
            TallyColumns.of_scores(
                (one.white, one.black, *(one.count * (one.result is result) for result in RESULTS))  # type: ignore[misc]
                for one in tallies
            ),
            TallyColumns.of_pairs((p.one, p.other, p.first, p.second, p.count) for p in pairs),
        ]
    )
    return estimate_columns(players, columns, _scores_of_openings(pairs), prior_elo=prior_elo)


def _scores_of_openings(pairs: Iterable[PairTally]) -> list[OpeningScore]:
    scores: dict[str, OpeningScore] = {}
    for pair in pairs:
        if pair.opening:
            games, points = scores.get(pair.opening, (0, 0))
            both = HALF_POINTS[pair.first] + HALF_POINTS[pair.second]
            scores[pair.opening] = OpeningScore(games + 2 * pair.count, points + both * pair.count)
    return list(scores.values())
