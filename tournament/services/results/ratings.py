"""Writes the rating tables of ``models.ladders``: ``LadderRating``, ``RatingEvent`` and ``PairScore``.

They change by one step for each result, or are rebuilt as a whole. Both use
``tournament.arithmetic.ratings.Fold``, so they store the same bits. ``tournament_table`` and
``ladder_estimate`` at the end only read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q

from engines.records import Record, RecordError
from engines.rules.base import Result
from tournament.arithmetic.estimates import Estimate, estimate
from tournament.arithmetic.ratings import (
    POINTS,
    Change,
    Fold,
    Player,
    RatedGame,
    Rating,
    Standing,
    ladder_scale,
    tournament_scale,
)
from tournament.models import (
    BotVersion,
    Game,
    Ladder,
    LadderRating,
    PairScore,
    RatingEvent,
    Tournament,
)
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.results.records import NOT_RATED

BATCH = 1_000


def player_of(version: BotVersion) -> Player:
    """The identity of a version in records and ratings."""
    return version.bot.name, version.number


# Games and their rows


@dataclass(frozen=True, slots=True)
class RatedRow:
    """One rated game with the ids of its rows."""

    sequence: int
    game: int
    white: int
    black: int
    rated: RatedGame

    @classmethod
    def of(cls, game: Game, sequence: int, result: Result) -> RatedRow:
        rated = RatedGame(player_of(game.white), player_of(game.black), result)
        return cls(sequence, game.pk, game.white_id, game.black_id, rated)


class _Accounts:
    """Collects the changes to a ladder's rows while games are added to a fold."""

    def __init__(self, ladder: str, fold: Fold) -> None:
        self.ladder = ladder
        self.fold = fold
        self.versions: dict[Player, int] = {}
        """Ids of the versions that played."""
        self.events: list[dict[str, Any]] = []
        self.pairs: Counter[tuple[int, int, Result]] = Counter()

    def add(self, row: RatedRow) -> None:
        changes = self.fold.add(row.rated)
        for change, version in zip(changes, (row.white, row.black), strict=True):
            self.versions[change.player] = version
            self.events.append(_event(self.ladder, row.sequence, row.game, version, change))
        self.pairs[row.white, row.black, row.rated.result] += 1

    def store_events(self) -> None:
        insert_rows(RatingEvent, self.events)
        self.events.clear()


def _standing(row: LadderRating) -> Standing:
    return Standing(Rating(row.mu, row.sigma), row.wins, row.draws, row.losses)


def _row(standing: Standing) -> dict[str, Any]:
    return {
        "mu": standing.rating.mu,
        "sigma": standing.rating.sigma,
        "conservative": standing.rating.conservative,
        "games": standing.games,
        "wins": standing.wins,
        "draws": standing.draws,
        "losses": standing.losses,
    }


def _event(ladder: str, sequence: int, game: int, version: int, change: Change) -> dict[str, Any]:
    """The columns of a ``RatingEvent``."""
    return {
        "ladder_id": ladder,
        "sequence": sequence,
        "game_id": game,
        "version_id": version,
        "mu_before": change.before.mu,
        "sigma_before": change.before.sigma,
        "mu_after": change.after.mu,
        "sigma_after": change.after.sigma,
    }


_COLUMNS = {Result.WHITE_WINS: "wins", Result.DRAW: "draws", Result.BLACK_WINS: "losses"}


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
    accounts = _Accounts(
        ladder, Fold(ladder_scale(ladder), {player: _standing(r) for player, r in rows.items()})
    )
    for row in played:
        accounts.add(row)
    accounts.store_events()
    played_by = {
        player: (version, _row(accounts.fold.standings[player]))
        for player, version in accounts.versions.items()
    }
    update_rows(
        LadderRating,
        [(row, {"id": rows[player].pk}) for player, (_, row) in played_by.items() if player in rows],
    )
    LadderRating.objects.bulk_create(
        LadderRating(ladder_id=ladder, version_id=version, **row)
        for player, (version, row) in played_by.items()
        if player not in rows
    )
    _count_pairs(ladder, accounts.pairs)


