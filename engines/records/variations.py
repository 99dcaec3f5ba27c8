"""Movetext with variations: all lines of an analysis as one tree of moves.

``parse_tree`` and ``format_tree`` are a pair, and so are ``parse_analysis`` and ``format_analysis`` with
headers; ``read_records`` reads the main line of the same text. The rules are asked by ``replay_tree`` alone.
Nothing here recurses: variations may be nested to any depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engines.records.build import UNKNOWN_DATE
from engines.records.headers import FIRST_RULES
from engines.records.model import ROSTER, Record, RecordError, is_token
from engines.records.reader import (
    NUMBER,
    PIECE,
    RESULTS,
    SUFFIX,
    begins_header,
    read_records,
    skip_remarks,
)
from engines.records.writer import clean_text, fill_lines, format_headers, number_plies
from engines.rules.base import IllegalMove, Position, Result, Side, quote
from engines.rules.registry import Variant

MAX_TREE_MOVES = 2000
MAX_TREE_COMMENT = 500
"""Characters of a comment; a longer one is cut."""
NULL_MOVES = frozenset({"--", "Z0", "null", "0000", "@@@@"})
"""What other programs write where a side is skipped; no game here has it."""
_BEFORE_MOVES = re.compile(
    r"^[ \t]*(\[(?:.*\n(?![ \t]*[\[\n]))*?.*\][ \t]*$|\[.*)|\n|[^\S\n]+|\{[^}]*\}|;.*|^%.*", re.MULTILINE
)
"""What may stand before the first move; the group is a header, over several lines up to a blank one."""
_BRACKETS = str.maketrans("{}[]", "()()")


@dataclass(frozen=True, slots=True)
class TreeMove:
    """A move; ``before`` is the number of the move before it, 0 at the start."""

    token: str
    before: int
    comment: str = ""


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

    def line(self, number: int) -> tuple[str, ...]:
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
        _check_token(token, token)
        for at in self._following()[number]:
            if self.moves[at - 1].token == token:
                return self, at
        _check_size(len(self.moves))
        moves = (*self.moves, TreeMove(token, number))
        return _ordered(moves, MoveTree(moves)._following(), len(moves))

    def comment(self, number: int, text: str) -> MoveTree:
        """The tree with another comment after a move; empty for none."""
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


def format_tree(tree: MoveTree, second_moves_first: bool = False) -> str:
    """The movetext of a tree in lines, numbered as in a record, with the result ``*``."""
    return fill_lines(" ".join([*_words(tree, tree.steps(second_moves_first)), Result.UNDECIDED.value]))


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
        words += [f"{{{move.comment}}}"] if move.comment else []
    return [*words[:-1], words[-1] + ")" * depth] if words else []


def format_analysis(tree: MoveTree, game: Variant, start: Position, title: str = "") -> str:
    """A tree as a record that nobody played, with what is needed to replay it."""
    is_initial = start == game.position.initial()
    headers = [
        *zip(ROSTER, (clean_text(title) or "Analysis", "?", UNKNOWN_DATE, "?", "?", "?", "*"), strict=True),
        ("Game", game.code),
        *([] if game.rules_version == FIRST_RULES else [("RulesVersion", str(game.rules_version))]),
        *([] if is_initial else [("FEN", str(start)), ("SetUp", "1")]),
    ]
    return f"{format_headers(headers)}\n{format_tree(tree, start.side is not game.first)}"


def parse_analysis(text: str) -> tuple[Record, MoveTree]:
    """A record without its moves, whose headers may be missing, and the tree; raises ``RecordError``."""
    text = "\n".join(text.removeprefix("\ufeff").splitlines())
    headers: list[str] = []
    at = end = 0
    while piece := _BEFORE_MOVES.match(text, at):
        at = piece.end()
        if piece[1]:  # comments before the last header belong to no move
            headers += ["\n" * text.count("\n", end, piece.start(1)), piece[1]]
            end = at
    record = next(read_records([*"".join(headers).split("\n"), Result.UNDECIDED.value], "record"))
    if isinstance(record, RecordError):
        raise record
    return record, parse_tree("\n" * text.count("\n", 0, end) + text[end:])


def parse_tree(text: str) -> MoveTree:
    """The tree of a movetext, with or without numbers and a result.

    Glyphs and ``;`` comments are skipped; a comment before the first move of a line belongs to that move;
    variations that begin alike are joined; the rest of one from a null move on is left out, and so are games
    after the first (``losses``). Raises ``RecordError``, which names the line.
    """
    parser, at = _Parser(), 0
    while piece := PIECE.search(text, at):
        word, start, at = piece[0], piece.start(), piece.end()
        try:
            if word == "{":
                end = text.find("}", at)
                if end < 0:
                    raise RecordError("the comment is never closed")
                parser.take_comment(text[at:end])
                at = end + 1
            elif word[0] == "%" and text[start - 1 : start] in ("", "\n"):
                at = len(text) if (end := text.find("\n", start)) < 0 else end
            elif word in RESULTS and not parser.is_in_variation:
                parser.has_other_games = begins_header(text, at)
                rest = text[skip_remarks(text, at) :].split(maxsplit=1)
                if rest and not parser.has_other_games:
                    raise RecordError(f"{quote(rest[0])} follows the result: only one game can be read")
                break
            else:
                parser.take_word(word)
        except RecordError as error:
            line = text.count("\n", 0, start) + 1
            raise RecordError(f"line {line}: {error}") from None
    if parser.is_in_variation:
        raise RecordError("the last variation is never closed")
    return parser.finish()


class _Parser:
    """The tree that is being read, and the place of the next move in it."""

    def __init__(self) -> None:
        self._tokens: list[tuple[str, int]] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self._comments: dict[int, list[str]] = {}
        self._at = 0
        self._has_move = False
        """Whether this line has a move yet."""
        self._before: list[str] = []
        """Comments before the first move of this line."""
        self._outer: list[int] = []
        self.has_other_games = False
        self._left_out = 0
        self._out_of: int | None = None
        """The number of variations around the one whose rest is left out."""

    @property
    def is_in_variation(self) -> bool:
        return bool(self._outer)

    def take_comment(self, text: str) -> None:
        if self._out_of is not None:
            return
        place = self._comments.setdefault(self._at, []) if self._has_move else self._before
        place.append(text)

    def take_word(self, word: str) -> None:
        if word == "(":
            self._open()
        elif word == ")":
            if not self._outer:
                raise RecordError("')' closes no variation")
            self._at, self._has_move, self._before = self._outer.pop(), True, []
            if self._out_of == len(self._outer):
                self._out_of = None
        elif word in "{}":
            raise RecordError(f"{word!r} closes no comment")
        elif word[0] not in ";$" and word not in RESULTS:
            token = SUFFIX.sub("", NUMBER.sub("", word))
            if self._out_of is not None:
                return
            if token in NULL_MOVES and self._outer:
                self._left_out += 1
                self._out_of = len(self._outer) - 1
            elif token:
                self._play(token, word)

    def _open(self) -> None:
        if not self._has_move and self._out_of is None:
            raise RecordError("'(' opens a variation before a move that it could replace")
        self._outer.append(self._at)
        if self._out_of is None:
            self._at, self._has_move = self._tokens[self._at - 1][1], False

    def _play(self, token: str, word: str) -> None:
        _check_token(token, word)
        move = (token, self._at)
        if move not in self._numbers:
            _check_size(len(self._tokens))
            self._tokens.append(move)
            self._numbers[move] = len(self._tokens)
        self._at, self._has_move = self._numbers[move], True
        if self._before:
            self._comments.setdefault(self._at, []).extend(self._before)
            self._before = []

    def finish(self) -> MoveTree:
        comments = {number: " ".join(" ".join(texts).split()) for number, texts in self._comments.items()}
        moves = tuple(
            TreeMove(token, before, clean_comment(comments.get(number, "")))
            for number, (token, before) in enumerate(self._tokens, 1)
        )
        tree = _ordered(moves, MoveTree(moves)._following(), 0)[0]
        cut = sum(len(text) > MAX_TREE_COMMENT for text in comments.values())
        losses = []
        if self._left_out:
            losses.append(f"Variations with a null move, from that move on: {self._left_out} left out.")
        if self.has_other_games:
            losses.append("Only the first game was read.")
        if cut:
            losses.append(f"Comments of more than {MAX_TREE_COMMENT} characters: {cut} cut.")
        return replace(tree, losses=tuple(losses))


def _check_token(token: str, word: str) -> None:
    if not is_token(token):
        raise RecordError(f"{quote(word)} is not spelled as a move")


def _check_size(moves: int) -> None:
    if moves >= MAX_TREE_MOVES:
        raise RecordError(f"there are too many moves: an analysis holds {MAX_TREE_MOVES}")


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
