"""Rebuilds the rating tables of ``models.ladders`` from the recorded games, or from published records alone.

The games are rated again while the site continues, some thousands at a time; rating events that differ are
replaced in a short transaction for each part. The last transaction adds the games that were recorded in the
meantime and replaces the small tables. A rebuild that ends early leaves the ladder outdated if it was, and
the next one begins again. Annulled games are left out.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from engines.records import Record, RecordError, check_rules_version
from engines.rules.base import OtherRules, Result
from tournament.arithmetic.ratings import POINTS, Fold, Player, RatedGame, Standing, ladder_scale
from tournament.models import (
    BotVersion,
    Correction,
    Game,
    Ladder,
    LadderEstimate,
    LadderRating,
    PairOutcome,
    PairScore,
    RatingEvent,
)
from tournament.services.bulk import replace_rows
from tournament.services.locks import lock_row
from tournament.services.results.corrections import Corrections, RebuildError, compare_corrections
from tournament.services.results.leaders import follow_leader
from tournament.services.results.ratings import (
    RESULT_COLUMNS,
    PairKey,
    RatedScore,
    pair_key,
    standing_columns,
)
from tournament.services.results.records import NOT_RATED

CHUNK = 5_000
"""Games that are read, rated and stored together."""
FEW = 500
"""New games of a running site that may be left for the last transaction."""
RESULTS = {str(result): result for result in POINTS}

log = logging.getLogger("tournament.rebuilding")

Progress = Callable[[str, int, int], None]
"""Receives the ladder, how many of its games are compared, and how many there are."""


_Row = tuple[int, int, int, int, int, Player, Player, Result]
"""A rated game: its sequence, its id, its pairing's, the versions' ids, the players, the result."""
_Score = tuple[int, int, Result]
"""A ``RatedScore``; a plain tuple, because there is one for each game."""
_Rows = dict[tuple[Any, ...], dict[str, Any]]
"""Rows of a table: values by key columns."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The outcome of a rebuild of one ladder."""

    ladder: str
    games: int
    """Number of rated games."""
    changed: bool
    """Whether the rebuild changed the tables."""
    standings: Mapping[Player, Standing]


def rebuild(ladder: str | None = None, progress: Progress = lambda *_: None) -> list[Rebuilt]:
    """Rebuild the tables of one ladder, or of all, from the recorded games in the database.

    Raises ``RebuildError`` if games of the ladder are annulled or count again meanwhile.
    """
    codes = [ladder] if ladder else list(Ladder.objects.values_list("code", flat=True))
    return [_Rebuild(code, progress).run(None) for code in codes]


def rebuild_outdated() -> int:
    """Rebuild the ladders with games annulled since; returns how many. May be repeated."""
    done = 0
    for code in Ladder.objects.outdated().values_list("code", flat=True):
        try:
            rebuild(code)
            done += 1
        except RebuildError as error:  # the next call tries again
            log.info("%s", error)
    return done


def rebuild_from_records(
    ladder: str,
    records: Iterable[Record | RecordError],
    progress: Progress = lambda *_: None,
    corrections: Corrections = MappingProxyType({}),
) -> Rebuilt:
    """Rebuild one ladder's tables from published records and corrections alone, in completion sequence.

    Skips records of other ladders; games recorded after the start of the rebuild come from the database.
    The records are read before anything is changed. Raises ``RebuildError`` for an unreadable record, for one
    out of sequence, for one whose game or player is not in the database, and for corrections other than the
    site's.
    """
    compare_corrections(ladder, corrections)
    return _Rebuild(ladder, progress, corrections).run(records)


