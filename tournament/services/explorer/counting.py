"""Counts the moves of recorded games for the explorer, in the background of the record keeper.

New games are added in their completion sequence. After a change of ratings or annulments the results of all
moves are counted again from ``ExplorerVisit``, which does not change. A killed count continues: each
transaction leaves tables that agree with ``ExplorerProgress``. One process at a time may count.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import F, Q, QuerySet

from engines.records import read_moves
from engines.rules.base import RulesError, Side
from engines.visits import PLIES, visits
from tournament import access
from tournament.models import (
    ExplorerMove,
    ExplorerProgress,
    ExplorerVisit,
    Game,
    GameRecord,
    InboxReport,
    Ladder,
    RatingEvent,
)
from tournament.services.bulk import add_counts, delete_rows, insert_rows
from tournament.services.explorer.positions import position_number, ranges

BATCH: Final = 100
"""Games that are added in one transaction."""
RANGE_ROWS: Final = 20_000
"""The visits that are counted again in one transaction, about."""
AT_ONCE: Final = 1_000
"""Values in the condition of one query."""
BAND: Final = 10
"""The width of a band of ratings: band 2 has those from 20 to 30."""
TOP_BAND: Final = 3
"""Has all ratings above it too."""
BUSY_PAUSE: Final = 3
"""While reports wait, so many times the time of a batch is left to the record keeper after it."""
_COLUMNS = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}
_T = TypeVar("_T")

Row = tuple[int, str, int]
"""A visit: position, move, sequence."""

log = logging.getLogger("tournament.explorer")


class Fact(NamedTuple):
    """What is counted of a game."""

    column: int
    """The column of its result: White's win, a draw, a loss."""
    band: int
    white: int
    """White's rating before the game, in hundredths; 0 if the game is not rated."""
    black: int


def is_behind() -> bool:
    """Whether a ladder has games that are not counted, or counts that are out of date."""
    return _behind().exists()


def catch_up() -> None:
    """Count what is missing, ladder by ladder, until ratings wait for their rebuild. May be repeated."""
    for code in _behind().values_list("pk", flat=True):
        try:
            if not ExplorerProgress.objects.filter(pk=code).exists():
                _begin(code)
            _recount_if_changed(code)
            while _may_go_on() and _add_games(code):
                pass
        except Exception:  # the other ladders go on; the next call tries again
            log.exception("the moves of %s cannot be counted", code)


def _may_go_on() -> bool:
    """Whether no ratings are out of date, which come first."""
    return not Ladder.objects.outdated().exists()


def begin_again(ladder: str) -> None:
    """Have all games of the ladder counted from the first one, by the next ``catch_up``."""
    ExplorerProgress.objects.filter(pk=ladder).delete()


def _behind() -> QuerySet[Ladder]:
    """An outdated ladder waits for the rebuild of its ratings."""
    changed = ~Q(explorer__revision=F("rated_revision")) | Q(explorer__revision=None)
    current = Ladder.objects.filter(revision=F("rated_revision"))
    return current.filter(changed | Q(sequence__gt=F("explorer__until"))).order_by("code")


def _begin(ladder: str) -> None:
    last = Ladder.objects.values_list("sequence", flat=True).get(pk=ladder)
    for numbers in _ranges(ladder, last):
        delete_rows(ExplorerVisit.objects.filter(position__range=numbers))
        delete_rows(ExplorerMove.objects.filter(position__range=numbers))
    ExplorerProgress.objects.create(pk=ladder)


