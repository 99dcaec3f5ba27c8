"""Rates new games: ``LadderRating``, ``RatingEvent``, ``PairScore`` and ``PairOutcome``.

These tables change by one step for each result here, or are rebuilt as a whole in ``rebuilding``. Both use
``engines.arithmetic.ratings.Fold``, so they store the same bits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engines.arithmetic.ratings import (
    Change,
    Fold,
    Player,
    RatedGame,
    Rating,
    Standing,
    ladder_scale,
)
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.base import Result
from tournament.models import (
    BotVersion,
    Game,
    LadderRating,
    PairOutcome,
    PairScore,
    RatingEvent,
)
from tournament.services.bulk import add_counts, insert_rows, update_rows

BATCH = 1_000


def player_of(version: BotVersion) -> Player:
    """The identity of a version in records and ratings."""
    return version.bot.name, version.number


# Games and their rows


class RatedRow(NamedTuple):
    """One rated game with the ids of its rows."""

    sequence: int
    game: int
    pairing: int
    white: int
    black: int
    rated: RatedGame

    @classmethod
    def of(cls, game: Game, sequence: int, result: Result) -> RatedRow:
        rated = RatedGame(player_of(game.white), player_of(game.black), result)
        return cls(sequence, game.pk, game.pairing_id, game.white_id, game.black_id, rated)


RatedScore = tuple[int, int, Result]
"""A game's players, by version ids, and its result."""


class PairKey(NamedTuple):
    """The columns of a ``PairOutcome`` except for the ladder and the count."""

    one_id: int
    other_id: int
    first: str
    second: str


def pair_key(game: RatedScore, return_game: RatedScore) -> PairKey | None:
    """Where both games of a pairing are counted; None if they are not one game with each colour."""
    (white, black, first), (other, one, second) = game, return_game
    if (white, black) != (one, other):
        return None
    if white > black:
        white, black, first, second = black, white, second, first
    return PairKey(white, black, str(first), str(second))


def standing_columns(standing: Standing) -> dict[str, Any]:
    """The columns of a ``LadderRating`` except for its ladder and version."""
    return {
        "mu": standing.rating.mu,
        "sigma": standing.rating.sigma,
        "conservative": standing.rating.conservative,
        "games": standing.games,
        "wins": standing.wins,
        "draws": standing.draws,
        "losses": standing.losses,
        "best": standing.best,
    }


RESULT_COLUMNS = {Result.WHITE_WINS: "wins", Result.DRAW: "draws", Result.BLACK_WINS: "losses"}
"""The field of ``PairScore`` that counts each result."""


# Rating new games


def rate(ladder: str, played: Sequence[RatedRow]) -> None:
    """Rate games in their completion sequence; part of the transaction that stores their results
    under the ladder's lock.
    """
    if not played:
        return
    versions = {version for row in played for version in (row.white, row.black)}
    # All rated versions of these bots: a new version starts from its bot's earlier versions.
    known = LadderRating.objects.filter(
        ladder_id=ladder, version__bot__in=BotVersion.objects.filter(pk__in=versions).values("bot")
    ).select_related("version__bot")
    rows = {player_of(row.version): row for row in known}
    fold = Fold(ladder_scale(ladder), {player: standing_of(row) for player, row in rows.items()})
    events: list[dict[str, Any]] = []
    for row in played:
        changes = fold.add(row.rated)
        for change, version in zip(changes, (row.white, row.black), strict=True):
            events.append(_event(ladder, row, version, change))
    insert_rows(RatingEvent, events)
    _store_ratings(ladder, played, fold, rows)
    _count_games(ladder, played)
    _count_pairs(ladder, played)


def standing_of(row: LadderRating) -> Standing:
    return Standing(Rating(row.mu, row.sigma), row.wins, row.draws, row.losses, row.best)


def _event(ladder: str, row: RatedRow, version: int, change: Change) -> dict[str, Any]:
    """The columns of a ``RatingEvent``."""
    return {
        "ladder_id": ladder,
        "sequence": row.sequence,
        "game_id": row.game,
        "version_id": version,
        "mu_before": change.before.mu,
        "sigma_before": change.before.sigma,
        "mu_after": change.after.mu,
        "sigma_after": change.after.sigma,
    }


def _store_ratings(
    ladder: str, played: Sequence[RatedRow], fold: Fold, known: Mapping[Player, LadderRating]
) -> None:
    """Update the ratings of those who played, and create those of newcomers."""
    standings = fold.standings
    versions = {row.rated.white: row.white for row in played} | {row.rated.black: row.black for row in played}
    columns = {player: standing_columns(standings[player]) for player in versions}
    update_rows(
        LadderRating,
        [(row, {"id": known[player].pk}) for player, row in columns.items() if player in known],
    )
    LadderRating.objects.bulk_create(
        LadderRating(ladder_id=ladder, version_id=versions[player], **row)
        for player, row in columns.items()
        if player not in known
    )


def _count_games(ladder: str, played: Sequence[RatedRow]) -> None:
    """Add to the pair scores. Safe without further locks: the caller holds the ladder's lock."""
    counts: dict[tuple[int, int], dict[str, int]] = {}
    for row in played:
        count = counts.setdefault((row.white, row.black), dict.fromkeys(RESULT_COLUMNS.values(), 0))
        count[RESULT_COLUMNS[row.rated.result]] += 1
    rows = [
        {"ladder_id": ladder, "white_id": white, "black_id": black, **count}
        for (white, black), count in counts.items()
    ]
    add_counts(PairScore, rows, ("ladder_id", "white_id", "black_id"))


def _count_pairs(ladder: str, played: Sequence[RatedRow]) -> None:
    """Count the pairings that end with these games; a pairing is over only once."""
    known = Game.objects.filter(pairing__in={row.pairing for row in played}, rated=True).order_by("sequence")
    games: dict[int, list[RatedScore]] = defaultdict(list)
    for pairing, white, black, result in known.values_list("pairing", "white", "black", "result"):
        games[pairing].append((white, black, Result(result or "*")))
    keys = [pair_key(*scores) for scores in games.values() if len(scores) == GAMES_A_PAIR]
    rows = [
        {"ladder_id": ladder, **key._asdict(), "count": count}
        for key, count in Counter(key for key in keys if key).items()
    ]
    add_counts(PairOutcome, rows, ("ladder_id", "one_id", "other_id", "first", "second"))