def _count_pairs(ladder: str, counts: Mapping[tuple[int, int, Result], int]) -> None:
    """Add to the pair scores. Safe without further locks: the caller holds the ladder's lock."""
    whites, blacks = {white for white, _, _ in counts}, {black for _, black, _ in counts}
    known = PairScore.objects.filter(ladder_id=ladder, white_id__in=whites, black_id__in=blacks)
    pairs = {(pair.white_id, pair.black_id): pair for pair in known}
    for (white, black, result), count in counts.items():
        pair = pairs.setdefault((white, black), PairScore(ladder_id=ladder, white_id=white, black_id=black))
        setattr(pair, _COLUMNS[result], getattr(pair, _COLUMNS[result]) + count)
    counted = [pairs[key] for key in {(white, black): None for white, black, _ in counts}]
    update_rows(
        PairScore,
        [
            ({"wins": pair.wins, "draws": pair.draws, "losses": pair.losses}, {"id": pair.pk})
            for pair in counted
            if pair.pk
        ],
    )
    PairScore.objects.bulk_create(pair for pair in counted if not pair.pk)


# Rebuilding all ratings


class RebuildError(ValueError):
    """Records that do not fit the site's tables; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The outcome of a rebuild of one ladder."""

    ladder: str
    games: int
    """Number of rated games."""
    changed: bool
    """Whether the rebuild changed the tables."""
    standings: Mapping[Player, Standing]


def rebuild(ladder: str | None = None) -> list[Rebuilt]:
    """Rebuild the tables of one ladder, or of all, from the recorded games in the database."""
    codes = [ladder] if ladder else list(Ladder.objects.values_list("code", flat=True))
    return [_rebuild(code, None) for code in codes]


def rebuild_from_records(ladder: str, records: Iterable[Record | RecordError]) -> Rebuilt:
    """Rebuild one ladder's tables from published records alone, in completion sequence.

    Skips records of other ladders. Raises ``RebuildError`` for an unreadable record, or one whose game or
    player is not in the database; then nothing is changed.
    """
    return _rebuild(ladder, records)


@transaction.atomic
def _rebuild(code: str, records: Iterable[Record | RecordError] | None) -> Rebuilt:
    Ladder.objects.select_for_update().get(pk=code)
    before = _contents(code)
    for table in (RatingEvent, LadderRating, PairScore):
        table.objects.filter(ladder_id=code).delete()
    played = _played(code) if records is None else _played_in(code, records)
    accounts = _Accounts(code, Fold(ladder_scale(code)))
    for row in played:
        accounts.add(row)
        if len(accounts.events) >= BATCH:
            accounts.store_events()
    accounts.store_events()
    standings = accounts.fold.standings
    LadderRating.objects.bulk_create(
        LadderRating(ladder_id=code, version_id=accounts.versions[player], **_row(standing))
        for player, standing in standings.items()
    )
    _count_pairs(code, accounts.pairs)
    return Rebuilt(code, accounts.pairs.total(), before != _contents(code), standings)


def _contents(code: str) -> tuple[list[tuple[object, ...]], ...]:
    """The contents of a ladder's rating tables, without the rows' ids."""
    events = RatingEvent.objects.filter(ladder_id=code).order_by("sequence", "version_id")
    ratings = LadderRating.objects.filter(ladder_id=code).order_by("version_id")
    pairs = PairScore.objects.filter(ladder_id=code).order_by("white_id", "black_id")
    return (
        list(
            events.values_list(
                "sequence", "game_id", "version_id", "mu_before", "sigma_before", "mu_after", "sigma_after"
            )
        ),
        list(ratings.values_list("version_id", "mu", "sigma", "conservative", "wins", "draws", "losses")),
        list(pairs.values_list("white_id", "black_id", "wins", "draws", "losses")),
    )