def _ranges(ladder: str, games: int) -> Iterator[tuple[int, int]]:
    """Ranges of positions that have about ``RANGE_ROWS`` visits of so many games."""
    return ranges(ladder, games * PLIES // RANGE_ROWS + 1)


def count_visits(ladder: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The values of ``ExplorerMove`` for these visits alone, of one position."""
    games = sorted({row[2] for row in rows})
    return _count(rows, _read_facts(ladder, sequence__in=games), {row[0] for row in rows})


# New games


def _add_games(code: str) -> bool:
    """Add the next games; whether there may be more."""
    begun = time.monotonic()
    until = ExplorerProgress.objects.values_list("until", flat=True).filter(pk=code).first()
    last = Ladder.objects.values_list("sequence", flat=True).get(pk=code)
    if until is None or until >= last:
        return False
    last = min(until + BATCH, last)
    rows = sorted(_read_visits(code, until, last))
    facts = _read_facts(code, sequence__gt=until, sequence__lte=last)
    counts = _new_counts(code, rows, facts)
    with transaction.atomic():
        if not ExplorerProgress.objects.filter(pk=code, until=until).update(until=last):
            return False
        insert_rows(ExplorerVisit, ({"position": p, "move": m, "sequence": s} for p, m, s in rows))
        add_counts(ExplorerMove, counts, ("position", "move", "band"))
    _make_way(begun)
    return True


def _make_way(begun: float) -> None:
    """Leave time to the record keeper, if it has something to do."""
    if InboxReport.objects.exists():
        time.sleep(BUSY_PAUSE * (time.monotonic() - begun))


def _read_visits(code: str, until: int, last: int) -> Iterator[Row]:
    """The visits of the games after ``until``, up to ``last``; validations count nowhere."""
    records = GameRecord.objects.filter(
        game__ladder=code,
        game__sequence__gt=until,
        game__sequence__lte=last,
    ).filter(access.counted_games("game__tournament__"))
    for sequence, text in records.values_list("game__sequence", "text"):
        try:
            found = list(visits(*read_moves(text)))
        except RulesError as error:  # a record of other rules
            log.warning("game %s of %s is not counted: %s", sequence, code, error)
            continue
        for form, side, move in found:
            yield position_number(code, form, side), move, sequence or 0  # recorded games have one


def _new_counts(code: str, rows: Sequence[Row], facts: Mapping[int, Fact]) -> list[dict[str, Any]]:
    """What is to be added to the counts; a position that is reached for the second time is counted whole."""
    kept, alone = set[int](), list[Row]()
    for some in in_chunks(sorted({row[0] for row in rows})):
        moves = ExplorerMove.objects.filter(position__in=some).order_by().distinct()
        kept.update(moves.values_list("position", flat=True))
    for some in in_chunks(sorted({row[0] for row in rows} - kept)):
        alone += ExplorerVisit.objects.filter(position__in=some).values_list("position", "move", "sequence")
    known = dict(facts)
    for games in in_chunks(sorted({row[2] for row in alone})):
        known |= _read_facts(code, sequence__in=games)
    return _count(rows, known, kept, alone)


# Counting again


def _recount_if_changed(code: str) -> None:
    revision = Ladder.objects.values_list("rated_revision", flat=True).get(pk=code)
    progress = ExplorerProgress.objects.filter(pk=code).first()
    if progress is None or progress.revision == revision:
        return
    if not progress.until or _recount(code, progress.until):
        unchanged = ExplorerProgress.objects.filter(pk=code, rebuilds=progress.rebuilds)
        unchanged.update(revision=revision)


def _recount(code: str, until: int) -> bool:
    """Count all moves again; False if it ended early."""
    facts = _read_facts(code, sequence__lte=until)
    for numbers in _ranges(code, until):
        begun = time.monotonic()
        if not _may_go_on():
            return False
        visited = ExplorerVisit.objects.filter(position__range=numbers)
        counts = _count(list(visited.values_list("position", "move", "sequence")), facts)
        with transaction.atomic():
            delete_rows(ExplorerMove.objects.filter(position__range=numbers))
            insert_rows(ExplorerMove, counts)
        _make_way(begun)
    return True


# Both


def _read_facts(code: str, **which: Any) -> dict[int, Fact]:
    """The games of the ladder that count, by their sequence."""
    counted = Game.objects.filter(ladder=code, annulled=False, result__isnull=False, **which)
    counted = counted.filter(access.counted_games("tournament__"))
    ratings = {
        (sequence, version): round(100 * (mu - 3 * sigma))
        for sequence, version, mu, sigma in RatingEvent.objects.filter(ladder=code, **which).values_list(
            "sequence", "version_id", "mu_before", "sigma_before"
        )
    }
    facts: dict[int, Fact] = {}
    columns: Any = counted.values_list("sequence", "result", "white_id", "black_id")
    for sequence, result, white, black in columns:
        both = ratings.get((sequence, white)), ratings.get((sequence, black))
        facts[sequence] = _fact(_COLUMNS[result], *both)
    return facts


def _fact(column: int, white: int | None, black: int | None) -> Fact:
    if white is None or black is None:
        return Fact(column, ExplorerMove.UNRATED, 0, 0)
    band = max(0, min(TOP_BAND, (white + black) // (200 * BAND)))
    return Fact(column, band, white, black)


def _count(
    rows: Sequence[Row],
    facts: Mapping[int, Fact],
    kept: Iterable[int] = (),
    alone: Sequence[Row] = (),
) -> list[dict[str, Any]]:
    """The results of ``rows`` by position, move and band.

    Left out are positions that fewer than two games reached: neither ``kept``, which more games have reached,
    nor twice among ``rows`` and ``alone``. The visits of ``alone`` are counted with the first others.
    """
    counted = [row for row in rows if row[2] in facts]
    before = [row for row in alone if row[2] in facts]
    reached = Counter(row[0] for row in chain(counted, before))
    reached.update(dict.fromkeys(kept, 1))
    counts: dict[tuple[int, str, int], list[int]] = {}
    for position, move, sequence in chain(counted, before):
        if reached[position] > 1:
            fact = facts[sequence]
            row = counts.setdefault((position, move, fact.band), [0, 0, 0, 0])
            row[fact.column] += 1
            row[3] += fact.black if position & 1 == Side.BLACK else fact.white
    columns = ("position", "move", "band", "wins", "draws", "losses", "ratings")
    return [dict(zip(columns, (*key, *row), strict=True)) for key, row in sorted(counts.items())]


def in_chunks(values: Sequence[_T]) -> Iterator[list[_T]]:
    """At most ``AT_ONCE`` of the values at a time, for the condition of a query."""
    source = iter(values)
    while some := list(islice(source, AT_ONCE)):
        yield some
