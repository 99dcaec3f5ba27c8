"""Stores results: each once, for its game's current attempt, with everything that it changes.

Storing many games takes as many statements as storing one: building the statements is most of the cost.
"""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models.functions import Coalesce

from engines.arithmetic.ratings import fingerprint
from engines.records import clean_text, format_record
from engines.rules.registry import find_game
from engines.visible import visible, visible_lines
from tournament.formats.base import GameEffect
from tournament.models import (
    Attempt,
    EventCount,
    Game,
    GameLog,
    GameRecord,
    InboxReport,
    Ladder,
    LiveGame,
    WorkerName,
)
from tournament.models.compressed import compress_text, is_kept_long, pack_log
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.event_counts import count_event
from tournament.services.locks import hold, lock, lock_tournaments
from tournament.services.results.effects import Arrival, RecordedGame, carry_out
from tournament.services.results.ratings import player_of
from tournament.services.results.records import as_repeat, parse_time
from tournament.services.results.seats import store_seats
from workers.jobs import GameReport, name_of

MAX_WORKER = 120
MAX_LOG = 256 * 1024
"""Characters kept of each log: its beginning and its end."""


@transaction.atomic
def store_all(arrivals: Sequence[Arrival], now: datetime.datetime) -> dict[int, int]:
    """Store results, at most one for each game; returns completion sequences by game id.

    Their reports leave the inbox.
    A game that is missing in the answer has another attempt by now, or none: its result came too late.
    """
    codes = {arrival.game.ladder_id for arrival in arrivals}
    ladders = {ladder.pk: ladder for ladder in lock(Ladder.objects.filter(pk__in=codes))}
    lock_tournaments({arrival.game.tournament_id for arrival in arrivals})
    InboxReport.objects.filter(attempt__in=[arrival.attempt.pk for arrival in arrivals]).delete()
    wanted = _still_wanted(arrivals)
    if not wanted:
        return {}
    entries = _enter(wanted, ladders)
    _store_results(entries)
    store_seats(entry.arrival.attempt.game_id for entry in entries)
    _store_records(entries)
    store_logs(((entry.arrival.game, entry.arrival.report) for entry in entries), now)
    _close(entries, now)
    carry_out(entries, now)
    of_site = (entry.arrival for entry in entries if not entry.arrival.game.tournament.own_workers)
    for termination, games in Counter(arrival.report.termination for arrival in of_site).items():
        count_event(EventCount.Kind.GAME, termination, games)
    return {entry.arrival.game.pk: entry.sequence for entry in entries}


def store_logs(reports: Iterable[tuple[Game, GameReport]], now: datetime.datetime) -> None:
    """Store the logs of both engines of each game."""
    rows = (
        {
            "game_id": game.pk,
            "side": side.value,
            "content": pack_log(visible_lines(log.stderr, MAX_LOG), visible_lines(log.lines, MAX_LOG)),
            "kept_long": is_kept_long(report.fault, game.tournament),
            "stored_at": now,
        }
        for game, report in reports
        for side, log in ((GameLog.Side.WHITE, report.white), (GameLog.Side.BLACK, report.black))
    )
    insert_rows(GameLog, rows)


def _still_wanted(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Arrivals whose attempt is still the game's current one; the tournament's lock keeps it unchanged."""
    claimed = Game.objects.filter(pk__in=[arrival.game.pk for arrival in arrivals], state=Game.State.CLAIMED)
    attempts = dict(claimed.values_list("pk", "attempt"))
    return [arrival for arrival in arrivals if attempts.get(arrival.game.pk) == arrival.attempt.pk]


def _enter(arrivals: Sequence[Arrival], ladders: dict[str, Ladder]) -> list[RecordedGame]:
    """Assign completion sequences in the order of arrival; of identical games only the first is rated."""
    marks = [_fingerprint(arrival) for arrival in arrivals]
    known = Game.objects.filter(ladder_id__in=ladders, fingerprint__in=marks, rated=True)
    seen = set(known.values_list("ladder_id", "fingerprint"))
    entries = []
    for arrival, mark in zip(arrivals, marks, strict=True):
        ladder = arrival.game.ladder = ladders[arrival.game.ladder_id]
        ladder.sequence += 1
        repeats = {GameEffect.RATINGS} if (ladder.pk, mark) in seen else set()
        entry = RecordedGame(arrival, ladder.sequence, mark, arrival.effects - repeats)
        if entry.rated:
            seen.add((ladder.pk, mark))
        entries.append(entry)
    for ladder in ladders.values():
        ladder.save(update_fields=["sequence"])
    return entries


def _fingerprint(arrival: Arrival) -> str:
    game = arrival.game
    start = game.pairing.fen or str(find_game(game.ladder_id).position.initial())
    moves = (token for token, _ in arrival.report.moves)
    return fingerprint(player_of(game.white), player_of(game.black), start, moves)


def _store_results(entries: Sequence[RecordedGame]) -> None:
    """One statement for all: building it for each game through Django costs more than executing it."""
    workers = WorkerName.objects.ids(_worker_of(entry) for entry in entries)
    rows = [(_result_of(entry, workers[_worker_of(entry)]), _condition_of(entry)) for entry in entries]
    if (stored := update_rows(Game, rows, also="result IS NULL")) != len(entries):
        raise DatabaseError(f"{stored} of {len(entries)} results could be stored, all is undone")


def _condition_of(entry: RecordedGame) -> dict[str, Any]:
    attempt = entry.arrival.attempt
    return {"id": attempt.game_id, "attempt": attempt.pk, "state": Game.State.CLAIMED}


def _worker_of(entry: RecordedGame) -> str:
    return visible(name_of(entry.arrival.report.worker), MAX_WORKER)


def _result_of(entry: RecordedGame, worker: int) -> dict[str, Any]:
    """The columns that the end of a game sets, always in the same order."""
    report = entry.arrival.report
    return {
        "state": Game.State.DONE,
        "result": str(report.result),
        "termination": report.termination,
        "reason": str(report.reason),
        "fault": report.fault,
        "evidence": clean_text(report.evidence),
        "white_score": report.white_score,
        "black_score": report.black_score,
        "plies": len(report.moves),
        "sequence": entry.sequence,
        "rated": entry.rated,
        "fingerprint": entry.mark,
        "started_at": parse_time(report.started),
        "finished_at": parse_time(report.finished),
        "played_by": worker,
    }


def _store_records(entries: Sequence[RecordedGame]) -> None:
    rows = ({"game_id": entry.arrival.game.pk, "text": compress_text(_published(entry))} for entry in entries)
    insert_rows(GameRecord, rows)


def _published(entry: RecordedGame) -> str:
    """The record; marked as unrated if the game repeats another and would have been rated otherwise."""
    arrival = entry.arrival
    if GameEffect.RATINGS in arrival.effects and not entry.rated:
        return format_record(as_repeat(arrival.record))
    return arrival.text


def _close(entries: Sequence[RecordedGame], now: datetime.datetime) -> None:
    """End the attempts with a result and delete the live games."""
    hold(Attempt.objects.filter(pk__in=[entry.arrival.attempt.pk for entry in entries]))
    attempts: dict[str, list[Any]] = defaultdict(list)
    for entry in entries:
        attempts[visible(entry.arrival.report.worker, MAX_WORKER)].append(entry.arrival.attempt.pk)
    for worker, ended in attempts.items():
        Attempt.objects.filter(pk__in=ended).update(
            worker=worker, started_at=Coalesce("started_at", now), ended_at=now, end=Attempt.End.RECORDED
        )
    LiveGame.objects.filter(game__in=[entry.arrival.game.pk for entry in entries]).delete()
