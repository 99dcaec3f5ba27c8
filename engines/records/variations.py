"""Movetext with variations: all lines of an analysis as one tree of moves.

``parse_analysis`` and ``format_analysis`` are a pair; ``read_records`` reads the main line of the same text.
The rules are asked by ``replay_tree`` alone. Nothing here recurses: variations may be nested to any depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from engines.records.build import UNKNOWN_DATE
from engines.records.headers import FIRST_RULES
from engines.records.model import ROSTER, MoveNote, Record, RecordError, Source, is_token
from engines.records.notes import format_note, parse_note
from engines.records.reader import RESULTS, Draft, Reader, misspelled
from engines.records.writer import clean_text, fill_lines, format_headers, number_plies
from engines.rules.base import IllegalMove, Position, Result, Side, quote
from engines.rules.registry import Variant

MAX_TREE_MOVES = 2000
MAX_TREE_COMMENT = 500
"""Characters of a comment; a longer one is cut."""
NULL_MOVES = frozenset({"--", "Z0", "null", "0000", "@@@@"})
"""What other programs write where a side is skipped; no game here has it."""
_TOO_MANY = f"there are too many moves: an analysis holds {MAX_TREE_MOVES}"
_WRITTEN_ANEW = frozenset({"Game", "RulesVersion", "FEN", "SetUp"})
"""Headers that follow from the start of a tree."""
_UNPLAYED = dict(zip(ROSTER, ("Analysis", "?", UNKNOWN_DATE, "?", "?", "?", "*"), strict=True))
_BRACKETS = str.maketrans("{}[]", "()()")


@dataclass(frozen=True, slots=True)
class TreeMove:
    """A move; ``before`` is the number of the move before it, 0 at the start."""

    token: str
    before: int
    comment: str = ""
    glyphs: tuple[str, ...] = ()
    """Each is ``$`` and a number."""


class TreeStep(NamedTuple):
    """A move in the order of the movetext; ``label`` is the number before it, with a space, or empty.

    ``depth`` counts the variations around it; ``begins`` says whether it is the first move of one.
    """

    number: int
    depth: int
    begins: bool
    label: str


@dataclass(frozen=True, slots=True)
class MoveTree:
    """Moves in the order of their movetext, numbered from 1; the number 0 is the start.

    Of the moves with the same move before them, the first belongs to the main line or to the variation
    in which they are, and each other begins a variation. Changed trees are new ones.
    """

    moves: tuple[TreeMove, ...] = ()
    losses: tuple[str, ...] = ()
    """Sentences about what was left out or cut when it was read."""

    def path(self, number: int) -> list[int]:
        """The numbers of the moves that lead to a move, that move included."""
        found = []
        while number:
            found.append(number)
            number = self.moves[number - 1].before
        return found[::-1]

    def moves_to(self, number: int) -> tuple[str, ...]:
        """The tokens of ``path``."""
        return tuple(self.moves[each - 1].token for each in self.path(number))

    def main_line(self) -> list[int]:
        """The numbers of the moves of the main line."""
        following = self._following()
        found = [0]
        while after := following[found[-1]]:
            found.append(after[0])
        return found[1:]

    def plies(self) -> list[int]:
        """The number of plies up to each move; the first is that of the start, 0."""
        found = [0]
        for move in self.moves:
            found.append(found[move.before] + 1)
        return found

    def steps(self, second_moves_first: bool = False) -> Iterator[TreeStep]:
        """The moves in order, with the places of the variations and the numbers to write before moves."""
        plies = self.plies()
        after_moves, elsewhere = number_plies(second_moves_first, max(plies).bit_length())
        last_depth, last_comment = 0, "the start"
        for number, depth, begins in _walk(self._following()):
            is_after_move = not begins and depth == last_depth and not last_comment
            label = (after_moves if is_after_move else elsewhere)[plies[number] - 1]
            yield TreeStep(number, depth, begins, label)
            last_depth, last_comment = depth, self.moves[number - 1].comment

    def play(self, number: int, token: str) -> tuple[MoveTree, int]:
        """The tree with a move after another one, and the number of it, also if it was there already.

        Raises ``RecordError`` for what is no token, and if the tree has as many moves as it may.
        """
        if not is_token(token):
            raise RecordError(misspelled(token))
        for at in self._following()[number]:
            if self.moves[at - 1].token == token:
                return self, at
        if len(self.moves) >= MAX_TREE_MOVES:
            raise RecordError(_TOO_MANY)
        moves = (*self.moves, TreeMove(token, number))
        return _ordered(moves, MoveTree(moves)._following(), len(moves))

    def comment(self, number: int, text: str) -> MoveTree:
        """The tree with another comment after a move, empty for none; raises ``RecordError`` if too long."""
        length = len(" ".join(text.split()))
        if length > MAX_TREE_COMMENT:
            raise RecordError(f"the comment has {length} characters: {MAX_TREE_COMMENT} are allowed")
        changed = replace(self.moves[number - 1], comment=clean_comment(text))
        return MoveTree((*self.moves[: number - 1], changed, *self.moves[number:]))

    def delete(self, number: int) -> tuple[MoveTree, int]:
        """The tree without a move and all that follow it, and the number of the move before it."""
        before, following = self.moves[number - 1].before, self._following()
        following[before].remove(number)
        return _ordered(self.moves, following, before)

    def promote(self, number: int) -> tuple[MoveTree, int]:
        """The tree with a move in the main line, and the move's new number."""
        following = self._following()
        for each in self.path(number):
            siblings = following[self.moves[each - 1].before]
            siblings.remove(each)
            siblings.insert(0, each)
        return _ordered(self.moves, following, number)

    def _following(self) -> list[list[int]]:
        """For each number, from 0, those of the moves after it."""
        found: list[list[int]] = [[] for _ in range(len(self.moves) + 1)]
        for number, move in enumerate(self.moves, 1):
            found[move.before].append(number)
        return found


