"""A ladder's ratings to the last bit, from the tables or from published records alone.

Read-only. From records it reads no table: anybody with the files and an empty database gets the same text
as the site, unless there is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType

from engines.arithmetic.ratings import Change, Fold, Player, Rating, Standing, ladder_scale
from engines.records import Record, RecordError
from tournament.models import LadderRating, RatingEvent
from tournament.services.results.corrections import Corrections
from tournament.services.results.ratings import BATCH, player_of, standing_of
from tournament.services.results.rebuilding import rated_games


@dataclass(frozen=True, slots=True)
class Exact:
    """A ladder's ratings and a digest of the steps that led to them."""

    ladder: str
    games: int
    """Number of rated games."""
    steps: str
    """A digest of every step: player, mu and sigma before and after, game by game."""
    standings: Mapping[Player, Standing]

    def __str__(self) -> str:
        """Lines to compare; every number in decimal and in hexadecimal."""
        rows = (_row(player, standing) for player, standing in sorted(self.standings.items()))
        return "\n".join((f"{self.ladder}: {self.games} rated games, steps {self.steps}", *rows))


def _row(player: Player, standing: Standing) -> str:
    name, number = player
    mu, sigma = standing.rating.mu, standing.rating.sigma
    tally = f"+{standing.wins} ={standing.draws} -{standing.losses}"
    return f"  {name} v{number}: mu {mu!r} sigma {sigma!r} {tally} ({mu.hex()} {sigma.hex()})"


def exact_from_records(
    ladders: Sequence[str],
    records: Iterable[Record | RecordError],
    corrections: Corrections = MappingProxyType({}),
) -> list[Exact]:
    """Fold these ladders' published records in completion sequence, with the published corrections.

    Raises ``RebuildError`` for an unreadable record.
    """
    found = {ladder: (Fold(ladder_scale(ladder)), _Steps()) for ladder in ladders}
    for ladder, _, game in rated_games(ladders, records, corrections):
        fold, steps = found[ladder]
        steps.add(fold.add(game))
    return [steps.exact(ladder, fold.standings) for ladder, (fold, steps) in found.items()]


def exact_from_tables(ladder: str) -> Exact:
    """The contents of the ladder's tables now."""
    steps = _Steps()
    events = (
        RatingEvent.objects.filter(ladder_id=ladder)
        .order_by("sequence")
        .values_list(
            "sequence",
            "version__bot__name",
            "version__number",
            "mu_before",
            "sigma_before",
            "mu_after",
            "sigma_after",
        )
    )
    for _, game in groupby(events.iterator(BATCH), itemgetter(0)):
        steps.add(
            Change((name, number), Rating(*values[:2]), Rating(*values[2:]))
            for _, name, number, *values in game
        )
    rows = LadderRating.objects.filter(ladder_id=ladder).select_related("version__bot")
    standings = {player_of(row.version): standing_of(row) for row in rows}
    return steps.exact(ladder, standings)


class _Steps:
    """A digest of rating steps, the two of one game in the order of the players' names."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._games = 0

    def add(self, changes: Iterable[Change]) -> None:
        for change in sorted(changes, key=lambda change: change.player):
            numbers = (change.before.mu, change.before.sigma, change.after.mu, change.after.sigma)
            words = (change.player[0], str(change.player[1]), *(number.hex() for number in numbers))
            self._hash.update(("\t".join(words) + "\n").encode())
        self._games += 1

    def exact(self, ladder: str, standings: Mapping[Player, Standing]) -> Exact:
        return Exact(ladder, self._games, self._hash.hexdigest(), standings)
