"""The reports of a match while it is played: plain lines, or JSON events."""

from __future__ import annotations

import enum
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from workers.match.ledger import Ledger
from workers.match.output.game_logs import evidence_lines, game_sentence
from workers.match.output.table import TableRow, format_table, rank_rows, remarks, share
from workers.match.slots.messages import SlotGame

TABLE_SECONDS = 60.0
"""The interval between tables in plain lines."""


class MatchEnding(enum.StrEnum):
    """Why a match has ended."""

    PLAYED = "played"
    DECIDED = "decided"
    STOPPED = "stopped"
    FAULT = "fault"


class MatchReport:
    """Prints the events of a match: one line a game; the table every minute, and at the end."""

    def __init__(self, ledger: Ledger, out: TextIO | None = None) -> None:
        self._ledger = ledger
        self._out = sys.stdout if out is None else out
        self._table_at = time.monotonic() + TABLE_SECONDS

    def started(self) -> None:
        before = f", {self._ledger.done} of them already played" if self._ledger.done else ""
        self._print(f"{self._ledger.total} games{before}")

    def game(self, played: SlotGame) -> None:
        self._print(f"{_count(self._ledger)}  {game_sentence(played.game)}")
        if played.game.has_fault:
            self._print(*evidence_lines(played))

    def notice(self, kind: str, sentence: str) -> None:
        """Report an unusual event; ``kind`` is a word for programs."""
        self._print(sentence)
        self._out.flush()

    def tick(self) -> None:
        """Print what is due; called at least once a second, because there may be many short games at once."""
        if time.monotonic() >= self._table_at:
            self._table_at = time.monotonic() + TABLE_SECONDS
            progress = f"{_count(self._ledger)} games, {self._ledger.running} running or next"
            self._print("", *_table_lines(self._ledger), progress, "")
        self._out.flush()

    def ended(self, ending: MatchEnding) -> None:
        self._print("", *_table_lines(self._ledger), "", *_summary(self._ledger, ending))
        self._out.flush()

    def _print(self, *lines: str) -> None:
        self._out.write("".join(f"{line}\n" for line in lines))


class EventReport(MatchReport):
    """One JSON object a line, each with the key ``event``."""

    def started(self) -> None:
        self._event("started", games=self._ledger.total, played=self._ledger.done)

    def game(self, played: SlotGame) -> None:
        game = played.game
        self._event(
            "game",
            id=game.key,
            game=game.ladder,
            white=game.white,
            black=game.black,
            result=game.result,
            termination=game.termination,
            fault=game.fault,
            evidence=list(evidence_lines(played)) if game.has_fault else [],
            played=self._ledger.done,
            games=self._ledger.total,
        )

    def notice(self, kind: str, sentence: str) -> None:
        self._event(kind, text=sentence)
        self._out.flush()

    def tick(self) -> None:
        self._out.flush()

    def ended(self, ending: MatchEnding) -> None:
        ledger = self._ledger
        for ladders in _tables(ledger):
            rows = rank_rows(ledger.scores, ladders)
            notes = list(remarks(ledger.scores, ladders, rows))
            copies = sum(ledger.scores.copies[ladder] for ladder in ladders)
            values = [_row_values(rank, row) for rank, row in enumerate(rows, 1)]
            self._event("table", games=ladders, rows=values, copies=copies, remarks=notes)
        if ledger.test is not None:
            test = ledger.test
            self._event(
                "sprt",
                llr=test.ratio,
                lower=test.lower,
                upper=test.upper,
                verdict=test.verdict,
                pairs=test.counts.cells,
            )
        self._event("ended", why=ending, played=ledger.done, games=ledger.total, halted=ledger.halted)
        self._out.flush()

    def _event(self, event: str, **values: Any) -> None:
        self._print(json.dumps({"event": event, **values}, ensure_ascii=False))


def _row_values(rank: int, row: TableRow) -> dict[str, Any]:
    found = row.interval
    games = row.games
    return {
        "rank": rank,
        "name": row.name,
        "wins": games.wins,
        "draws": games.draws,
        "losses": games.losses,
        "elo": found.elo,
        "error": (found.high - found.low) / 2,
        "low": found.low,
        "high": found.high,
        "los": found.los,
        "pairs": row.pairs.cells,
        "white": share(row.white),
        "forfeits": row.forfeits,
    }


def _tables(ledger: Ledger) -> list[tuple[str, ...]]:
    """The ladders of each table: one table for each ladder, and one for all if there are several."""
    ladders = ledger.terms.ladders
    return [(code,) for code in ladders] + ([ladders] if len(ladders) > 1 else [])


def _table_lines(ledger: Ledger) -> Iterator[str]:
    """Every table, then the state of the test."""
    for ladders in _tables(ledger):
        yield " + ".join(ladders)
        rows = rank_rows(ledger.scores, ladders)
        yield from format_table(rows)
        yield from remarks(ledger.scores, ladders, rows)
    if ledger.test is not None:
        test = ledger.test
        pairs = "-".join(map(str, test.counts.cells))
        yield f"LLR {test.ratio:.2f} of {test.lower:.2f} to {test.upper:.2f}, from the pairs {pairs}"


def _count(ledger: Ledger) -> str:
    return f"{ledger.done:{len(str(ledger.total))}}/{ledger.total}"


def _summary(ledger: Ledger, ending: MatchEnding) -> Iterator[str]:
    if ledger.test is not None:
        yield f"The test {'accepts ' + ledger.test.verdict if ledger.test.verdict else 'is undecided'}."
    if ledger.swiss is not None:
        yield from ledger.swiss.lines()
    for key, why in ledger.halted.items():
        yield f"Game {key} was given up: {why}"
    if ending in (MatchEnding.STOPPED, MatchEnding.FAULT):
        yield f"Stopped after {ledger.done} of {ledger.total} games; continue with -resume."