class _Rebuild:
    """One ladder's tables while they are computed again."""

    def __init__(
        self, ladder: str, progress: Progress, corrections: Corrections = MappingProxyType({})
    ) -> None:
        self.ladder = ladder
        self.progress = progress
        self.corrections = corrections
        self.revision = Ladder.objects.values_list("revision", flat=True).get(pk=ladder)
        self.fold = Fold(ladder_scale(ladder))
        self.games = 0
        self.until = 0
        """The sequence number up to which games are rated and stored."""
        self.changed = False
        self.versions: dict[Player, int] = {}
        self.scores: dict[_Score, int] = {}
        self.both: dict[tuple[_Score, _Score], int] = {}
        """How many pairings had these two games, in the order in which they were rated."""
        self.half: dict[int, _Score] = {}
        """The first rated game of each pairing whose second has not come yet."""

    def run(self, records: Iterable[Record | RecordError] | None) -> Rebuilt:
        last = self._last()
        if records is not None:
            rows = list(_played_in(self.ladder, records, self.corrections))
            for start in range(0, len(rows), CHUNK):
                chunk = rows[start : start + CHUNK]
                self._store(chunk, chunk[-1][0])
                self.progress(self.ladder, self.until, last)
            self._store([], last)
        while self.until < last:
            self._store_games(last)
            self.progress(self.ladder, self.until, last)
            if self.until >= last and self._last() - last > FEW:
                last = self._last()
        self._finish()
        return Rebuilt(self.ladder, self.games, self.changed, self.fold.standings)

    def _last(self) -> int:
        return Ladder.objects.values_list("sequence", flat=True).get(pk=self.ladder)

    @transaction.atomic
    def _finish(self) -> None:
        """Add the latest games and replace the small tables, under the ladder's lock."""
        ladder = self._locked()
        while self.until < ladder.sequence:
            self._store_games(ladder.sequence)
        self._replace(LadderRating, ("version_id",), self._ratings())
        self._replace(PairScore, ("white_id", "black_id"), self._pair_scores())
        self._replace(PairOutcome, ("one_id", "other_id", "first", "second"), self._pair_outcomes())
        if self.changed:
            LadderEstimate.objects.filter(pk=self.ladder).delete()
            follow_leader(ladder, timezone.now())
        Ladder.objects.filter(pk=self.ladder).update(rated_revision=ladder.revision)

    def _locked(self) -> Ladder:
        ladder = lock_row(Ladder.objects.all(), self.ladder)
        if ladder.revision != self.revision:
            raise RebuildError(
                f"{self.ladder}: games were annulled or counted again at the same time: rebuild it again"
            )
        return ladder

    def _replace(self, model: type[Model], keys: Sequence[str], wanted: _Rows, **filters: Any) -> None:
        rows = model._default_manager.filter(ladder_id=self.ladder, **filters)
        self.changed |= replace_rows(rows, {"ladder_id": self.ladder}, keys, wanted)

    # Rating and storing

    def _store_games(self, last: int) -> None:
        """The next rated games of the database, at most up to the sequence number ``last``."""
        until = min(self.until + CHUNK, last)
        games = Game.objects.filter(
            ladder_id=self.ladder, sequence__gt=self.until, sequence__lte=until, rated=True
        ).order_by("sequence")
        columns = games.values_list("sequence", "id", "pairing_id", "white_id", "black_id", "result")
        players = _players()
        rows = [
            (at or 0, game, pairing, white, black, players[white], players[black], RESULTS[result or ""])
            for at, game, pairing, white, black, result in columns.iterator(CHUNK)
        ]
        self._store(rows, until)

    def _store(self, rows: Sequence[_Row], until: int) -> None:
        """Rate games and replace the events that differ; the next call continues after ``until``."""
        events = self._rated(rows)
        with transaction.atomic():
            self._locked()
            keys = ("sequence", "version_id", "game_id")
            self._replace(RatingEvent, keys, events, sequence__gt=self.until, sequence__lte=until)
        self.games += len(rows)
        self.until = until

    def _rated(self, rows: Sequence[_Row]) -> _Rows:
        """Rate games; the events by sequence number, version and game."""
        events: _Rows = {}
        step, rating, versions, scores = self.fold.step, self.fold.rating, self.versions, self.scores
        for sequence, game, pairing, white, black, one, other, result in rows:
            before = step(one, other, result)
            events[sequence, white, game] = _event(*before[:2], *rating(one))
            events[sequence, black, game] = _event(*before[2:], *rating(other))
            versions[one], versions[other] = white, black
            score = white, black, result
            scores[score] = scores.get(score, 0) + 1
            self._pair(pairing, score)
        return events

    def _pair(self, pairing: int, score: _Score) -> None:
        first = self.half.pop(pairing, None)
        if first is None:
            self.half[pairing] = score
        else:
            self.both[first, score] = self.both.get((first, score), 0) + 1

    # The tables without history

    def _ratings(self) -> _Rows:
        standings = self.fold.standings.items()
        return {(self.versions[player],): standing_columns(standing) for player, standing in standings}

    def _pair_scores(self) -> _Rows:
        wanted: _Rows = {}
        for (white, black, result), count in self.scores.items():
            columns = wanted.setdefault((white, black), dict.fromkeys(RESULT_COLUMNS.values(), 0))
            columns[RESULT_COLUMNS[result]] += count
        return wanted

    def _pair_outcomes(self) -> _Rows:
        counts = Counter[PairKey]()
        for (game, return_game), count in self.both.items():
            if key := pair_key(RatedScore(*game), RatedScore(*return_game)):
                counts[key] += count
        return {key: {"count": count} for key, count in counts.items()}


