# The same rules in the plainest Python, sentence by sentence, are in tests/literal/dogon.py.
"""# Dogon

A sowing game on two rows of holes, played with seeds of one colour. There are two
ladders with the same rules: **kulei**, 2×6 holes with four seeds each, and
**gagara**, 2×8 holes with six seeds each.

## The board

White owns rank 1, Black owns rank 2. The start:

```
        a   b   c   d   e   f
      +---+---+---+---+---+---+
    2 | 4 | 4 | 4 | 4 | 4 | 4 |   Black
      +---+---+---+---+---+---+
    1 | 4 | 4 | 4 | 4 | 4 | 4 |   White
      +---+---+---+---+---+---+
```

Kulei has the files `a` to `f`, gagara `a` to `h`. Captured seeds lie in a player's store, beside the board.

## A turn

White starts. **[reading]** The source does not say who does.

The mover takes all seeds of one of his own holes and drops them, one at a time, into
the holes that follow, anticlockwise (`+`: a1 → f1, up to f2 → a2, down to a1) or
clockwise (`-`, the reverse). The hole he emptied is left out on every lap.

**Capture.** When the last seed falls into an opponent's hole and makes it 2 or 3, the
seeds of that hole are captured. So are those of all the holes before it, against the
direction of sowing, up to the first one that does not hold 2 or 3 or is not the opponent's.
The number of holes is not limited, and capturing everything is allowed. An example with five
holes: from `3,1,2,1,2,1/2,0,2,0,0,5 w 14 15 - - 20` White plays `f1+`, which makes f2, e2, d2,
c2 and b2 2, 3, 2, 3 and 2. All five are captured, twelve seeds.

Which sowings are allowed:

1. A hole with a single seed may be sown only if that seed captures.
2. From a hole with two or more seeds at least one must fall into the opponent's row,
   unless the opponent passed on the move immediately before: then any such hole may
   be sown, in either direction.
3. The turning limit. As long as one player sows again and again, each time right after
   a pass of the opponent and never dropping a seed into the opponent's row, he may
   change direction at most twice. The first of these sowings chooses its direction
   freely. A sowing that reaches the opponent's row is never limited and ends the
   count, and so does any sowing of the opponent. **[reading]** The source lists three
   cases in which the limit holds, one of them "nothing was captured"; it is read here
   as "while the opponent's row stays unaltered", and any seed dropped there alters it.

**Passing.** A player who has no such sowing must pass (`pass`), and nobody else may.
A pass costs two captured seeds, paid to the opponent. It leaves the turning limit's count as
it is: the count is that of the player who sowed last.

## The end

The game ends at the moment when a player would have to pass, and

* the opponent could not sow after that pass either: nothing is paid, and each player
  receives the seeds in his own holes (`seeds`); or else
* he has fewer than two captured seeds to pay with: all seeds on the board go to the
  opponent (`cannot-pay`).

In both cases there is no `pass` to play any more: it is legal only if it is paid
and the game goes on. The player with more seeds wins; with equal numbers the game is drawn.

## Match rules

These are rules of this server, not of the game. When a position occurs for the third
time, or the game has lasted 500 plies (gagara 700), each player receives the seeds in his
own holes, and the seeds are counted. **[reading]** The source has no other end, but a game
need not come to one.

Positions are the same if their strings agree in all fields but the ply; the position before the
first move counts. A game ends first by its own rules, then by repetition, then by the ply limit.

## Notation

A move is the hole and the direction, `c1+` or `f2-`, or `pass`.

A position is `rank2/rank1 side whiteStore blackStore passed run ply`, for example the start:

    4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0

* `rank2`, `rank1`: the holes from left to right;
* `side`: the side to move, `w` or `b`;
* `whiteStore`, `blackStore`: captured seeds;
* `passed`: `p` if the move immediately before was a pass, else `-`;
* `run`: the state of the turning limit for the player who sowed last, his direction and
  how often he has changed it (`+0`, `-1`, `+2` …), or `-`. A sowing made right after a pass
  that drops no seed into the opponent's row sets or continues it, any other sowing sets it
  to `-`, and a pass leaves it unchanged;
* `ply`: moves made so far, passes included. White moves at even plies, and the ply limit counts it.

After the last move the seeds stay where they lie; the result counts them.

## Source

Dogon was invented by Ralf Gering in 2010; these are its rules as he changed them in
July 2023, in our own words.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from typing import ClassVar, Final, Self, final

from engines.rules.base import (
    UNDECIDED,
    IllegalMove,
    Outcome,
    Position,
    Reason,
    Result,
    Side,
    Word,
    next_ply,
)
from engines.rules.native import i64, mypyc_attr
from engines.rules.notation import field_error, parse_number, parse_turn, split_fields, split_parts
from engines.rules.sowing import HOLE_BITS, HOLE_MASK, WORD_BITS, SowingPosition, add_up, pack, unpack
from engines.rules.symmetry import IDENTITY, Symmetry

CREDIT: Final = "Ralf Gering, 2010 (rules as of July 2023)"

PASS: Final = "pass"
PASS_PRICE: Final = 2
"""Captured seeds that a pass costs."""

WORDS: Final = {
    "+": Word("Anticlockwise +", "a direction"),
    "-": Word("Clockwise −", "a direction"),
    PASS: Word("Pass", "a pass"),
}

_MIRRORED: Final = str.maketrans("+-", "-+")
FIELDS: Final = ("rank2/rank1", "side", "whiteStore", "blackStore", "passed", "run", "ply")

DIRECTIONS: Final = "+-"
"""The letters of the two directions, anticlockwise first; a direction is an index into this."""

NO_RUN: Final = "-"
TURNS: Final[dict[str, tuple[str, str]]] = {
    NO_RUN: ("+0", "-0"),
    "+0": ("+0", "-1"),
    "+1": ("+1", "-2"),
    "+2": ("+2", ""),
    "-0": ("+1", "-0"),
    "-1": ("+2", "-1"),
    "-2": ("", "-2"),
}
"""The run after a further sowing in each direction; ``""`` if the turning limit forbids it."""

# A row is one word, so that a sowing is one addition to each row. Holes are numbered anticlockwise,
# from their owner's left to his right. Rotated the board is the same, so one set of tables serves both
# sides. A set of sowings has bit 8·hole + direction for each of them.

FULL_HOLE: Final = 128
"""The highest bit of a hole; a sum with ``FULL_HOLE - n`` sets it if the hole has at least n seeds."""
FIRST_BACK: Final = 0b10
"""The sowing out of a row's first hole back, clockwise, as a set."""


