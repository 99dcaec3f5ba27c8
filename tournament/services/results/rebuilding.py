"""Rebuilds the rating tables of ``models.ladders`` from the recorded games, or from published records alone.

The games are rated again while the site continues, some thousands at a time; rows that differ are replaced in
a short transaction for each part, which also adds the games that were recorded in the meantime: first rating
events, then counts of some versions, the ratings last. A rebuild that ends early leaves the ladder outdated
if it was, and the next one begins again. Annulled games are left out.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import F, Model
from django.utils import timezone

from engines.arithmetic.ratings import POINTS, Fold, Player, RatedGame, Rating, Standing, ladder_scale
from engines.records import Record, RecordError, check_rules_version
from engines.rules.base import OtherRules
from tournament.models import (
    BotVersion,
    Correction,
    ExplorerProgress,
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
"""New games of a running site that may be left for the transactions after those of the rating events."""
VERSIONS = 20
"""Versions whose counts of results are replaced together."""
RESULTS = {str(result): result for result in POINTS}
_COLUMNS = {result: column for column, result in enumerate(RESULT_COLUMNS)}

log = logging.getLogger("tournament.rebuilding")

Progress = Callable[[str, int, int], None]
"""Receives the ladder, how many of its games are compared, and how many there are."""


_Row = tuple[int, int, int, int, int, str]
"""A rated game: its sequence, its id, its pairing's, the versions' ids, the result."""
_Values = tuple[Any, ...]
"""The values of one row of a table."""


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
    ladders: Sequence[str],
    records: Iterable[Record | RecordError],
    progress: Progress = lambda *_: None,
    corrections: Corrections = MappingProxyType({}),
) -> Iterator[Rebuilt]:
    """Rebuild these ladders' tables from published records and corrections alone, in completion sequence.

    Skips records of other ladders; games recorded after the start of the rebuild come from the database.
    The records are read before anything is changed. Raises ``RebuildError`` for an unreadable record, for one
    out of sequence, for one whose game or player is not in the database, and for corrections other than the
    site's.
    """
    for ladder in ladders:
        compare_corrections(ladder, corrections)
    rebuilds = [_Rebuild(ladder, progress) for ladder in ladders]
    games = _played_in(ladders, records, corrections)
    for one in rebuilds:
        yield one.run(games.pop(one.ladder))


class _Rebuild:
    """One ladder's tables while they are computed again."""

    def __init__(self, ladder: str, progress: Progress) -> None:
        self.ladder = ladder
        self.progress = progress
        self.revision, self.last = Ladder.objects.values_list("revision", "sequence").get(pk=ladder)
        self.fold = Fold(ladder_scale(ladder))
        self.games = 0
        self.until = 0
        """The sequence number up to which games are rated and stored."""
        self.changed = False
        self.scores: dict[int, dict[int, list[int]]] = defaultdict(dict)
        """Results by White and Black, in the order of ``RESULT_COLUMNS``."""
        self.pairs: dict[int, dict[PairKey, int]] = defaultdict(dict)
        """How many pairings had these results, by the first version of the key."""
        self.half: dict[int, RatedScore] = {}
        """The first rated game of each pairing whose second has not come yet."""

    def run(self, rows: Sequence[_Row] | None) -> Rebuilt:
        """Rate the games of ``rows``, or those of the database, and replace the tables."""
        if rows is not None:
            for start in range(0, len(rows), CHUNK):
                chunk = rows[start : start + CHUNK]
                self._store(chunk, chunk[-1][0])
                self.progress(self.ladder, self.until, self.last)
            self._store([], max(self.until, self.last))
        while self.until < self.last:
            self._store_games(self.last)
            self.progress(self.ladder, self.until, self.last)
            if self.until >= self.last:
                latest = Ladder.objects.values_list("sequence", flat=True).get(pk=self.ladder)
                self.last = latest if latest - self.last > FEW else self.last
        versions = sorted(_players())
        for start in range(0, len(versions), VERSIONS):
            self._store_counts(versions[start : start + VERSIONS])
            self.progress(self.ladder, self.until, max(self.until, self.last))
        self._finish()
        return Rebuilt(self.ladder, self.games, self.changed, self.fold.standings)

    @transaction.atomic
    def _store_counts(self, versions: Sequence[int]) -> None:
        """Replace the counts of some versions; the record keeper adds to them from then on."""
        self._catch_up()
        scores = [
            (white, black, *counts)
            for white in versions
            for black, counts in self.scores.get(white, {}).items()
        ]
        keys, results = ("white_id", "black_id"), tuple(RESULT_COLUMNS.values())
        self._replace(PairScore, keys, results, scores, white__in=versions)
        pairs = [(*key, count) for one in versions for key, count in self.pairs.get(one, {}).items()]
        self._replace(PairOutcome, PairKey._fields, ("count",), pairs, one__in=versions)

    @transaction.atomic
    def _finish(self) -> None:
        ladder = self._catch_up()
        names = tuple(standing_columns(Standing(Rating())))
        ids = {player: pk for pk, player in _players().items()}
        ratings = [
            (ids[player], *standing_columns(standing).values())
            for player, standing in self.fold.standings.items()
        ]
        self._replace(LadderRating, ("version_id",), names, ratings)
        if self.changed or ladder.is_outdated:
            LadderEstimate.objects.filter(pk=self.ladder).update(sequence=0)  # the keeper computes it again
            explored = ExplorerProgress.objects.filter(pk=self.ladder)  # and counts moves again
            explored.update(revision=None, rebuilds=F("rebuilds") + 1)
            follow_leader(ladder, timezone.now())
        Ladder.objects.filter(pk=self.ladder).update(rated_revision=ladder.revision)

    def _catch_up(self) -> Ladder:
        """Lock the ladder and add the latest games."""
        ladder = self._locked()
        while self.until < ladder.sequence:
            self._store_games(ladder.sequence)
        return ladder

    def _locked(self) -> Ladder:
        ladder = lock_row(Ladder.objects.all(), self.ladder)
        if ladder.revision != self.revision:
            raise RebuildError(
                f"{self.ladder}: games were annulled or counted again at the same time: rebuild it again"
            )
        return ladder

    def _replace(
        self,
        model: type[Model],
        keys: Sequence[str],
        others: Sequence[str],
        wanted: Sequence[_Values],
        **filters: Any,
    ) -> None:
        rows = model._default_manager.filter(ladder_id=self.ladder, **filters)
        self.changed |= replace_rows(rows, {"ladder_id": self.ladder}, keys, others, wanted)

    # Rating and storing

    def _store_games(self, last: int) -> None:
        """The next rated games of the database, at most up to the sequence number ``last``."""
        until = min(self.until + CHUNK, last)
        games = Game.objects.filter(
            ladder_id=self.ladder, sequence__gt=self.until, sequence__lte=until, rated=True
        ).order_by("sequence")
        columns = games.values_list("sequence", "id", "pairing_id", "white_id", "black_id", "result")
        self._store(list(columns), until)  # type: ignore[arg-type]  # rated games have a sequence and a result

    def _store(self, rows: Sequence[_Row], until: int) -> None:
        """Rate games and replace the events that differ; the next call continues after ``until``."""
        events = self._rated(rows)
        with transaction.atomic():
            self._locked()
            keys = ("sequence", "version_id", "game_id")
            self._replace(RatingEvent, keys, _NUMBERS, events, sequence__gt=self.until, sequence__lte=until)
        self.games += len(rows)
        self.until = until

    def _rated(self, rows: Sequence[_Row]) -> list[_Values]:
        """Rate games and count them; returns the events."""
        events: list[_Values] = []
        players, step, scores, half = _players(), self.fold.step, self.scores, self.half
        for sequence, game, pairing, white, black, word in rows:
            result = RESULTS[word]
            before, after = step(players[white], players[black], result)
            events.append((sequence, white, game, before[0], before[1], after[0], after[1]))
            events.append((sequence, black, game, before[2], before[3], after[2], after[3]))
            scores[white].setdefault(black, [0, 0, 0])[_COLUMNS[result]] += 1
            score = white, black, result
            first = half.pop(pairing, None)
            if first is None:
                half[pairing] = score
            elif key := pair_key(first, score):
                counts = self.pairs[key.one_id]
                counts[key] = counts.get(key, 0) + 1
        return events