def _walk(following: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, bool]]:
    """Each number from 1 with the depth of its variation, and whether it is the first move of one."""
    todo = [(0, 0, False)]
    while todo:
        number, depth, begins = todo.pop()
        if begins:
            yield number, depth, begins
        if following[number]:
            main, *others = following[number]
            yield main, depth, False
            todo.append((main, depth, False))
            todo += [(other, depth + 1, True) for other in reversed(others)]


def _ordered(
    moves: Sequence[TreeMove], following: Sequence[Sequence[int]], number: int
) -> tuple[MoveTree, int]:
    """The tree of the moves that are reached, in order, and the new number of one of them."""
    order = [found for found, *_ in _walk(following)]
    numbers = {0: 0} | {old: new for new, old in enumerate(order, 1)}
    ordered = (moves[old - 1] for old in order)
    return MoveTree(tuple(replace(move, before=numbers[move.before]) for move in ordered)), numbers[number]


def clean_comment(text: str) -> str:
    """A comment as it can be written: one line, no longer than allowed, with round brackets for others."""
    return clean_text(text, MAX_TREE_COMMENT).translate(_BRACKETS)


def format_tree(tree: MoveTree, second_moves_first: bool = False, result: Result = Result.UNDECIDED) -> str:
    """The movetext of a tree in lines, numbered as in a record."""
    return fill_lines(" ".join([*_words(tree, tree.steps(second_moves_first)), result.value]))


def compact_tree(tree: MoveTree) -> str:
    """The movetext in one line, without numbers and result."""
    return " ".join(_words(tree, (step._replace(label="") for step in tree.steps())))


def _words(tree: MoveTree, steps: Iterable[TreeStep]) -> list[str]:
    words: list[str] = []
    depth = 0
    for step in steps:
        if closed := depth - (step.depth - step.begins):
            words[-1] += ")" * closed
        move, depth = tree.moves[step.number - 1], step.depth
        words.append(f"{'(' * step.begins}{step.label}{move.token}")
        words += move.glyphs
        words += [f"{{{move.comment}}}"] if move.comment else []
    return [*words[:-1], words[-1] + ")" * depth] if words else []


