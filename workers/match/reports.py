"""The reports of a match while it is played: plain lines, a table on a terminal, or JSON events."""

from __future__ import annotations

import enum
import json
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from engines.console import format_duration
from workers.match.game_logs import evidence_lines, game_sentence
from workers.match.ledger import Ledger
from workers.match.results import TableRow, format_table, remarks, share
from workers.match.slots.messages import SlotGame

TABLE_SECONDS = 60.0
"""The interval between tables in plain lines."""
REFRESH_SECONDS = 1.0
"""The interval between updates of a terminal."""
BAR_CELLS = 20
"""The width of the bar that shows on a terminal how much is played."""
ENOUGH_GAMES = 5
"""No time is estimated from fewer games."""


class MatchEnding(enum.StrEnum):
    """Why a match has ended."""

    PLAYED = "played"
    DECIDED = "decided"
    STOPPED = "stopped"
    FAULT = "fault"
    REFUSED = "refused"
    """An engine does not take an option that was set, and the match is strict."""


class _Report:
    """Prints the events of a match, in order. ``slots`` games are played at a time."""

    def __init__(self, ledger: Ledger, slots: int = 1, out: TextIO | None = None) -> None:
        self._ledger = ledger
        self._slots = slots
        self._out = sys.stdout if out is None else out

    def tick(self) -> None:
        """Called at least once a second."""
        self._out.flush()

    def _print(self, *lines: str, now: bool = True) -> None:
        """Print, if not ``now`` with the next ``tick``, because there may be many short games at once."""
        self._out.write("".join(f"{line}\n" for line in lines))
        if now:
            self._out.flush()


class LineReport(_Report):
    """One line a game; the table every minute, or after ``every`` games if that is not 0, and at the end."""

    every = 0

    def started(self) -> None:
        self._begun, self._done_before = time.monotonic(), self._ledger.done
        self._table_at = self._begun + TABLE_SECONDS
        before = f", {self._done_before} of them already played" if self._done_before else ""
        self._print(f"{self._ledger.total} games{before}")

    def game(self, played: SlotGame) -> None:
        self._print(f"{_count(self._ledger)}  {game_sentence(played.game)}", now=False)
        if played.game.has_fault:
            self._print(*evidence_lines(played))
        if self.every and self._ledger.done % self.every == 0:
            self._print_table()

    def notice(self, kind: str, sentence: str) -> None:
        """An unusual event; ``kind`` is a word for programs."""
        self._print(sentence)

    def tick(self) -> None:
        if not self.every and time.monotonic() >= self._table_at:
            self._print_table()
        super().tick()

    def _print_table(self) -> None:
        self._table_at = time.monotonic() + TABLE_SECONDS
        self._print("", *_table_lines(self._ledger), self._progress(), "")

    def _progress(self) -> str:
        ledger, seconds = self._ledger, time.monotonic() - self._begun
        left = remaining_seconds(
            seconds, ledger.done - self._done_before, ledger.left, ledger.running, self._slots
        )
        about = "at most about" if ledger.test else "about"
        rest = "" if left is None else f", {about} {format_duration(left)} left"
        return f"{_count(ledger)} games, {ledger.running} running or next{rest}"

    def ended(self, ending: MatchEnding) -> None:
        self._print("", *_table_lines(self._ledger), "", *_summary(self._ledger, ending))


class ScreenReport(LineReport):
    """For a terminal: the table and the progress stay at the bottom, faults and notices scroll above them.

    If there is no room for all tables, only the last one is shown, which is for all ladders together.
    """

    _shown = 0
    """The lines at the bottom."""
    _refresh_at = 0.0

    def _progress(self) -> str:
        done = BAR_CELLS * self._ledger.done // max(1, self._ledger.total)
        return f"[{'#' * done}{'.' * (BAR_CELLS - done)}] {super()._progress()}"

    def game(self, played: SlotGame) -> None:
        if played.game.has_fault:
            self.notice("fault", "\n".join((game_sentence(played.game), *evidence_lines(played))))

    def notice(self, kind: str, sentence: str) -> None:
        self._wipe()
        self._print(sentence)
        self._draw()

    def tick(self) -> None:
        if time.monotonic() >= self._refresh_at:
            self._wipe()
            self._draw()

    def ended(self, ending: MatchEnding) -> None:
        self._wipe()
        super().ended(ending)

    def _wipe(self) -> None:
        if self._shown:
            self._out.write(f"\x1b[{self._shown}F\x1b[J")
            self._shown = 0

    def _draw(self) -> None:
        self._refresh_at = time.monotonic() + REFRESH_SECONDS
        room = shutil.get_terminal_size().lines - 2  # the progress line and the cursor line
        lines = list(_table_lines(self._ledger))
        if len(lines) > room:
            lines = list(_table_lines(self._ledger, only_all=True))
        lines = [*lines[:room], self._progress()]
        self._shown = len(lines)
        # Long lines are cut instead of wrapped, so that _wipe removes exactly what was drawn.
        self._out.write("\x1b[?7l")
        self._print(*lines)
        self._out.write("\x1b[?7h")


