"""Reads the explorer's tables: the moves that recorded games played in a position, and these games."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from engines.arithmetic.standings import performance
from engines.rules.base import Position, Side
from engines.visits import canonical_move
from tournament.models import ExplorerMove, ExplorerVisit, Game
from tournament.services.explorer.counting import BAND, TOP_BAND, count_visits
from tournament.services.explorer.positions import position_number

FILTERS: Final[Mapping[str, int]] = {
    "": ExplorerMove.UNRATED,
    "rated": 0,
    **{str(band * BAND): band for band in range(1, TOP_BAND + 1)},
}
"""The least band of the games that are counted, by the word in addresses."""
MAX_MOVES: Final = 50
"""The most moves of a position that are listed; only some first positions have more."""
_FEW: Final = 100
"""Visits that are read of a position without counts: it has one, or some that are not counted yet."""


@dataclass(frozen=True, slots=True)
class ExploredMove:
    """The results of a move, all of them White's."""

    token: str
    side: Side
    wins: int
    draws: int
    losses: int
    rated: int
    """Number of rated games."""
    ratings: int
    """The sum of the ratings of those who moved in them, in hundredths."""
    last: Game | None = None
    """The game that ended last; None where the filter cannot tell it."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def rating(self) -> float | None:
        """The mean rating of those who moved."""
        return self.ratings / self.rated / 100 if self.rated else None

    @property
    def performance(self) -> int | None:
        """Elo of those who moved, above the mean of their opponents."""
        won = self.wins if self.side is Side.WHITE else self.losses
        return performance(won + self.draws / 2, self.games)


@dataclass(frozen=True, slots=True)
class ExploredPosition:
    moves: Sequence[ExploredMove]
    """The most frequent ones first, at most ``MAX_MOVES``."""
    total: ExploredMove
    """The sum of all moves."""
    others: int
    """Moves that are not listed."""


def explore(ladder: str, position: Position, least_band: int = ExplorerMove.UNRATED) -> ExploredPosition:
    """The moves of recorded games in this position, in games of ``least_band`` or a higher one."""
    form, symmetries = position.canonical()
    number = position_number(ladder, form, position.side)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for move, band, wins, draws, losses, ratings in _rows(ladder, number):
        if band >= least_band:
            rated = 0 if band == ExplorerMove.UNRATED else wins + draws + losses
            values = (wins, draws, losses, rated, ratings)
            sums[move] = [a + b for a, b in zip(sums[move], values, strict=True)]
    best = sorted(sums, key=lambda move: (-sum(sums[move][:3]), move))
    last, turned = _last_games(ladder, number, best[:MAX_MOVES], least_band), symmetries[0]
    moves = [
        _explored(turned.turn_back(move), position.side, sums[move], last.get(move))
        for move in best[:MAX_MOVES]
    ]
    total = [sum(column) for column in zip(*sums.values(), strict=True)] or [0] * 5
    return ExploredPosition(moves, _explored("", position.side, total), max(0, len(best) - MAX_MOVES))


def _explored(token: str, side: Side, values: Sequence[int], last: Game | None = None) -> ExploredMove:
    wins, draws, losses, rated, ratings = values
    return ExploredMove(token, side, wins, draws, losses, rated, ratings, last)


def _rows(ladder: str, number: int) -> list[tuple[str, int, int, int, int, int]]:
    """Move, band, results and ratings, also of a position that a single game reached."""
    columns = ("move", "band", "wins", "draws", "losses", "ratings")
    rows = list(ExplorerMove.objects.filter(position=number).values_list(*columns))
    if rows:
        return rows
    visits = _counted_visits(ladder, number).values_list("position", "move", "sequence")
    counts: Any = [tuple(row[name] for name in columns) for row in count_visits(ladder, list(visits[:_FEW]))]
    return list(counts)


def _counted_visits(ladder: str, number: int, **which: Any) -> QuerySet[ExplorerVisit]:
    """Those of games that count, and meet further conditions."""
    counted = Game.objects.filter(ladder=ladder, annulled=False, sequence=OuterRef("sequence"), **which)
    return ExplorerVisit.objects.filter(Exists(counted), position=number)


def _last_games(ladder: str, number: int, moves: Sequence[str], least_band: int) -> dict[str, Game]:
    """The game of each move that ended last, of all or of the rated ones; games have no bands."""
    if least_band > 0:
        return {}
    which = {} if least_band == ExplorerMove.UNRATED else {"rated": True}
    visits = _counted_visits(ladder, number, **which)
    latest = visits.filter(move=OuterRef("move")).order_by("-sequence").values("sequence")[:1]
    stored = ExplorerMove.objects.filter(position=number, move__in=moves).order_by().values("move").distinct()
    found = dict(stored.annotate(last=Subquery(latest)).values_list("move", "last"))
    if not found:
        found = dict(visits.filter(move__in=moves).values_list("move", "sequence")[:_FEW])
    games = Game.objects.filter(ladder=ladder, sequence__in=found.values())
    by_sequence = {
        game.sequence: game for game in games.select_related("white__bot", "black__bot", "pairing")
    }
    return {move: by_sequence[last] for move, last in found.items() if last in by_sequence}


def visits_of(ladder: str, position: Position, move: str) -> QuerySet[ExplorerVisit]:
    """The games of the ladder that played a move in a position."""
    form, symmetries = position.canonical()
    number = position_number(ladder, form, position.side)
    return ExplorerVisit.objects.filter(position=number, move=canonical_move(symmetries, move))
