"""What an analysis board shows: a tree of moves from a start position, from an address, a form or a record.

A tree with an illegal move is refused with a sentence that names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict

from engines.records import (
    BOOK,
    MoveTree,
    RecordError,
    TreeMove,
    check_rules_version,
    compact_tree,
    format_analysis,
    parse_analysis,
    parse_note,
    replay_tree,
)
from engines.rules.base import Position, RulesError
from engines.rules.registry import Variant, find_game
from tournament.sentences import as_sentence
from tournament.views.paging import is_whole

MOST_MOVES = 1000
"""Of a line; no game has so many plies by default."""
MOST_ADDRESS = 4000
"""Characters of a query: proxies take 8,000 bytes of an address."""
MOST_TEXT = 100_000
"""Characters of a text that is sent, imported or saved."""
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


class ListedMove(NamedTuple):
    """A move of the list with its number in the tree; ``label`` is the number of its round."""

    number: int
    label: str
    move: TreeMove


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

    @property
    def line(self) -> Line:
        """The moves up to the one that is shown."""
        numbers = [0, *self.tree.path(self.at)]
        return Line(self.game, self.tree.line(self.at), tuple(self.positions[number] for number in numbers))

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
        return format_analysis(self.tree, self.game, self.positions[0], title)


def show_tree(game: Variant, start: str, tree: MoveTree, at: int | None = None) -> ShownTree:
    """The tree at a move, None for the end of the main line; raises ``BadLine``."""
    if max(tree.plies()) > MOST_MOVES:
        raise BadLine(f"A line has more than {MOST_MOVES:,} moves, which is the most.")
    try:
        position: Position = game.position.parse(start) if start else game.position.initial()
        positions = tuple(replay_tree(tree, position, game.first))
    except (RulesError, RecordError) as error:
        raise BadLine(as_sentence(str(error))) from None
    last = (tree.main_line() or [0])[-1]
    return ShownTree(game, start, tree, positions, last if at is None else at)


def read_tree(values: QueryDict, game: Variant, record: str = "") -> ShownTree:
    """The tree of an address or a form; without moves that of ``record``. Raises ``BadLine``."""
    if record and "moves" not in values:
        headers, tree = _parse(record)
        start = headers.get("FEN", "")
    else:
        _, tree = _parse(values.get("moves", ""))
        start = values.get("position", "")
    at = values.get("at", "")
    return show_tree(game, start, tree, int(at) if is_whole(at, len(tree.moves)) else None)


def read_import(text: str, shown: ShownTree) -> ShownTree:
    """The tree of a record, or of moves from the same start, or a position; raises ``BadLine``.

    The ladder is that of the record.
    """
    if not text.strip():
        raise BadLine("There is nothing to import: paste a record, moves or a position.")
    if _POSITION.match(text):
        start, _, moves = text.strip().partition(" moves ")
        return show_tree(shown.game, start, _parse(moves)[1])
    headers, tree = _parse(text)
    if not headers:
        return show_tree(shown.game, shown.start, tree)
    try:
        game = find_game(headers.get("Game", shown.game.code))
    except RulesError as error:
        raise BadLine(as_sentence(str(error))) from None
    return show_tree(game, headers.get("FEN", ""), tree)


def _parse(text: str) -> tuple[Mapping[str, str], MoveTree]:
    if len(text) > MOST_TEXT:
        raise BadLine(f"The text has {len(text):,} characters; {MOST_TEXT:,} are allowed.")
    try:
        record, tree = parse_analysis(text)
        check_rules_version(record)
    except (RecordError, RulesError) as error:
        raise BadLine(as_sentence(str(error))) from None
    return dict(record.headers), _without_notes(tree)


def _without_notes(tree: MoveTree) -> MoveTree:
    """Without what engines reported with their moves, which would fill an address soon."""
    moves = tuple(replace(move, comment="") if _is_note(move.comment) else move for move in tree.moves)
    return replace(tree, moves=moves)


def _is_note(comment: str) -> bool:
    return comment == BOOK or parse_note(comment) is not None


def set_comment(shown: ShownTree, values: QueryDict) -> ShownTree:
    """The tree with the comment of a form, which belongs to the move that is shown."""
    if not shown.at or "comment" not in values:
        return shown
    return replace(shown, tree=shown.tree.comment(shown.at, values.get("comment", "")))


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
    return show_tree(shown.game, shown.start, tree, at)


def tree_query(shown: ShownTree, **more: str | int) -> str | None:
    """The query of the tree, without the move that is shown; None if it is too long for an address."""
    values = {"position": shown.start, "moves": shown.moves, **more}
    query = urlencode({name: value for name, value in values.items() if value or name in more})
    return query if len(query) <= MOST_ADDRESS else None


def analysis_query(start: str, tokens: Sequence[str], positions: Sequence[Position], ply: int) -> str:
    """The query for a line at a ply; for the position alone if the line is too long for an address."""
    moves = {"moves": " ".join(tokens), "at": ply} if tokens else {}
    query = urlencode(({"position": start} if start else {}) | moves)
    return query if len(query) <= MOST_ADDRESS else urlencode({"position": str(positions[ply])})