@final
class _Change:
    """What a sowing of a number of seeds changes.

    ``own`` and ``opponent`` are added to the rows of the mover and of the opponent. ``end`` is the first bit
    of the opponent's hole in which the last seed falls; -1 for a hole of the mover.
    """

    __slots__ = ("end", "opponent", "own")

    def __init__(self, own: i64, opponent: i64, end: i64) -> None:
        self.own = own
        self.opponent = opponent
        self.end = end


@final
class _Sowing:
    """A sowing of a side: ``only`` is the set of only this one, ``changes`` are indexed by the seeds sown."""

    __slots__ = ("changes", "direction", "hole", "only", "token")

    def __init__(self, token: str, hole: int, direction: int, changes: tuple[_Change, ...]) -> None:
        self.token = token
        self.hole: i64 = hole
        self.direction: i64 = direction
        self.only: i64 = 1 << HOLE_BITS * hole + direction
        self.changes = changes


@final
class Board:
    """One size of board: the names of holes, and tables of the sowings."""

    def __init__(self, files: str, seeds_a_hole: int) -> None:
        self.files = files
        self.width: i64 = len(files)
        self.seeds: i64 = seeds_a_hole * 2 * self.width
        self.names = tuple([f"{file}1" for file in files] + [f"{file}2" for file in reversed(files)])
        left_to_right = range(len(files))
        changes = [[tuple(self._sow(hole, way)) for way in (0, 1)] for hole in left_to_right]
        self.sowings = tuple(
            [
                tuple(
                    [
                        _Sowing(self.names[first + hole] + letter, hole, way, changes[hole][way])
                        for hole in row
                        for way, letter in enumerate(DIRECTIONS)
                    ]
                )
                for first, row in ((0, left_to_right), (len(files), left_to_right[::-1]))
            ]
        )
        """The sowings of each side, in the order of ``legal_moves``."""
        self.named = tuple([{sowing.token: sowing for sowing in row} for row in self.sowings])
        """The sowings of each side by token."""
        mirrored = dict(zip(files, reversed(files), strict=True))
        holes = {f"{file}{rank}": f"{other}{rank}" for file, other in mirrored.items() for rank in "12"}
        self.symmetries = (IDENTITY, Symmetry({**holes, "+": "-", "-": "+"}))
        self.last: i64 = HOLE_BITS * (self.width - 1)
        """The first bit of a row's last hole."""
        self.last_forth: i64 = 1 << HOLE_BITS * (len(files) - 1)
        """The sowing out of the last hole forth, as a set."""
        self.ones: i64 = pack([1 for _ in files])
        self.two: i64 = pack([FULL_HOLE - 2 for _ in files])
        self.across_forth: i64 = pack([FULL_HOLE - max(2, len(files) - hole) for hole in left_to_right])
        self.across_back: i64 = pack([FULL_HOLE - max(2, hole + 1) for hole in left_to_right])
        """Sums with a row that set the highest bits of the holes with at least two seeds, and of those
        whose last seed reaches the opponent's row."""

    def _sow(self, hole: int, direction: int) -> Iterator[_Change]:
        """For 0, 1, 2 … seeds: the change by a sowing out of this hole."""
        row = HOLE_BITS * int(self.width)
        step = -HOLE_BITS if direction else HOLE_BITS
        sown, taken, target = 0, 0, HOLE_BITS * hole
        for _ in range(int(self.seeds) + 1):
            # the opponent's row follows the mover's as the higher half of one number
            yield _Change(sown % (1 << row) - taken, sown >> row, target - row if target >= row else -1)
            target = (target + step) % (2 * row)
            if target == HOLE_BITS * hole:
                target = (target + step) % (2 * row)
            sown += 1 << target
            taken += 1 << HOLE_BITS * hole

    def find_sowings(self, own: i64, opponent: i64, free_forth: bool, free_back: bool) -> i64:
        """The set of legal sowings; in a free direction no seed needs to reach the opponent's row."""
        forth = own + (self.two if free_forth else self.across_forth)
        back = own + (self.two if free_back else self.across_back)
        legal = (forth >> 7 & self.ones) | (back >> 7 & self.ones) << 1
        # a single seed is sown only from an end of the row, with a capture
        if own & HOLE_MASK == 1 and _becomes_capturable(opponent >> self.last):
            legal |= FIRST_BACK
        if own >> self.last == 1 and _becomes_capturable(opponent & HOLE_MASK):
            legal |= self.last_forth
        return legal

    def count_sowings(self, sowings: i64) -> i64:
        """The number of sowings in a set."""
        return add_up((sowings & self.ones) + (sowings >> 1 & self.ones))