def _played(code: str) -> Iterator[RatedRow]:
    games = Game.objects.by_completion(code).filter(rated=True)
    players = {v.pk: player_of(v) for v in BotVersion.objects.select_related("bot")}
    rows = games.values_list("sequence", "id", "white_id", "black_id", "result")
    for sequence, game, white, black, result in rows.iterator(BATCH):
        rated = RatedGame(players[white], players[black], Result(result or "*"))
        yield RatedRow(sequence or 0, game, white, black, rated)


def _played_in(code: str, records: Iterable[Record | RecordError]) -> Iterator[RatedRow]:
    """The rated games of records; ids come from the database, results from the records alone."""
    versions = {player_of(v): v.pk for v in BotVersion.objects.select_related("bot")}
    rows = Game.objects.by_completion(code).values_list("key", "id", "sequence")
    games = {key: (game, sequence or 0) for key, game, sequence in rows}
    for key, rated in rated_games(code, records):
        for player in (rated.white, rated.black):
            if player not in versions:
                raise RebuildError(f"game {key!r}: the site has no {player[0]!r} version {player[1]}")
        if key not in games:
            raise RebuildError(f"game {key!r}: the site has recorded no such game of {code!r}")
        game, sequence = games[key]
        yield RatedRow(sequence, game, versions[rated.white], versions[rated.black], rated)


def rated_games(ladder: str, records: Iterable[Record | RecordError]) -> Iterator[tuple[str, RatedGame]]:
    """The rated games of a ladder with their keys, from the records alone.

    Raises ``RebuildError`` at the first record that cannot be read or rated.
    """
    for record in records:
        if isinstance(record, RecordError):
            raise RebuildError(str(record))
        if record.header("Game") == ladder and NOT_RATED not in record.headers:
            yield record.header("GameId"), read_rated_game(record)


def read_rated_game(record: Record) -> RatedGame:
    """Convert a record for the fold; raises ``RebuildError``."""
    key, players = record.header("GameId"), []
    for side in ("White", "Black"):
        number = record.header(f"{side}Version")
        if not number.isdecimal():
            raise RebuildError(f"game {key!r}: {side}Version {number!r} is not a number")
        players.append((record.header(side), int(number)))
    if record.result not in POINTS:
        raise RebuildError(f"game {key!r}: a rated game without a result")
    if players[0] == players[1]:
        raise RebuildError(f"game {key!r}: {players[0][0]!r} plays itself, which is never rated")
    return RatedGame(players[0], players[1], record.result)


# Ratings that are computed on request, not stored


def tournament_table(tournament: Tournament, ladder: str) -> dict[int, Standing]:
    """A tournament's own ratings on a ladder, by version id.

    Folded in the order of the schedule without drift, so that the same games give the same table
    in whatever order they finished.
    """
    games = (
        Game.objects.done()
        .filter(tournament=tournament, ladder_id=ladder)
        .exclude(white_id=F("black_id"))
        .order_by("id")
        .values_list("white_id", "black_id", "result")
    )
    fold = Fold(tournament_scale(ladder))
    for white, black, result in games.iterator(BATCH):
        fold.add(RatedGame((str(white), 1), (str(black), 1), Result(result or "*")))
    return {int(name): standing for (name, _), standing in fold.standings.items()}


def ladder_estimate(ladder: str) -> Estimate:
    """Strengths with error bars from all rated games of a ladder, by version id; cached until the next."""
    sequence = Ladder.objects.values_list("sequence", flat=True).get(pk=ladder)
    key = f"estimate-{ladder}-{sequence}"
    known: Estimate | None = cache.get(key)
    if known is None:
        known = _estimate(ladder)
        cache.set(key, known)
    return known


def _estimate(ladder: str) -> Estimate:
    pairs = PairScore.objects.filter(ladder_id=ladder)
    played = Q(pk__in=pairs.values("white")) | Q(pk__in=pairs.values("black"))
    players = BotVersion.objects.filter(played).order_by("pk").values_list("pk", flat=True)
    return estimate(list(players), pairs.tallies())
