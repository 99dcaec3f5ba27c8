"""What a match tells of itself while it is played: plain lines, a table kept up to date, or JSON events."""

from __future__ import annotations

import enum
import json
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any, Protocol, TextIO

from engines.console import format_duration
from workers.match.ledger import Ledger
from workers.match.output.game_logs import evidence_lines, game_sentence
from workers.match.output.table import TableRow, format_table, rank_rows, share
from workers.match.pace import MatchPace
from workers.match.results import GameResult
from workers.match.slots.messages import SlotGame

TABLE_SECONDS = 60.0
"""Between tables in plain lines."""
REFRESH_SECONDS = 1.0
"""Between pictures on a terminal."""


class MatchEnding(enum.StrEnum):
    """Why a match is over."""

    PLAYED = "played"
    DECIDED = "decided"
    STOPPED = "stopped"
    FAULT = "fault"


class MatchReport(Protocol):
    """Told of everything, in order."""

    def started(self, ledger: Ledger, pace: MatchPace) -> None: ...

    def game(self, game: GameResult, told: SlotGame) -> None: ...

    def notice(self, kind: str, sentence: str) -> None:
        """Something out of the ordinary; ``kind`` is a word for programs."""

    def tick(self) -> None:
        """Called at least once a second."""

    def ended(self, ending: MatchEnding) -> None: ...


