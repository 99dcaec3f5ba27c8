"""Results as they are stored: each once, for its game's current attempt, with all that it changes.

A message holds the games that ended since the last one, and the statements that store one game store a
hundred: what a result costs is mostly the making of statements.
"""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models.functions import Coalesce

from engines.records import Fault, Record, clean_text, format_record
from engines.rules.registry import find_game
from engines.visible import visible, visible_lines
from tournament.models import Attempt, Game, GameLog, GameRecord, Ladder, LiveGame, Tournament
from tournament.ratings import fingerprint
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.finishing import count_finished
from tournament.services.forfeits import count_forfeits
from tournament.services.ratings import RatedRow, player_of, rate
from tournament.services.records import parse_time, without_rating
from workers.jobs import GameReport

MAX_WORKER = 120
MAX_LOG = 256 * 1024
"""Characters of each log that are kept: both ends."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A report that agrees with the schedule and the rules, with the record that will be published."""

    attempt: Attempt
    """With its game, the game's players, tournament and pairing."""
    report: GameReport
    record: Record
    text: str
    """The record as PGN."""

    @property
    def game(self) -> Game:
        return self.attempt.game


@dataclass(frozen=True, slots=True)
class _Entry:
    """An arrival with what is decided as it is stored."""

    arrival: Arrival
    sequence: int
    mark: str
    rated: bool


@transaction.atomic
def store_all(arrivals: Sequence[Arrival], now: datetime.datetime) -> dict[int, int]:
    """Store the results, of one game at most one; returns completion sequences by the games' ids.

    A game that is missing there has another attempt by now, or none: its result came too late.
    """
    ladders = {
        ladder.pk: ladder for ladder in _locked(Ladder, {arrival.game.ladder_id for arrival in arrivals})
    }
    _locked(Tournament, {arrival.game.tournament_id for arrival in arrivals})
    entries = _enter(_still_wanted(arrivals), ladders)
    if not entries:
        return {}
    _store_results(entries)
    _store_records(entries)
    store_logs((entry.arrival.game, entry.arrival.report) for entry in entries)
    _close(entries, now)
    for code in sorted(ladders):
        mine = [entry for entry in entries if entry.arrival.game.ladder_id == code]
        if mine:
            Ladder.objects.filter(pk=code).update(sequence=mine[-1].sequence)
            rate(code, [_rated_row(entry) for entry in mine if entry.rated])
    count_forfeits((entry.arrival.game, Fault(entry.arrival.report.fault)) for entry in entries)
    for tournament, games in Counter(entry.arrival.game.tournament_id for entry in entries).items():
        count_finished(tournament, games)
    return {entry.arrival.game.pk: entry.sequence for entry in entries}


def store_logs(told: Iterable[tuple[Game, GameReport]]) -> None:
    """Keep what both engines of each game said."""
    rows = (
        {
            "game_id": game.pk,
            "side": side.value,
            "stderr": visible_lines(log.stderr, MAX_LOG),
            "lines": visible_lines(log.lines, MAX_LOG),
        }
        for game, report in told
        for side, log in ((GameLog.Side.WHITE, report.white), (GameLog.Side.BLACK, report.black))
    )
    insert_rows(GameLog, rows)


def may_be_rated(game: Game) -> bool:
    """Not validations, unrated tournaments, one owner's bots; exact repeats show when they are stored."""
    tournament = game.tournament
    if not tournament.rated or tournament.kind == Tournament.Kind.VALIDATION:
        return False
    white, black = game.white.bot, game.black.bot
    return white.pk != black.pk and (white.owner_id is None or white.owner_id != black.owner_id)


def _locked(model: Any, keys: set[Any]) -> list[Any]:
    """The rows, locked in an order that all keep to."""
    return list(model.objects.select_for_update().filter(pk__in=keys).order_by("pk"))


def _still_wanted(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Those whose game waits for just this attempt; whoever changes that takes the tournament's lock."""
    claimed = Game.objects.filter(pk__in=[arrival.game.pk for arrival in arrivals], state=Game.State.CLAIMED)
    attempts = dict(claimed.values_list("pk", "attempt"))
    return [arrival for arrival in arrivals if attempts.get(arrival.game.pk) == arrival.attempt.pk]


def _enter(arrivals: Sequence[Arrival], ladders: dict[str, Ladder]) -> list[_Entry]:
    """Completion sequences in the order of arrival; of games that repeat each other the first is rated."""
    marks = [_fingerprint(arrival) for arrival in arrivals]
    known = Game.objects.filter(ladder_id__in=ladders, fingerprint__in=marks, rated=True)
    seen = set(known.values_list("ladder_id", "fingerprint"))
    sequences = {code: ladder.sequence for code, ladder in ladders.items()}
    entries = []
    for arrival, mark in zip(arrivals, marks, strict=True):
        code = arrival.game.ladder_id
        sequences[code] += 1
        rated = may_be_rated(arrival.game) and (code, mark) not in seen
        if rated:
            seen.add((code, mark))
        entries.append(_Entry(arrival, sequences[code], mark, rated))
    return entries


def _fingerprint(arrival: Arrival) -> str:
    game = arrival.game
    start = game.pairing.fen or str(find_game(game.ladder_id).position.initial())
    moves = (token for token, _ in arrival.report.moves)
    return fingerprint(player_of(game.white), player_of(game.black), start, moves)


def _store_results(entries: Sequence[_Entry]) -> None:
    """By one statement for all: to have Django make it anew for each game costs more than to execute it."""
    rows = [(_result_of(entry), _condition_of(entry)) for entry in entries]
    if (stored := update_rows(Game, rows, also="result IS NULL")) != len(entries):
        raise DatabaseError(f"{stored} of {len(entries)} results could be stored, all is undone")


def _condition_of(entry: _Entry) -> dict[str, Any]:
    attempt = entry.arrival.attempt
    return {"id": attempt.game_id, "attempt": attempt.pk, "state": Game.State.CLAIMED}


def _result_of(entry: _Entry) -> dict[str, Any]:
    """The columns of a game that its end sets, in an order of their own."""
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
    }


def _store_records(entries: Sequence[_Entry]) -> None:
    rows = ({"game_id": entry.arrival.game.pk, "text": _published(entry)} for entry in entries)
    insert_rows(GameRecord, rows)


def _published(entry: _Entry) -> str:
    """The record, which says so where a game that might have been rated repeats another."""
    arrival = entry.arrival
    if may_be_rated(arrival.game) and not entry.rated:
        return format_record(without_rating(arrival.record))
    return arrival.text


def _close(entries: Sequence[_Entry], now: datetime.datetime) -> None:
    """The attempts ended with a result; nobody watches these games any more."""
    attempts: dict[str, list[Any]] = defaultdict(list)
    for entry in entries:
        attempts[visible(entry.arrival.report.worker, MAX_WORKER)].append(entry.arrival.attempt.pk)
    for worker, ended in attempts.items():
        Attempt.objects.filter(pk__in=ended).update(
            worker=worker, started_at=Coalesce("started_at", now), ended_at=now, end=Attempt.End.RECORDED
        )
    LiveGame.objects.filter(game__in=[entry.arrival.game.pk for entry in entries]).delete()


def _rated_row(entry: _Entry) -> RatedRow:
    return RatedRow.of(entry.arrival.game, entry.sequence, entry.arrival.report.result)