def format_analysis(
    tree: MoveTree,
    game: Variant,
    start: Position,
    title: str = "",
    played: Sequence[tuple[str, str]] = (),
) -> str:
    """A tree as a record with what is needed to replay it.

    ``played`` are the headers of the game that the tree came from (``played_headers``). The title replaces
    the event.
    """
    headers = _UNPLAYED | dict(played)
    headers["Event"] = clean_text(title) or headers["Event"]
    headers["Game"] = game.code
    if "PlyCount" in headers:
        headers["PlyCount"] = str(len(tree.main_line()))
    if game.rules_version != FIRST_RULES:
        headers["RulesVersion"] = str(game.rules_version)
    if start != game.position.initial():
        headers |= {"FEN": str(start), "SetUp": "1"}
    moves = format_tree(tree, start.side is not game.first, RESULTS[headers["Result"]])
    return f"{format_headers(headers.items())}\n{moves}"


def played_headers(record: Record) -> tuple[tuple[str, str], ...]:
    """The headers of a record that say something about a game; none if there is only a title."""
    found = {name: clean_text(value) for name, value in record.headers if name not in _WRITTEN_ANEW}
    found["Result"] = found["Result"] if found.get("Result") in RESULTS else record.result.value
    found = {name: value for name, value in found.items() if value != _UNPLAYED.get(name)}
    return () if found.keys() <= {"Event"} else tuple(found.items())


def parse_analysis(text: str) -> tuple[Record, MoveTree]:
    """A record without its moves, whose headers may be missing, and the tree.

    A comment before the first move of a line belongs to that move; variations that begin alike are joined.
    ``losses`` tell what is left out: the rest of a variation from a null move on, games after the first, and
    comments that belong to no move. Raises ``RecordError``, which names the line.
    """
    reader = Reader("record", _TreeDraft)
    reader.begin()
    games = []
    for game in reader.read(text.splitlines()):
        if isinstance(game, RecordError):
            raise game
        games.append(game)
    (record, tree), *others = games
    return record, replace(tree, losses=(*tree.losses, "Only the first game was read.")) if others else tree


def shorten_notes(tree: MoveTree) -> MoveTree:
    """The tree with only the score and the depth of what engines reported in its comments."""
    moves = tuple(replace(move, comment=_short_note(move.comment)) for move in tree.moves)
    losses = () if moves == tree.moves else ("Of the notes of engines, only scores and depths were read.",)
    return replace(tree, moves=moves, losses=(*tree.losses, *losses))


def _short_note(comment: str) -> str:
    note = parse_note(comment)
    return comment if note is None else format_note(MoveNote(score=note.score, depth=note.depth))


@dataclass(slots=True)
class _Node:
    """A move that is being read; the first one is the start."""

    token: str = ""
    before: int = 0
    comments: list[str] = field(default_factory=list)
    glyphs: list[str] = field(default_factory=list)