_NUMBERS = ("mu_before", "sigma_before", "mu_after", "sigma_after")


def _players() -> dict[int, Player]:
    rows = BotVersion.objects.order_by().values_list("pk", "bot__name", "number")
    return {pk: (name, number) for pk, name, number in rows}


def _played_in(
    ladders: Sequence[str], records: Iterable[Record | RecordError], corrections: Corrections
) -> dict[str, list[_Row]]:
    """The rated games of records by ladder; ids come from the database, results from the records alone."""
    versions = {player: pk for pk, player in _players().items()}
    played: dict[str, list[_Row]] = {ladder: [] for ladder in ladders}
    games = rated_games(ladders, records, corrections)
    while chunk := list(islice(games, 500)):
        recorded = Game.objects.filter(key__in=[key for _, key, _ in chunk], sequence__isnull=False)
        columns = recorded.values_list("ladder_id", "key", "sequence", "id", "pairing_id")
        rows = {(ladder, key): (sequence or 0, *ids) for ladder, key, sequence, *ids in columns}
        for ladder, key, (white, black, result) in chunk:
            for player in (white, black):
                if player not in versions:
                    raise RebuildError(f"game {key!r}: the site has no {player[0]!r} version {player[1]}")
            if (ladder, key) not in rows:
                raise RebuildError(f"game {key!r}: the site has recorded no such game of {ladder!r}")
            sequence, game, pairing = rows[ladder, key]
            if played[ladder] and sequence <= played[ladder][-1][0]:
                raise RebuildError(
                    f"game {key!r}: the records are not in the order in which games were rated"
                )
            played[ladder].append((sequence, game, pairing, versions[white], versions[black], str(result)))
    return played


def rated_games(
    ladders: Container[str],
    records: Iterable[Record | RecordError],
    corrections: Corrections = MappingProxyType({}),
) -> Iterator[tuple[str, str, RatedGame]]:
    """The rated games of these ladders, each with its ladder and key, from records and corrections alone.

    Raises ``RebuildError`` at the first record that cannot be read or rated.
    """
    for record in records:
        if isinstance(record, RecordError):
            raise RebuildError(str(record))
        ladder = record.header("Game")
        if ladder in ladders and _is_rated(record, corrections):
            yield ladder, record.header("GameId"), read_rated_game(record)


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
