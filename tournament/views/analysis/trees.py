"""What an analysis board shows: a tree of moves from a start position, from an address, a form or a record.

A tree with an illegal move is refused with a sentence that names it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict

from engines.records import (
    MoveTree,
    Record,
    RecordError,
    TreeMove,
    check_rules_version,
    clean_text,
    compact_tree,
    format_analysis,
    format_headers,
    parse_analysis,
    played_headers,
    replay_tree,
    shorten_notes,
)
from engines.records.reader import SUFFIXES
from engines.rules.base import Position, RulesError
from engines.rules.registry import Variant, find_game
from tournament.models.analyses import MAX_TITLE
from tournament.sentences import as_sentence
from tournament.views.paging import is_whole

MAX_MOVES = 1000
"""The most moves of a line; no game has so many plies by default."""
MAX_ADDRESS = 4000
"""Characters of a query: proxies take 8,000 bytes of an address."""
MAX_TEXT = 100_000
"""Characters of a text that is sent, imported or saved."""
_MARKS = {glyph: mark for mark, glyph in SUFFIXES.items()}
_POSITION = re.compile(r"\s*[^\s\[({;]*/")
"""How a position string begins, and neither a record nor its moves."""


class BadLine(Exception):
    """A position, a move or a record that cannot be shown; the text is a sentence for users."""


@dataclass(frozen=True, slots=True)
class Line:
    """Moves from a start position, and all positions on the way."""

    game: Variant
    moves: tuple[str, ...]
    positions: tuple[Position, ...]

    @classmethod
    def of(cls, game: Variant, start: Position, moves: Sequence[str]) -> Line:
        """The line of these moves; raises ``IllegalMove``."""
        positions = [start]
        for token in moves:
            positions.append(positions[-1].play(token))
        return cls(game, tuple(moves), tuple(positions))

    @property
    def position(self) -> Position:
        return self.positions[-1]


def read_line(game: Variant, start: str, moves: str) -> Line:
    """The line of these moves from a position string, or from the start; raises ``BadLine``."""
    tokens = moves.split()
    if len(tokens) > MAX_MOVES:
        raise BadLine(f"moves: {len(tokens)} are too many, a line holds {MAX_MOVES}.")
    try:
        position: Position = game.position.parse(start) if start else game.position.initial()
        return Line.of(game, position, tokens)
    except RulesError as error:
        raise BadLine(as_sentence(str(error))) from None


class ListedMove(NamedTuple):
    """A move of the list with its number in the tree; ``label`` is the number of its round."""

    number: int
    label: str
    move: TreeMove

    @property
    def marks(self) -> str:
        """Its glyphs, as ``!?``; those without such a spelling as ``$14``."""
        return " ".join(_MARKS.get(glyph, glyph) for glyph in self.move.glyphs)


class Segment(NamedTuple):
    """Moves without a variation between them; ``begins`` says whether they begin one."""

    depth: int
    begins: bool
    moves: list[ListedMove]


@dataclass(frozen=True, slots=True)
class ShownTree:
    """``start`` is empty for the position of the game; ``at`` is the number of the move that is shown."""

    game: Variant
    start: str
    tree: MoveTree
    positions: tuple[Position, ...]
    at: int
    played: tuple[tuple[str, str], ...] = ()
    """The headers of the game that the tree came from."""

    @property
    def headers(self) -> str:
        """``played`` as it stands in an address."""
        return format_headers(self.played)

    @property
    def event(self) -> str:
        """The event of that game, for a title; empty if it is not known."""
        return clean_text(dict(self.played).get("Event", ""), MAX_TITLE)

    @property
    def players(self) -> str:
        """Who played the game that the tree came from, and its result; empty if nobody is known."""
        told = dict(self.played)
        if not told.keys() & {"White", "Black"}:
            return ""
        return f"{told.get('White', '?')} – {told.get('Black', '?')} {told.get('Result', '')}".rstrip()

    @property
    def line(self) -> Line:
        """The moves up to the one that is shown."""
        numbers = [0, *self.tree.path(self.at)]
        return Line(
            self.game, self.tree.moves_to(self.at), tuple(self.positions[number] for number in numbers)
        )

    @property
    def current(self) -> TreeMove | None:
        """The move that is shown; None at the start."""
        return self.tree.moves[self.at - 1] if self.at else None

    @property
    def is_main(self) -> bool:
        """Whether the move that is shown is one of the main line; the start is."""
        return not self.at or self.at in self.tree.main_line()

    @property
    def moves(self) -> str:
        """The tree as it stands in an address."""
        return compact_tree(self.tree)

    def segments(self) -> list[Segment]:
        found: list[Segment] = []
        for number, depth, begins, label in self.tree.steps(self.positions[0].side is not self.game.first):
            if begins or not found or found[-1].depth != depth:
                found.append(Segment(depth, begins, []))
            found[-1].moves.append(ListedMove(number, label, self.tree.moves[number - 1]))
        return found

    def record(self, title: str = "") -> str:
        return format_analysis(self.tree, self.game, self.positions[0], title, self.played)


def show_tree(
    game: Variant,
    start: str,
    tree: MoveTree,
    at: int | None = None,
    played: tuple[tuple[str, str], ...] = (),
) -> ShownTree:
    """The tree at a move, None for the end of the main line; raises ``BadLine``."""
    if max(tree.plies()) > MAX_MOVES:
        raise BadLine(f"A line has more than {MAX_MOVES:,} moves, which is the most.")
    try:
        position: Position = game.position.parse(start) if start else game.position.initial()
        positions = tuple(replay_tree(tree, position, game.first))
    except (RulesError, RecordError) as error:
        raise BadLine(as_sentence(str(error))) from None
    last = (tree.main_line() or [0])[-1]
    return ShownTree(game, start, tree, positions, last if at is None else at, played)


def read_tree(values: QueryDict, game: Variant, record: str = "") -> ShownTree:
    """The tree of an address or a form; without moves that of ``record``. Raises ``BadLine``."""
    if record and "moves" not in values:
        read, tree = _parse(record)
        start = read.header("FEN")
    else:
        read, tree = _parse("\n".join(filter(None, map(values.get, ("headers", "moves")))))
        start = values.get("position", "")
    at = values.get("at", "")
    number = int(at) if is_whole(at, len(tree.moves)) else None
    return show_tree(game, start, tree, number, played_headers(read))


def read_import(text: str, shown: ShownTree) -> ShownTree:
    """The tree of a record, or of moves from the same start, or a position; raises ``BadLine``.

    The ladder is that of the record.
    """
    if not text.strip():
        raise BadLine("There is nothing to import: paste a record, moves or a position.")
    if _POSITION.match(text):
        start, _, moves = text.strip().partition(" moves ")
        return show_tree(shown.game, start, _parse(moves)[1])
    record, tree = _parse(text)
    tree, played = shorten_notes(tree), played_headers(record)
    if not record.headers:
        return show_tree(shown.game, shown.start, tree, played=played)
    try:
        game = find_game(record.header("Game", shown.game.code))
    except RulesError as error:
        raise BadLine(as_sentence(str(error))) from None
    return show_tree(game, record.header("FEN"), tree, played=played)


def _parse(text: str) -> tuple[Record, MoveTree]:
    if len(text) > MAX_TEXT:
        raise BadLine(f"The text has {len(text):,} characters; {MAX_TEXT:,} are allowed.")
    try:
        record, tree = parse_analysis(text)
        check_rules_version(record)
    except (RecordError, RulesError) as error:
        raise BadLine(as_sentence(str(error))) from None
    return record, tree


def set_comment(shown: ShownTree, values: QueryDict) -> ShownTree:
    """The tree with the comment of a form, which belongs to the move that is shown; raises ``BadLine``."""
    if not shown.at or "comment" not in values:
        return shown
    try:
        return replace(shown, tree=shown.tree.comment(shown.at, values.get("comment", "")))
    except RecordError as error:
        raise BadLine(as_sentence(str(error))) from None


def change_tree(shown: ShownTree, values: QueryDict) -> ShownTree:
    """The tree after what a form asks for; raises ``BadLine``."""
    shown = set_comment(shown, values)
    tree, at, action = shown.tree, shown.at, values.get("action", "")
    if action == "import":
        return read_import(values.get("record", ""), shown)
    if at and action == "delete":
        tree, at = tree.delete(at)
    elif at and action == "promote":
        tree, at = tree.promote(at)
    elif is_whole(wanted := values.get("go", ""), len(tree.moves)):
        at = int(wanted)
    played = [] if action else list(filter(None, values.getlist("play")))
    try:
        for token in played[:1]:
            tree, at = tree.play(at, token.strip())
    except RecordError as error:
        raise BadLine(as_sentence(str(error))) from None
    return show_tree(shown.game, shown.start, tree, at, shown.played)


def tree_query(shown: ShownTree, **more: str | int) -> str | None:
    """The query of the tree, without the move that is shown; None if it is too long for an address."""
    values = {"position": shown.start, "headers": shown.headers, "moves": shown.moves, **more}
    query = urlencode({name: value for name, value in values.items() if value or name in more})
    return query if len(query) <= MAX_ADDRESS else None


def analysis_query(
    start: str,
    tokens: Sequence[str],
    positions: Sequence[Position],
    ply: int,
    *,
    notes: Sequence[str] = (),
    played: Sequence[tuple[str, str]] = (),
) -> str:
    """The query for a line at a ply, with a note after each move and the headers of its game.

    If that is too long for an address, without the notes, or for the position alone.
    """
    noted = [f"{token} {{{note}}}" if note else token for token, note in zip(tokens, notes, strict=False)]
    for moves in (noted or tokens, tokens):
        values = {"position": start, "headers": format_headers(played), "moves": " ".join(moves)}
        at = {"at": ply} if tokens else {}
        query = urlencode({name: value for name, value in values.items() if value} | at)
        if len(query) <= MAX_ADDRESS:
            return query
    return urlencode({"position": str(positions[ply])})