class _TreeDraft(Draft[tuple[Record, MoveTree]]):
    """The tree that is being read, and the place of the next move in it.

    Of a game after the first one nothing is kept; moves without headers after the first game are an error.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._nodes = [_Node()]
        self._numbers: dict[tuple[str, int], int] = {}
        self._at = 0
        self._has_move = False
        """Whether this line has a move yet."""
        self._ahead = _Node()
        """The comments and glyphs before the first move of this line."""
        self._outer: list[int] = []
        self._left_out = self._comments_left_out = 0
        self._out_of: int | None = None
        """The number of variations around the one whose rest is left out."""

    def fail(self, why: str, line: int) -> None:
        if not self._is_other_game:
            self.error = self.error or RecordError(f"line {line}: {why}")

    @property
    def _is_other_game(self) -> bool:
        return self.source.number > 2 or (self.source.number > 1 and bool(self.headers))

    def _refuse_more(self, word: str, line: int) -> None:
        if self.source.number > 1:
            self.fail(f"{quote(word)} follows the result: only one game can be read", line)

    def add_header(self, name: str, value: str, line: int) -> None:
        super().add_header(name, value, line)
        self._forget_ahead()

    def add_move(self, token: str, word: str, line: int) -> None:
        self._refuse_more(word, line)
        if self.error is not None or self._is_other_game or self._out_of is not None:
            return
        if token in NULL_MOVES and self._outer:
            self._left_out += 1
            self._out_of = len(self._outer) - 1
        elif not is_token(token):
            self.fail(misspelled(word), line)
        else:
            self._play(token, line)

    def _play(self, token: str, line: int) -> None:
        move = (token, self._at)
        if move not in self._numbers:
            if len(self._numbers) >= MAX_TREE_MOVES:
                self.fail(_TOO_MANY, line)
                return
            self._numbers[move] = len(self._nodes)
            self._nodes.append(_Node(*move))
        self._at, self._has_move = self._numbers[move], True
        node = self._nodes[self._at]
        node.comments += self._ahead.comments
        node.glyphs += self._ahead.glyphs
        self._ahead = _Node()

    @property
    def _remarked(self) -> _Node:
        return self._nodes[self._at] if self._has_move else self._ahead

    def add_glyph(self, glyph: str) -> None:
        if self._out_of is None and glyph[1:].strip("0"):  # $0 says nothing
            self._remarked.glyphs.append(glyph)

    def add_comment(self, text: str) -> None:
        if self._out_of is None and text.strip():
            self._remarked.comments.append(text)

    def add_line_comment(self, text: str) -> None:
        self.add_comment(text)

    def open_variation(self, line: int) -> None:
        self._refuse_more("(", line)
        super().open_variation(line)
        self._outer.append(self._at)
        if self._out_of is None:
            if not self._has_move:
                self.fail("'(' opens a variation before a move that it could replace", line)
            self._at, self._has_move = self._nodes[self._at].before, False

    def close_variation(self) -> None:
        super().close_variation()
        self._forget_ahead()
        self._at, self._has_move = self._outer.pop(), True
        if self._out_of == len(self._outer):
            self._out_of = None

    def _forget_ahead(self) -> None:
        self._comments_left_out += len(self._ahead.comments)
        self._ahead = _Node()

    def end_without_result(self, line: int) -> None:
        """Does nothing: the text may be moves alone."""

    def finish(self, result: Result) -> tuple[Record, MoveTree] | RecordError:
        if not self.has_movetext:
            self._refuse_more(result.value, self.source.line)
        self._forget_ahead()
        record = Record(tuple(self.headers.items()), (), result, self.source)
        return self.error or (record, self._tree())

    def _tree(self) -> MoveTree:
        comments = [" ".join(" ".join(node.comments).split()) for node in self._nodes]
        moves = tuple(
            TreeMove(node.token, node.before, clean_comment(comment), tuple(dict.fromkeys(node.glyphs)))
            for node, comment in zip(self._nodes[1:], comments[1:], strict=True)
        )
        tree = _ordered(moves, MoveTree(moves)._following(), 0)[0]
        return replace(tree, losses=tuple(self._losses(comments)))

    def _losses(self, comments: Iterable[str]) -> Iterator[str]:
        cut = sum(len(text) > MAX_TREE_COMMENT for text in comments)
        if self._left_out:
            yield f"Variations with a null move, from that move on: {self._left_out} left out."
        if self._comments_left_out:
            yield f"Comments that belong to no move: {self._comments_left_out} left out."
        if cut:
            yield f"Comments of more than {MAX_TREE_COMMENT} characters: {cut} cut."


def replay_tree(tree: MoveTree, start: Position, first: Side) -> list[Position]:
    """The position after each move; the first is ``start``. ``first`` is the side that begins a game.

    Raises ``RecordError``, which names the first illegal move and where it is.
    """
    positions = [start]
    for number, move in enumerate(tree.moves, 1):
        try:
            positions.append(positions[move.before].play(move.token))
        except IllegalMove as error:
            ply = len(tree.path(number))
            _, numbers = number_plies(start.side is not first, ply.bit_length())
            where = "" if number in tree.main_line() else " in a variation"
            raise RecordError(f"{numbers[ply - 1]}{move.token}{where}: {error}") from None
    return positions