class EventReport(_Report):
    """One JSON object a line, each with the key ``event``."""

    def started(self) -> None:
        self._event("started", games=self._ledger.total, played=self._ledger.done)

    def game(self, played: SlotGame) -> None:
        game = played.game
        self._event(
            "game",
            now=False,
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

    def ended(self, ending: MatchEnding) -> None:
        ledger = self._ledger
        for ladders in _tables(ledger):
            rows = ledger.rows(ladders)
            notes = list(remarks(ledger.scores, ladders, rows))
            copies = sum(ledger.scores.copies[ladder] for ladder in ladders)
            values = [_row_values(rank, row) for rank, row in enumerate(rows, 1)]
            self._event("table", games=ladders, rows=values, copies=copies, remarks=notes)
        if (test := ledger.test) is not None:
            self._event(
                "sprt",
                llr=test.ratio,
                lower=test.lower,
                upper=test.upper,
                verdict=test.verdict,
                pairs=test.counts.cells,
            )
        self._event(
            "ended",
            why=ending,
            played=ledger.done,
            games=ledger.total,
            left_out=ledger.left_out,
            halted=ledger.halted,
            withdrawn=ledger.withdrawn,
            event_lines=ledger.event_lines,
        )

    def _event(self, event: str, *, now: bool = True, **values: Any) -> None:
        self._print(json.dumps({"event": event, **values}, ensure_ascii=False), now=now)


MatchReport = LineReport | EventReport


def _row_values(rank: int, row: TableRow) -> dict[str, Any]:
    found = row.interval
    games = row.games
    return {
        "rank": rank,
        "name": row.name,
        "wins": games.wins,
        "draws": games.draws,
        "losses": games.losses,
        "points": row.points,
        "elo": found.elo,
        "error": (found.high - found.low) / 2,
        "low": found.low,
        "high": found.high,
        "los": found.los,
        "pairs": row.pairs.cells,
        "white": share(row.white),
        "forfeits": row.forfeits,
        "withdrawn": row.is_withdrawn,
    }


def _tables(ledger: Ledger) -> list[tuple[str, ...]]:
    """The ladders of each table: one table for each ladder, and one for all if there are several."""
    ladders = ledger.terms.ladders
    return [(code,) for code in ladders] + ([ladders] if len(ladders) > 1 else [])


def _table_lines(ledger: Ledger, *, only_all: bool = False) -> Iterator[str]:
    """Every table, or only the one for all ladders; then the state of the test."""
    for ladders in _tables(ledger)[-1 if only_all else 0 :]:
        yield " + ".join(ladders)
        rows = ledger.rows(ladders)
        yield from format_table(rows)
        yield from remarks(ledger.scores, ladders, rows)
    if (test := ledger.test) is not None:
        pairs = "-".join(map(str, test.counts.cells))
        yield f"LLR {test.ratio:.2f} of {test.lower:.2f} to {test.upper:.2f}, from the pairs {pairs}"


def remaining_seconds(seconds: float, games: int, left: int, running: int, slots: int) -> float | None:
    """Seconds until ``left`` more games are played, ``running`` of them started; None while unknown.

    ``games`` were played in the ``seconds`` so far. A running game counts as half played. Without that the
    estimate would be too low at first, because short games end first.
    """
    if games < max(ENOUGH_GAMES, 2 * slots):
        return None
    return seconds * max(left - running / 2, 0) / (games + running / 2)


def _count(ledger: Ledger) -> str:
    return f"{ledger.done:{len(str(ledger.total))}}/{ledger.total}"


def _summary(ledger: Ledger, ending: MatchEnding) -> Iterator[str]:
    if ledger.test is not None:
        yield f"The test {'accepts ' + ledger.test.verdict if ledger.test.verdict else 'is undecided'}."
    yield from ledger.event_lines
    for key, why in ledger.halted.items():
        yield f"Game {key} was given up: {why}"
    if ledger.left_out:
        yield f"{ledger.left_out} games were left out: {', '.join(ledger.withdrawn)} withdrawn."
    if ending in (MatchEnding.STOPPED, MatchEnding.FAULT, MatchEnding.REFUSED):
        yield f"Stopped after {ledger.done} of {ledger.total} games; continue with -resume."
