"""Annuls recorded games, and takes annulments back: one game, or all games of a worker in a period.

The records stay as published; ``results.corrections`` publishes which games count otherwise. Games are not
replayed, rounds that are paired stay, and so does the end of a tournament. Standings are correct at once; the
ratings of the ladders follow when the record keeper has rebuilt them (``results.recomputing``), and those of
large tournaments when it has stored them (``schedule.own_ratings``).
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from tournament.models import Correction, Game, Ladder, Tournament, WorkerName
from tournament.models.games import GameQuerySet
from tournament.services.bulk import insert_rows
from tournament.services.fair_share import of_work
from tournament.services.locks import lock, lock_tournaments
from tournament.services.schedule.meetings import rescored
from tournament.services.version_tests.progress import recount
from workers.jobs import Work

CHUNK = 500
"""Games of one transaction, so that no other writer waits for long."""
Effect = Correction.Effect


@dataclass(frozen=True, slots=True)
class Selection:
    """Which games: one, or those of a worker that ended in a period, from ``since`` until before ``until``.

    Times are those that the games' pages show; None is no limit.
    """

    game: Game | None = None
    worker: WorkerName | None = None
    since: datetime.datetime | None = None
    until: datetime.datetime | None = None

    def __str__(self) -> str:
        if self.game is not None:
            return f"game {self.game.key}"
        times = [("from", self.since), ("until", self.until)]
        period = "".join(f" {word} {time:%Y-%m-%d %H:%M} UTC" for word, time in times if time)
        return f"the games of worker {self.worker}{period}"

    def games(self) -> GameQuerySet:
        """The recorded games, without validations, which count nowhere."""
        games = Game.objects.filter(sequence__isnull=False)
        games = games.filter(of_work(Work.GAMES, "tournament__"))
        if self.game is not None:
            return games.filter(pk=self.game.pk)
        games = games.filter(played_by=self.worker)
        if self.since:
            games = games.filter(finished_at__gte=self.since)
        return games.filter(finished_at__lt=self.until) if self.until else games

    def to_annul(self) -> GameQuerySet:
        return self.games().filter(annulled=False)

    def to_count_again(self) -> GameQuerySet:
        return self.games().filter(annulled=True)


def annul(games: GameQuerySet, reason: str, now: datetime.datetime) -> int:
    """Annul those of ``games`` that are not yet; returns how many.

    In several transactions: after a kill some are annulled, and a repeated call annuls the others.
    """

    def store(rows: Sequence[_GameRow]) -> None:
        Correction.objects.filter(pk__in=[row.pk for row in rows]).delete()
        columns = {"effect": Effect.ANNULLED, "reason": reason, "at": now}
        insert_rows(Correction, ({"game_id": row.pk, "was_rated": row.was_rated, **columns} for row in rows))
        Game.objects.filter(pk__in=[row.pk for row in rows]).update(annulled=True, rated=False)

    return _change(games, annulled=False, store=store, now=now)


def count_again(games: GameQuerySet, now: datetime.datetime) -> int:
    """Let those of ``games`` count again that are annulled; returns how many. It may be repeated."""

    def store(rows: Sequence[_GameRow]) -> None:
        for rated in (True, False):
            mine = [row.pk for row in rows if row.was_rated == rated]
            Game.objects.filter(pk__in=mine).update(annulled=False, rated=rated)
        Correction.objects.filter(pk__in=[row.pk for row in rows]).delete()

    return _change(games, annulled=True, store=store, now=now)


@dataclass(frozen=True, slots=True)
class _GameRow:
    """A game with what decides whether it is rated."""

    pk: int
    key: str
    ladder: str
    tournament: int
    mark: str
    """Its fingerprint."""
    annulled: bool
    rated: bool
    was_rated: bool
    """Whether its record says that it is rated."""
    in_rated_tournament: bool
    """Whether its tournament is rated on its ladder."""


def _rows(games: GameQuerySet) -> list[_GameRow]:
    """In the order of completion."""
    columns = ("pk", "key", "ladder_id", "tournament_id", "fingerprint", "annulled", "rated")
    rows: Any = list(games.order_by("sequence").values_list(*columns, "correction__was_rated"))
    terms = ("ladders", "rated", "rated_off_terms", "off_terms")
    events = Tournament.objects.only(*terms).in_bulk({row[3] for row in rows})
    return [_row(events[row[3]].rates_on(row[2]), *row) for row in rows]


def _row(is_rated: bool, *values: Any) -> _GameRow:
    pk, key, ladder, tournament, mark, annulled, rated, was_rated = values
    return _GameRow(
        pk=pk,
        key=key,
        ladder=ladder,
        tournament=tournament,
        mark=mark,
        annulled=annulled,
        rated=rated,
        was_rated=rated if was_rated is None else was_rated,
        in_rated_tournament=is_rated,
    )


def _change(
    games: GameQuerySet,
    *,
    annulled: bool,
    store: Callable[[Sequence[_GameRow]], None],
    now: datetime.datetime,
) -> int:
    """Change the games whose ``annulled`` has this value, a chunk a transaction; returns how many."""
    changed = last = 0
    recorded = games.filter(sequence__isnull=False, annulled=annulled)
    waiting = recorded.order_by("pk").values_list("pk", flat=True)
    while pks := list(waiting.filter(pk__gt=last)[:CHUNK]):
        last = pks[-1]
        changed += _change_chunk(pks, annulled, store, now)
    return changed


@transaction.atomic
def _change_chunk(
    pks: list[int], annulled: bool, store: Callable[[Sequence[_GameRow]], None], now: datetime.datetime
) -> int:
    chosen = Game.objects.filter(pk__in=pks, annulled=annulled)
    ladders = sorted(set(chosen.values_list("ladder_id", flat=True)))
    # Locked in the order in which the record keeper locks them.
    lock(Ladder.objects.filter(pk__in=ladders))
    events = lock_tournaments(_tournaments_with_repeats(pks))
    rows = _rows(chosen.all())
    revised = {row.tournament for row in rows}
    with rescored(Game.objects.filter(pk__in=pks)):
        store(rows)
    for code in ladders:
        revised |= _settle_repeats(code, {row.mark for row in rows if row.ladder == code} - {""}, now)
    Ladder.objects.filter(pk__in=ladders).update(revision=F("revision") + 1)
    Tournament.objects.filter(pk__in=revised).update(revision=F("revision") + 1)
    for event in events:
        if event.pk in revised and event.format.is_sequential:
            recount(event.pk)
    return len(rows)


def _tournaments_with_repeats(pks: Sequence[int]) -> list[int]:
    """Those of these games, and of the games that they repeat or that repeat them."""
    games = Game.objects.filter(pk__in=pks)
    repeated = Game.objects.filter(
        fingerprint__in=games.exclude(fingerprint="").values("fingerprint"), ladder__in=games.values("ladder")
    )
    of_both = games.values_list("tournament_id").union(repeated.values_list("tournament_id"))
    return sorted(pk for (pk,) in of_both)


# Repeated games


def _settle_repeats(ladder: str, marks: Iterable[str], now: datetime.datetime) -> set[int]:
    """Rate the first game that counts of those that repeat each other, and no other of them.

    Returns the tournaments of the games that are rated or not since; they may be others.
    """
    groups: dict[str, list[_GameRow]] = defaultdict(list)
    for row in _rows(Game.objects.filter(ladder_id=ladder, fingerprint__in=list(marks))):
        groups[row.mark].append(row)
    changed = [change for group in groups.values() for change in _settled(group)]
    for rated in (True, False):
        pks = [row.pk for row, wanted, _ in changed if wanted == rated]
        Game.objects.filter(pk__in=pks).update(rated=rated)
    Correction.objects.filter(pk__in=[row.pk for row, _, _ in changed]).delete()
    insert_rows(
        Correction,
        (
            {
                "game_id": row.pk,
                "was_rated": row.was_rated,
                "effect": Effect.RATED if wanted else Effect.UNRATED,
                "reason": reason,
                "at": now,
            }
            for row, wanted, reason in changed
            if wanted != row.was_rated
        ),
    )
    return {row.tournament for row, *_ in changed}


def _settled(group: Sequence[_GameRow]) -> Iterator[tuple[_GameRow, bool, str]]:
    """The games whose rating changes: whether they are rated now, and why."""
    # If one of them was rated, bots of one owner are not the reason why another was not.
    may_be = any(row.was_rated for row in group)
    first = next(
        (
            row
            for row in group
            if not row.annulled and (row.was_rated or (may_be and row.in_rated_tournament))
        ),
        None,
    )
    for row in group:
        wanted = row is first
        if row.annulled or wanted == row.rated:
            continue
        other = next((one for one in group if one.annulled), None) if wanted else first
        state = "is annulled" if wanted else "counts"
        yield row, wanted, f"It repeats game {other.key}, which {state}." if other else ""