class _Teller:
    """What all reports keep in mind."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = sys.stdout if out is None else out

    def started(self, ledger: Ledger, pace: MatchPace) -> None:
        self._ledger, self._pace = ledger, pace

    def tick(self) -> None:
        self._out.flush()

    def _say(self, *lines: str) -> None:
        self._note(*lines)
        self._out.flush()

    def _note(self, *lines: str) -> None:
        """Say it with the next tick: quick games come by the dozen."""
        self._out.write("".join(f"{line}\n" for line in lines))


class LineReport(_Teller):
    """A line a game; the table now and then, and at the end."""

    def started(self, ledger: Ledger, pace: MatchPace) -> None:
        super().started(ledger, pace)
        self._table_at = time.monotonic() + TABLE_SECONDS
        before = f", {ledger.done} of them before" if ledger.done else ""
        self._say(f"{ledger.total} games{before}")

    def game(self, game: GameResult, told: SlotGame) -> None:
        self._note(f"{_count(self._ledger)}  {game_sentence(game)}")
        if game.has_fault:
            self._say(*evidence_lines(game, told))

    def notice(self, kind: str, sentence: str) -> None:
        self._say(sentence)

    def tick(self) -> None:
        if time.monotonic() >= self._table_at:
            self._table_at = time.monotonic() + TABLE_SECONDS
            self._say("", *_picture(self._ledger), _progress(self._ledger, self._pace), "")
        super().tick()

    def ended(self, ending: MatchEnding) -> None:
        self._say("", *_picture(self._ledger), "", *_last_words(self._ledger, ending))


class ScreenReport(LineReport):
    """On a terminal: the table and the progress stay at the bottom, faults and notices scroll by above.

    Of several tables the last, which is of all ladders, has to do where not all have room.
    """

    def __init__(self, out: TextIO | None = None) -> None:
        super().__init__(out)
        self._shown = 0
        self._refresh_at = 0.0

    def game(self, game: GameResult, told: SlotGame) -> None:
        if game.has_fault:
            self.notice("fault", "\n".join((game_sentence(game), *evidence_lines(game, told))))

    def notice(self, kind: str, sentence: str) -> None:
        self._wipe()
        self._say(sentence)
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
        room = shutil.get_terminal_size().lines - 2  # the progress, and the line of the cursor
        lines = list(_picture(self._ledger))
        if len(lines) > room:
            lines = list(_picture(self._ledger, only_all=True))
        lines = [*lines[:room], _progress(self._ledger, self._pace)]
        self._shown = len(lines)
        self._out.write("\x1b[?7l")  # a line too long is cut, not wrapped: what is wiped is what was drawn
        self._say(*lines)
        self._out.write("\x1b[?7h")


class EventReport(_Teller):
    """A JSON object a line, each with the word ``event``."""

    def started(self, ledger: Ledger, pace: MatchPace) -> None:
        super().started(ledger, pace)
        self._tell("started", games=ledger.total, played=ledger.done)

    def game(self, game: GameResult, told: SlotGame) -> None:
        self._note_event(
            "game",
            id=game.key,
            game=game.ladder,
            white=game.white,
            black=game.black,
            result=game.result,
            termination=game.termination,
            fault=game.fault,
            evidence=list(evidence_lines(game, told)) if game.has_fault else [],
            played=self._ledger.done,
            games=self._ledger.total,
        )

    def notice(self, kind: str, sentence: str) -> None:
        self._tell(kind, text=sentence)

    def ended(self, ending: MatchEnding) -> None:
        ledger = self._ledger
        for ladders in _tables(ledger):
            rows = rank_rows(ledger.scores, ladders, ledger.withdrawn)
            self._tell("table", games=ladders, rows=list(map(_row_values, rows)))
        if ledger.test is not None:
            test = ledger.test
            self._tell(
                "sprt",
                llr=test.ratio,
                lower=test.lower,
                upper=test.upper,
                verdict=test.verdict,
                pairs=test.counts.cells,
            )
        self._tell(
            "ended",
            why=ending,
            played=ledger.done,
            games=ledger.total,
            left_out=ledger.left_out,
            halted=ledger.halted,
            withdrawn=ledger.withdrawn,
        )

    def _tell(self, event: str, **values: Any) -> None:
        self._note_event(event, **values)
        self._out.flush()

    def _note_event(self, event: str, **values: Any) -> None:
        self._note(json.dumps({"event": event, **values}, ensure_ascii=False))


def _row_values(row: TableRow) -> dict[str, Any]:
    found = row.estimate
    games = row.games
    return {
        "rank": row.rank,
        "name": row.name,
        "wins": games.wins,
        "draws": games.draws,
        "losses": games.losses,
        "elo": found.elo,
        "error": found.error,
        "los": found.los,
        "pairs": row.pairs.cells,
        "white": share(row.white),
        "forfeits": row.forfeits,
        "withdrawn": row.is_withdrawn,
    }


def _tables(ledger: Ledger) -> list[tuple[str, ...]]:
    """Which ladders each table is of: each alone, and all together."""
    ladders = ledger.terms.ladders
    return [(code,) for code in ladders] + ([ladders] if len(ladders) > 1 else [])


def _picture(ledger: Ledger, *, only_all: bool = False) -> Iterator[str]:
    """Every table, or only that of all ladders together."""
    for ladders in _tables(ledger)[-1 if only_all else 0 :]:
        yield " + ".join(ladders)
        yield from format_table(rank_rows(ledger.scores, ladders, ledger.withdrawn))
    if ledger.test is not None:
        test = ledger.test
        pairs = "-".join(map(str, test.counts.cells))
        yield f"LLR {test.ratio:.2f} of {test.lower:.2f} to {test.upper:.2f}, from the pairs {pairs}"


def _progress(ledger: Ledger, pace: MatchPace) -> str:
    seconds = pace.remaining(time.monotonic(), ledger.left, ledger.running)
    doubt = "at most about" if ledger.test else "about"
    rest = "" if seconds is None else f", {doubt} {format_duration(seconds)} left"
    return f"{_count(ledger)} games, {ledger.running} under way or next{rest}"


def _count(ledger: Ledger) -> str:
    return f"{ledger.done:{len(str(ledger.total))}}/{ledger.total}"


def _last_words(ledger: Ledger, ending: MatchEnding) -> Iterator[str]:
    if ledger.test is not None:
        yield f"The test {'accepts ' + ledger.test.verdict if ledger.test.verdict else 'is undecided'}."
    for key, why in ledger.halted.items():
        yield f"Game {key} was given up: {why}"
    if ledger.left_out:
        yield f"{ledger.left_out} games were left out: {', '.join(ledger.withdrawn)} withdrawn."
    if ending in (MatchEnding.STOPPED, MatchEnding.FAULT):
        yield f"Stopped after {ledger.done} of {ledger.total} games; -resume goes on."