KULEI: Final = Board("abcdef", 4)
GAGARA: Final = Board("abcdefgh", 6)


class DogonPosition(SowingPosition):
    """A position of kulei or gagara, which differ only in the size of the board.

    ``_legal`` is the set of legal sowings.
    """

    __slots__ = ("_legal", "_opponent", "_opponent_store", "_own", "_own_store", "_passed", "_run", "_tables")

    tables: ClassVar[Board]

    def __init__(
        self,
        tables: Board,
        rows: tuple[i64, i64],
        stores: tuple[i64, i64],
        side: i64,
        passed: bool,
        run: str,
        ply: i64,
    ) -> None:
        """Private to this module: other code calls ``initial`` or ``parse``, which check their input.

        ``rows`` and ``stores`` are the mover's and the opponent's, ``side`` the mover.
        """
        self._tables = tables
        self._own, self._opponent = rows
        self._own_store, self._opponent_store = stores
        super().__init__(side, ply)
        self._passed = passed
        self._run = run
        forth, back = TURNS[run] if passed else ("", "")
        self._legal: i64 = tables.find_sowings(self._own, self._opponent, forth != "", back != "")

    @abstractmethod
    def _after(self, rows: tuple[i64, i64], stores: tuple[i64, i64], passed: bool, run: str) -> Self:
        """The position one ply later, with ``rows`` and ``stores`` of the next mover first.

        Each size of board implements it: compiled, a call of ``type(self)`` takes as long as the rest of
        a ply.
        """

    @property
    def stores(self) -> tuple[int, int]:
        """The captured seeds of White and of Black."""
        if self._side:
            return self._opponent_store, self._own_store
        return self._own_store, self._opponent_store

    @classmethod
    def words(cls) -> Mapping[str, Word]:
        return WORDS

    def count_captured(self, after: Position) -> int:
        assert isinstance(after, DogonPosition)
        return max(0, after.stores[self.side] - self.stores[self.side])

    @property
    def holes(self) -> tuple[int, ...]:
        """The seeds in each hole, anticlockwise from a1: White's row, then Black's from the right."""
        width = self._tables.width
        own, opponent = unpack(self._own, width), unpack(self._opponent, width)
        return tuple(opponent + own if self._side else own + opponent)

    @property
    def passed(self) -> bool:
        """Whether the move immediately before was a pass."""
        return self._passed

    @classmethod
    def initial(cls) -> Self:
        tables = cls.tables
        width = len(tables.files)
        row = pack([tables.seeds // (2 * width)] * width)
        return cls(tables, (row, row), (0, 0), Side.WHITE, False, NO_RUN, 0)

    @classmethod
    def parse(cls, text: str) -> Self:
        board, side_text, white_store, black_store, passed, run, ply_text = split_fields(text, FIELDS)
        lower, upper = cls._parse_holes(board)
        side, ply = parse_turn(side_text, ply_text, Side.WHITE)
        white, black = parse_number(white_store, "whiteStore"), parse_number(black_store, "blackStore")
        if passed not in ("p", "-"):
            raise field_error("passed", passed, "neither 'p' nor '-'")
        if run not in TURNS:
            raise field_error(
                "run", run, "neither '-' nor a direction with up to two changes, as '+0' or '-2'"
            )
        seeds = sum(lower) + sum(upper) + white + black
        if seeds != cls.tables.seeds:
            raise field_error(
                "rank2/rank1", board, f"{seeds} seeds with the stores instead of {cls.tables.seeds}"
            )
        rows, stores = (pack(lower), pack(upper)), (white, black)
        if side is Side.BLACK:
            rows, stores = rows[::-1], stores[::-1]
        return cls(cls.tables, rows, stores, side, passed == "p", run, ply)

    @classmethod
    def _parse_holes(cls, text: str) -> tuple[list[int], list[int]]:
        """The seeds in White's and in Black's holes, each from their owner's left."""
        files = cls.tables.files
        rank2, rank1 = split_parts(text, "/", 2, "rank2/rank1", "ranks")
        black = split_parts(rank2, ",", len(files), "rank2", "holes")
        white = split_parts(rank1, ",", len(files), "rank1", "holes")
        lower = [parse_number(seeds, f"rank1 hole {file}1") for file, seeds in zip(files, white, strict=True)]
        upper = [parse_number(seeds, f"rank2 hole {file}2") for file, seeds in zip(files, black, strict=True)]
        return lower, upper[::-1]

    def __str__(self) -> str:
        holes = list(map(str, self.holes))
        width = len(holes) // 2
        rank2 = ",".join(holes[: width - 1 : -1])
        rank1 = ",".join(holes[:width])
        white_store, black_store = self.stores
        passed = "p" if self._passed else "-"
        side = self.side.letter
        return f"{rank2}/{rank1} {side} {white_store} {black_store} {passed} {self._run} {self._ply}"

    def legal_moves(self) -> Iterator[str]:
        tokens = [sowing.token for sowing in self._tables.sowings[self._side] if self._legal & sowing.only]
        return iter(tokens if tokens or self.outcome().decided else [PASS])

    def count_moves(self) -> int:
        if self._legal:
            return self._tables.count_sowings(self._legal)
        return 0 if self.outcome().decided else 1

    def move_at(self, index: int) -> str:
        sowing = self._sowing_at(index)
        return PASS if sowing is None else sowing.token

    def play_at(self, index: int) -> tuple[str, Self]:
        sowing = self._sowing_at(index)
        return (PASS, self._pass()) if sowing is None else (sowing.token, self._sow(sowing))

    def is_legal(self, token: str) -> bool:
        return not self._objection(token, self._sowing(token))

    def play(self, token: str) -> Self:
        sowing = self._sowing(token)
        objection = self._objection(token, sowing)
        if objection:
            raise IllegalMove(token, self, objection)
        return self._pass() if sowing is None else self._sow(sowing)

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        """The outcome when each player receives the seeds in his own holes."""
        return self._count(self._own_store + add_up(self._own), reason)

    def key(self) -> Hashable:
        # the other store has all other seeds
        return self._own, self._opponent, self._own_store, self._side, self._passed, self._run

    @classmethod
    def symmetries(cls) -> tuple[Symmetry, ...]:
        return cls.tables.symmetries

    def form(self, number: int) -> Hashable:
        if not number:
            return self.key()
        width = self._tables.width
        own, opponent = (pack(unpack(row, width)[::-1]) for row in (self._own, self._opponent))
        run = self._run if self._run == NO_RUN else self._run.translate(_MIRRORED)
        return own, opponent, self._own_store, self._side, self._passed, run

    def board(self) -> Mapping[str, str]:
        return dict(zip(self._tables.names, map(str, self.holes), strict=True))

    def _sowing_at(self, index: int) -> _Sowing | None:
        """The legal sowing at this index, or None for the pass."""
        left = index
        for sowing in self._tables.sowings[self._side]:
            if self._legal & sowing.only:
                if left == 0:
                    return sowing
                left -= 1
        if self._legal or index or self.outcome().decided:
            raise IndexError(f"no legal move at index {index}")
        return None

    def _sowing(self, token: str) -> _Sowing | None:
        """The sowing with this token by the side to move, legal or not; None if there is no such sowing."""
        return self._tables.named[self._side].get(token)

    def _objection(self, token: str, sowing: _Sowing | None) -> str:
        """Why the side to move may not play ``token``; empty if it may."""
        if sowing is not None:
            return "" if self._legal & sowing.only else self._objection_to_sowing(sowing)
        if token == PASS:
            return self._objection_to_pass()
        return "no sowing of an own hole, nor a pass"

    def _objection_to_sowing(self, sowing: _Sowing) -> str:
        seeds = self._own >> HOLE_BITS * sowing.hole & HOLE_MASK
        if seeds < 2:
            return "a single seed may be sown only to capture" if seeds else "the hole is empty"
        if not self._passed:
            return "no seed would reach the opponent's row"
        return "the direction may be changed only twice while the opponent passes"

    def _objection_to_pass(self) -> str:
        if self._legal:
            return "a player who can sow may not pass"
        return "the game is over" if self.outcome().decided else ""

    def _judge(self) -> Outcome:
        if self._legal:
            return UNDECIDED
        if not self._tables.find_sowings(self._opponent, self._own, True, True):
            return self.outcome_by_match_rule(Reason.SEEDS)
        if self._own_store >= PASS_PRICE:
            return UNDECIDED
        return self._count(self._own_store, Reason.CANNOT_PAY)

    def _count(self, own: i64, reason: Reason) -> Outcome:
        """The outcome if the side to move ends with ``own`` seeds, and the opponent with the others."""
        others = self._tables.seeds - own
        white, black = (others, own) if self._side else (own, others)
        if white == black:
            return Outcome(Result.DRAW, reason, white, black)
        winner = Side.WHITE if white > black else Side.BLACK
        return Outcome(Result.win_for(winner), reason, white, black)

    def _sow(self, sowing: _Sowing) -> Self:
        change = sowing.changes[self._own >> HOLE_BITS * sowing.hole & HOLE_MASK]
        opponent = self._opponent + change.opponent
        captured = _find_captured(opponent, change.end, HOLE_BITS if sowing.direction else -HOLE_BITS)
        # a legal sowing that stays in its own row follows a pass
        run = NO_RUN if change.opponent else TURNS[self._run][sowing.direction]
        stores = self._opponent_store, self._own_store + add_up(captured)
        return self._after((opponent - captured, self._own + change.own), stores, False, run)

    def _pass(self) -> Self:
        stores = self._opponent_store + PASS_PRICE, self._own_store - PASS_PRICE
        return self._after((self._opponent, self._own), stores, True, self._run)


@mypyc_attr(free_list_len=1)
@final
class KuleiPosition(DogonPosition):
    """Dogon on 2×6 holes with four seeds each."""

    __slots__ = ()

    tables = KULEI

    def _after(self, rows: tuple[i64, i64], stores: tuple[i64, i64], passed: bool, run: str) -> Self:
        return KuleiPosition(KULEI, rows, stores, 1 - self._side, passed, run, next_ply(self._ply))


@mypyc_attr(free_list_len=1)
@final
class GagaraPosition(DogonPosition):
    """Dogon on 2×8 holes with six seeds each."""

    __slots__ = ()

    tables = GAGARA

    def _after(self, rows: tuple[i64, i64], stores: tuple[i64, i64], passed: bool, run: str) -> Self:
        return GagaraPosition(GAGARA, rows, stores, 1 - self._side, passed, run, next_ply(self._ply))


def _becomes_capturable(seeds: i64) -> bool:
    """Whether a hole with ``seeds`` seeds has 2 or 3 after one more."""
    return 1 <= seeds <= 2


def _find_captured(row: i64, end: i64, back: i64) -> i64:
    """The seeds captured by a sowing that ended at this bit of the opponent's ``row``, as a row.

    ``back`` leads to the first bit of the hole before; an ``end`` of -1 lies in the mover's own row.
    """
    captured: i64 = 0
    while 0 <= end < WORD_BITS:
        seeds = row >> end & HOLE_MASK
        if not 2 <= seeds <= 3:
            break
        captured += seeds << end
        end += back
    return captured
