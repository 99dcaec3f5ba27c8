"""The replay of a game ply by ply, for recorded, running and waiting games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from engines.records import MoveNote, Record, format_note, format_score, parse_note, read_records
from engines.records import RecordMove as Move
from engines.rules.base import IllegalMove, Position, PositionError, Side
from engines.rules.registry import Variant, find_game
from engines.timecontrol import TimeControl
from tournament import models
from tournament.arithmetic.mistakes import Mistake

_NO_NOTE = MoveNote()
_CACHED_RECORDS = 32
"""A record of 400 plies takes 40 KB with its positions; a key held down requests it ten times a second."""


@dataclass(frozen=True, slots=True)
class ShownMove:
    """One move of the list; ``ply`` counts from 1 at the record's start position."""

    ply: int
    side: Side
    token: str
    note: MoveNote
    book: bool
    mark: str = ""
    """The mark of a mistake, by an analysis."""

    @property
    def assessed(self) -> str:
        """The score alone."""
        return format_score(self.note.score)

    @property
    def counted(self) -> str:
        """The number of nodes."""
        return "" if self.note.nodes is None else f"{self.note.nodes:,}"

    @property
    def timed(self) -> str:
        """The time of the move."""
        return "" if self.note.ms is None else f"{format_seconds(self.note.ms)} s"

    @property
    def assessment(self) -> str:
        """Score and depth, as ``+0.42/12``."""
        return format_note(MoveNote(score=self.note.score, depth=self.note.depth))

    @property
    def brief(self) -> str:
        """Score, depth and time, as shown beside a move in the list."""
        score = self.assessment
        return " ".join(part for part in (score, self.timed) if part)

    @property
    def details(self) -> str:
        """Score, depth, time and nodes as text; see ``Replay.line`` for the expected line."""
        if self.book:
            return "a given move of the opening"
        note = self.note
        parts = (
            format_score(note.score),
            f"depth {note.depth}" if note.depth is not None else "",
            f"{note.ms / 1000:.3f} s" if note.ms is not None else "",
            f"{note.nodes:,} node{'s' * (note.nodes != 1)}" if note.nodes is not None else "",
        )
        return " · ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class BoardStep:
    """A position and the move from ``before`` to it; at the start, None and an empty move."""

    token: str
    before: Position | None
    after: Position


@dataclass(frozen=True, slots=True)
class MoveRow:
    """One line of the move list: the moves of both players, None for a player without one."""

    number: int
    moves: tuple[ShownMove | None, ShownMove | None]