def _event(mu_before: float, sigma_before: float, mu_after: float, sigma_after: float) -> dict[str, float]:
    return {
        "mu_before": mu_before,
        "sigma_before": sigma_before,
        "mu_after": mu_after,
        "sigma_after": sigma_after,
    }


def _players() -> dict[int, Player]:
    rows = BotVersion.objects.order_by().values_list("pk", "bot__name", "number")
    return {pk: (name, number) for pk, name, number in rows}


def _played_in(
    code: str, records: Iterable[Record | RecordError], corrections: Corrections
) -> Iterator[_Row]:
    """The rated games of records; ids come from the database, results from the records alone."""
    versions = {player: pk for pk, player in _players().items()}
    games, last = rated_games(code, records, corrections), 0
    while chunk := list(islice(games, 500)):
        known = Game.objects.by_completion(code).filter(key__in=[key for key, _ in chunk])
        columns = known.values_list("key", "sequence", "id", "pairing_id")
        rows = {key: (sequence or 0, game, pairing) for key, sequence, game, pairing in columns}
        for key, rated in chunk:
            for player in (rated.white, rated.black):
                if player not in versions:
                    raise RebuildError(f"game {key!r}: the site has no {player[0]!r} version {player[1]}")
            if key not in rows:
                raise RebuildError(f"game {key!r}: the site has recorded no such game of {code!r}")
            sequence, game, pairing = rows[key]
            if sequence <= last:
                raise RebuildError(
                    f"game {key!r}: the records are not in the order in which games were rated"
                )
            last = sequence
            yield (sequence, game, pairing, versions[rated.white], versions[rated.black], *rated)


def rated_games(
    ladder: str,
    records: Iterable[Record | RecordError],
    corrections: Corrections = MappingProxyType({}),
) -> Iterator[tuple[str, RatedGame]]:
    """The rated games of a ladder with their keys, from the records and their corrections alone.

    Raises ``RebuildError`` at the first record that cannot be read or rated.
    """
    for record in records:
        if isinstance(record, RecordError):
            raise RebuildError(str(record))
        if record.header("Game") == ladder and _is_rated(record, corrections):
            yield record.header("GameId"), read_rated_game(record)


def _is_rated(record: Record, corrections: Corrections) -> bool:
    effect = corrections.get(record.header("GameId"))
    return NOT_RATED not in record.headers if effect is None else effect == Correction.Effect.RATED


def read_rated_game(record: Record) -> RatedGame:
    """Convert a record for the fold; raises ``RebuildError``."""
    key, players = record.header("GameId"), []
    try:
        check_rules_version(record)
    except OtherRules as error:
        raise RebuildError(f"game {key!r}: {error}") from None
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