@dataclass(frozen=True, slots=True)
class Replay:
    """``positions[n]`` is the board after n moves, so there is one more position than moves."""

    rules: Variant
    moves: tuple[ShownMove, ...]
    positions: tuple[Position, ...]
    mistakes: Mapping[int, Mistake] = field(default_factory=dict)
    """The mistakes by ply, if the game is analysed."""

    @property
    def plies(self) -> int:
        return len(self.moves)

    def step(self, ply: int) -> BoardStep:
        """The position after ``ply`` moves, which must not be more than there are."""
        if not ply:
            return BoardStep("", None, self.positions[0])
        return BoardStep(self.moves[ply - 1].token, self.positions[ply - 1], self.positions[ply])

    def line(self, ply: int) -> tuple[BoardStep, ...]:
        """The line that the engine expected when it chose the move of ``ply`` (from 1), that move included.

        It ends before a move that is not legal.
        """
        return self._follow(ply, self.moves[ply - 1].note.pv if ply else ())

    def better(self, ply: int) -> tuple[BoardStep, ...]:
        """The line that was better than the move of ``ply``, if that was a mistake; as ``line``."""
        return self._follow(ply, self.mistakes[ply].line if ply in self.mistakes else ())

    def _follow(self, ply: int, tokens: Sequence[str]) -> tuple[BoardStep, ...]:
        position, found = self.positions[max(0, ply - 1)], []
        for token in tokens:
            before = position
            try:
                position = position.play(token)
            except IllegalMove:
                break
            found.append(BoardStep(token, before, position))
        return tuple(found)

    @property
    def opening_plies(self) -> int:
        return sum(move.book for move in self.moves)

    def rows(self, since: int = 0) -> list[MoveRow]:
        """The rows with a move after ply ``since``.

        If the second player moves first, the list begins with a gap, as in records.
        """
        cells: list[ShownMove | None] = list(self.moves)
        if cells and self.positions[0].side is not self.rules.first:
            cells.insert(0, None)
        if len(cells) % 2:
            cells.append(None)
        rows = [MoveRow(at // 2 + 1, (cells[at], cells[at + 1])) for at in range(0, len(cells), 2)]
        return [row for row in rows if any(move is not None and move.ply > since for move in row.moves)]

    def clocks(self, ply: int, control: TimeControl) -> dict[Side, str]:
        """The text of each clock after ``ply`` moves; the time of the last move if the game has no clock."""
        if control.base_ms is None:
            return {side: self._last_time(side, ply) for side in Side}
        left = dict.fromkeys(Side, control.base_ms)
        for move in self.moves[:ply]:
            if move.note.ms is not None:
                left[move.side] = max(0, left[move.side] - move.note.ms) + control.increment_ms
        return {side: format_clock(ms) for side, ms in left.items()}

    def last_move(self, side: Side, ply: int) -> ShownMove | None:
        """The latest of the first ``ply`` moves that ``side`` made; None if there is none."""
        return next((move for move in reversed(self.moves[:ply]) if move.side is side), None)

    def reports(self, ply: int) -> dict[Side, str]:
        """Score and depth of each engine's latest move as of ``ply``; empty for one that reported none."""
        moves = {side: self.last_move(side, ply) for side in Side}
        return {side: move.assessment if move else "" for side, move in moves.items()}

    def _last_time(self, side: Side, ply: int) -> str:
        last = self.last_move(side, ply)
        return "" if last is None or last.note.ms is None else f"{format_seconds(last.note.ms)} s"


def replay_of(game: models.Game, record: str | None, live: models.LiveGame | None) -> Replay:
    """The game as far as known: from its record, else from the worker's last progress, else its opening."""
    if record is not None:
        return _recorded(game.ladder_id, record)
    rules = find_game(game.ladder_id)
    if live is not None:
        moves = [Move(token, parse_note(comment), book=comment == "book") for token, comment in live.moves]
    else:
        moves = [Move(token, book=True) for token in game.pairing.opening_moves]
    return build_replay(rules, game.pairing.fen, moves)


@lru_cache(maxsize=_CACHED_RECORDS)
def _recorded(code: str, text: str) -> Replay:
    """Cached by the record's text, which never changes."""
    record = next(iter(read_records(text.splitlines(keepends=True), "record")))
    rules = find_game(code)
    if not isinstance(record, Record):
        return build_replay(rules, "", [])
    return build_replay(rules, record.header("FEN"), record.moves)


def build_replay(rules: Variant, fen: str, moves: Iterable[Move]) -> Replay:
    """Play the moves; stops before one that is not legal. Raises nothing."""
    try:
        position = rules.position.parse(fen) if fen else rules.position.initial()
    except PositionError:
        position = rules.position.initial()
    shown: list[ShownMove] = []
    positions = [position]
    for ply, move in enumerate(moves, start=1):
        side = position.side
        try:
            position = position.play(move.token)
        except IllegalMove:
            break
        shown.append(ShownMove(ply, side, move.token, move.note or _NO_NOTE, move.book))
        positions.append(position)
    return Replay(rules, tuple(shown), tuple(positions))


def format_clock(ms: int) -> str:
    """``1:02:03``, ``4:05``, under twenty seconds ``0:07.4``; always rounded down."""
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    tenths = f".{rest // 100}" if ms < 20_000 else ""
    return f"{minutes}:{seconds:02}{tenths}"


def format_seconds(ms: int) -> str:
    """Two or three significant digits: ``0.004``, ``0.25``, ``3.1``, ``42``."""
    if ms < 100:
        return f"{ms / 1000:.3f}"
    if ms < 1000:
        return f"{ms / 1000:.2f}"
    return f"{ms / 1000:.1f}" if ms < 20_000 else str(ms // 1000)
