"""# Duovallis

A sowing game with stones of two colours, on four rows of six holes. Opposing rows face
each other in two valleys, and the stones of both players mix in the neutral holes.

## The board

```
         a    b    c    d    e    f
      +----+----+----+----+----+----+
    4 | 4b | 4b | 4b | 4b | 4b | 4b |   Black's back row
      +----+----+----+----+----+----+
    3 | .. | 4w | 4w | 4w | 4w | .. |   White's front row, a3 and f3 neutral
      +----+----+----+----+----+----+
    2 | .. | 4b | 4b | 4b | 4b | .. |   Black's front row, a2 and f2 neutral
      +----+----+----+----+----+----+
    1 | 4w | 4w | 4w | 4w | 4w | 4w |   White's back row
      +----+----+----+----+----+----+
```

**[reading]** The picture in the source is lost. Its text needs neutral holes that both
players sow, or the colours would never mix, and captures between one player's front row
and the other's back row. The board above satisfies both, with every neutral hole on both
paths. One with the files a and f wholly neutral would fit too.

Each player sows along a ring of fourteen holes, anticlockwise, and never into a hole of
the opponent:

* White: a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2, and again a1
* Black: f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3, and again f4

At the start every owned hole holds four stones of its owner's colour; the neutral holes
are empty.

## A turn

White starts. The mover chooses one of his holes that holds at least two stones, at least
half of them of his colour. A hole of the front row may be chosen only if none of the back
row can be. A neutral hole is never chosen.

He takes all its stones and drops them, one at a time, into the following holes of his
path: first the opponent's colour, then his own. The hole he started from is not left out
when the sowing comes round to it. **[reading]** The source does not say.

What happens next depends on the hole in which the last stone falls, as it was just before
that stone. **[reading]** So a hole refilled by its own fourteenth stone was empty.

* It was occupied and now holds at least half stones of the mover's colour: all of it is
  sown on, another lap.
* It was occupied and now holds more stones of the opponent's colour: the move ends.
* It was empty and is neutral: the move ends.
* It was empty and is the mover's: the move ends, with a capture if the hole opposite
  holds any stones.

**Capture.** Opposite are, on the same file, b3–e3 and b4–e4, b1–e1 and b2–e2. The corner
holes a1, f1, a4 and f4 have a neutral hole beside them and never capture. The opponent's
hole is emptied, even if it held only stones of the mover. The mover's own stones in it go
into the capturing hole. The opponent's are laid before the mover, and each three that lie
there are exchanged for one stone of the mover's colour, put into the capturing hole; none,
one or two remain. **[reading]** The supply of stones for the exchange is unlimited.

**Endless sowings.** A sowing of more than 10,000 laps is no legal move, and its hole does
not count as one that can be chosen. **[reading]** The source does not know that some
sowings never end (met about once in a million positions of random play), and that others
would end only after millions of laps. The longest that ended in nine million sowings of
random play took 853.

## The end

A player who has no legal move at his turn loses (`no-move`), even if the opponent could
not move either.

## Match rules

These are rules of this server, not of the game. **[reading]** The source knows no other
end, but a game need not come to one. A game is drawn when a position occurs for the third
time, or when it has lasted 500 plies.

A position is the same when its string is, all but the ply; the position before the first move
counts. A game ends first by its own rules, then by repetition, then by the ply limit.

## Notation

A move is the hole it starts from, as `c1`.

A position is `rank4/rank3/rank2/rank1 side whiteKept blackKept ply`, for example the start:

    4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0

* `rank4` to `rank1`: the holes from left to right; `0` is empty, `4w` are four white
  stones, `3b` three black ones, `2w3b` are both;
* `side`: the side to move, `w` or `b`;
* `whiteKept`, `blackKept`: the black stones that lie before White and the white ones
  before Black, 0 to 2;
* `ply`: moves made so far.

Counting all stones, the kept ones too, white + 3·black and 3·white + black are 160 at the
start and never grow.

## Source

Duovallis was invented by Frederik Adams in 2012; the rules are told in our own words.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from typing import Final, Self

from engines.rules.base import MAX_NUMBER, UNDECIDED, IllegalMove, Outcome, Position, Reason, Result, Side
from engines.rules.notation import field_error, parse_number, parse_turn, split_fields, split_parts

CREDIT: Final = "Frederik Adams, 2012"

START: Final = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0"
FIELDS: Final = ("rank4/rank3/rank2/rank1", "side", "whiteKept", "blackKept", "ply")
RANKS: Final = ("rank4", "rank3", "rank2", "rank1")
FILES: Final = "abcdef"

MAX_LAPS: Final = 10_000
ENDLESS: Final = -1
"""What stands for the last hole of a sowing that takes more laps than that."""
FIRST_LANDMARK: Final = 32
"""The lap at which looking for a cycle begins; nearly all sowings are over by then."""
EXCHANGE: Final = 3
"""Captured stones that buy one of the captor's colour; fewer are kept."""
MAX_WEIGHT: Final = 160
"""The most that white + 3·black or 3·white + black can come to: what they are at the start."""
MAX_STONES: Final = MAX_WEIGHT // 2
"""The most stones, of both colours together, that this leaves room for."""

# The layout of the board: who sows where, who owns what, what faces what. Tables of two are indexed by side.

PATHS: Final = (
    "a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2".split(),
    "f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3".split(),
)
BACK_ROWS: Final = ("a1 b1 c1 d1 e1 f1".split(), "a4 b4 c4 d4 e4 f4".split())
FRONT_ROWS: Final = ("b3 c3 d3 e3".split(), "b2 c2 d2 e2".split())
FACING: Final = tuple(
    (file + one, file + other) for one, other in (("1", "2"), ("3", "4")) for file in "bcde"
)

# What is computed from it. Holes are numbered in the order of the position string.

NAMES: Final = tuple(file + rank for rank in "4321" for file in FILES)
NUMBERS: Final = {name: hole for hole, name in enumerate(NAMES)}
BACK: Final = tuple({name: NUMBERS[name] for name in row} for row in BACK_ROWS)
FRONT: Final = tuple({name: NUMBERS[name] for name in row} for row in FRONT_ROWS)
OWN: Final = tuple({**back, **front} for back, front in zip(BACK, FRONT, strict=True))


def _follow(path: list[str]) -> tuple[tuple[int, ...], ...]:
    """For each hole: where the first, second, third … stone sown from it falls; empty off the path."""
    ring = [NUMBERS[name] for name in path]
    laps = ring * (MAX_STONES // len(ring) + 2)
    starts = {hole: place + 1 for place, hole in enumerate(ring)}
    return tuple(
        tuple(laps[starts[hole] : starts[hole] + MAX_STONES]) if hole in starts else ()
        for hole in range(len(NAMES))
    )


def _face() -> tuple[int, ...]:
    """For each hole: the opponent's hole that is captured from it, or -1."""
    facing = [-1] * len(NAMES)
    for pair in FACING:
        one, other = (NUMBERS[name] for name in pair)
        facing[one], facing[other] = other, one
    return tuple(facing)


FOLLOWING: Final = (_follow(PATHS[0]), _follow(PATHS[1]))
OPPOSITE: Final = _face()
FRONT_HOLES: Final = frozenset({*FRONT[Side.WHITE].values(), *FRONT[Side.BLACK].values()})


class DuovallisPosition(Position):
    """A position of Duovallis."""

    __slots__ = ("_back_row_opens", "_judged", "_kept", "_ply", "_side", "_stones")

    def __init__(
        self, stones: tuple[tuple[int, ...], tuple[int, ...]], side: Side, kept: tuple[int, int], ply: int
    ) -> None:
        """For this module; everybody else calls ``initial`` or ``parse``, which check what they read.

        ``stones`` are the white and the black ones in each hole.
        """
        self._stones = stones
        self._side = side
        self._kept = kept
        self._ply = ply
        self._back_row_opens: bool | None = None
        self._judged: Outcome | None = None

    @property
    def side(self) -> Side:
        return self._side

    @property
    def ply(self) -> int:
        return self._ply

    @property
    def stones(self) -> tuple[int, int]:
        """All white and all black stones in holes, whoever owns the hole."""
        return sum(self._stones[Side.WHITE]), sum(self._stones[Side.BLACK])

    @classmethod
    def initial(cls) -> Self:
        return cls.parse(START)

    @classmethod
    def parse(cls, text: str) -> Self:
        board, side_text, white_kept, black_kept, ply_text = split_fields(text, FIELDS)
        stones = _parse_holes(board)
        side, ply = parse_turn(side_text, ply_text, Side.WHITE)
        kept = _parse_kept(white_kept, "whiteKept"), _parse_kept(black_kept, "blackKept")
        white = sum(stones[Side.WHITE]) + kept[Side.BLACK]
        black = sum(stones[Side.BLACK]) + kept[Side.WHITE]
        for sum_of, weight in (
            ("white + 3·black", white + 3 * black),
            ("3·white + black", 3 * white + black),
        ):
            if weight > MAX_WEIGHT:
                raise field_error(
                    FIELDS[0], board, f"{sum_of} is {weight} with the kept stones, over {MAX_WEIGHT}"
                )
        return cls(stones, side, kept, ply)

    def __str__(self) -> str:
        holes = list(map(_format_hole, *self._stones))
        width = len(FILES)
        board = "/".join([",".join(holes[first : first + width]) for first in range(0, len(holes), width)])
        white_kept, black_kept = self._kept
        return f"{board} {self._side.letter} {white_kept} {black_kept} {self._ply}"

    def legal_moves(self) -> Iterator[str]:
        row = BACK if self._can_choose_back_row() else FRONT
        for name, hole in row[self._side].items():
            if self._is_eligible(hole) and self._ends(hole):
                yield name

    def is_legal(self, token: str) -> bool:
        hole = OWN[self._side].get(token)
        return hole is not None and not self._objection(hole) and self._ends(hole)

    def play(self, token: str) -> Self:
        hole = OWN[self._side].get(token)
        objection = "no hole of the side to move" if hole is None else self._objection(hole)
        if hole is None or objection:
            raise IllegalMove(token, self, objection)
        own, opponent = self._mutable_stones()
        last = _sow(own, opponent, hole, FOLLOWING[self._side])
        if last == ENDLESS:
            raise IllegalMove(token, self, f"the sowing would take more than {MAX_LAPS} laps")
        kept = list(self._kept)
        if own[last] + opponent[last] == 1 and OPPOSITE[last] >= 0:
            kept[self._side] = _capture(own, opponent, last, kept[self._side])
        mine, theirs = tuple(own), tuple(opponent)
        stones = (theirs, mine) if self._side else (mine, theirs)
        return type(self)(stones, self._side.other, (kept[0], kept[1]), self._ply + 1)

    def outcome(self) -> Outcome:
        if self._judged is None:
            self._judged = self._judge()
        return self._judged

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.DRAW, reason)

    def key(self) -> Hashable:
        return self._stones, self._side, self._kept

    def board(self) -> Mapping[str, str]:
        return dict(zip(NAMES, map(_format_hole, *self._stones), strict=True))

    def _judge(self) -> Outcome:
        can_move = self._can_choose_back_row() or any(
            self._is_eligible(hole) and self._ends(hole) for hole in FRONT[self._side].values()
        )
        return UNDECIDED if can_move else Outcome(Result.win_for(self._side.other), Reason.NO_MOVE)

    def _objection(self, hole: int) -> str:
        """Why the mover may not start from this own hole, if its sowing ends; empty if he may."""
        if not self._is_eligible(hole):
            return "a move needs two stones or more, at least half of them of the mover's colour"
        if hole in FRONT_HOLES and self._can_choose_back_row():
            return "a front-row hole may be chosen only if no back-row hole can be"
        return ""

    def _is_eligible(self, hole: int) -> bool:
        """Whether an own hole holds at least two stones, at least half of the mover's colour."""
        mine, theirs = self._stones[self._side][hole], self._stones[1 - self._side][hole]
        return mine >= theirs and mine + theirs > 1

    def _can_choose_back_row(self) -> bool:
        if self._back_row_opens is None:
            holes = [hole for hole in BACK[self._side].values() if self._is_eligible(hole)]
            self._back_row_opens = any(map(self._ends, holes))
        return self._back_row_opens

    def _ends(self, hole: int) -> bool:
        """Whether the sowing from an eligible hole ends within the laps allowed."""
        own, opponent = self._mutable_stones()
        return _sow(own, opponent, hole, FOLLOWING[self._side]) != ENDLESS

    def _mutable_stones(self) -> tuple[list[int], list[int]]:
        """The mover's and the opponent's stones in each hole."""
        return list(self._stones[self._side]), list(self._stones[1 - self._side])


def _sow(
    own: list[int],
    opponent: list[int],
    hole: int,
    following: tuple[tuple[int, ...], ...],
    max_laps: int = MAX_LAPS,
) -> int:
    """Sow lap after lap, in place, and return the hole in which the last stone falls; it holds
    that stone alone if it was empty. ``ENDLESS`` if that takes more than ``max_laps`` laps.

    What follows depends on nothing but the stones on the board and the hole to be sown next. So
    when both come back as they were at an earlier lap, the sowing never ends, and the remaining
    laps need not be made. Laps are compared with a landmark that moves on at each power of two
    (Brent's cycle detection); ten thousand laps, the worst case, take some ten milliseconds.
    """
    landmark_hole, landmark_own, landmark_opponent = ENDLESS, own, opponent
    next_landmark = FIRST_LANDMARK
    for lap in range(max_laps):
        theirs = opponent[hole]
        stones = own[hole] + theirs
        own[hole] = opponent[hole] = 0
        route = following[hole]
        for target in route[:theirs]:
            opponent[target] += 1
        for target in route[theirs:stones]:
            own[target] += 1
        hole = route[stones - 1]
        theirs = opponent[hole]
        if own[hole] < theirs or own[hole] + theirs == 1:
            return hole
        if hole == landmark_hole and own == landmark_own and opponent == landmark_opponent:
            return ENDLESS
        if lap == next_landmark:
            landmark_hole, landmark_own, landmark_opponent = hole, own[:], opponent[:]
            next_landmark *= 2
    return ENDLESS


def _capture(own: list[int], opponent: list[int], hole: int, kept: int) -> int:
    """Capture from ``hole`` whatever lies opposite, in place; return what the mover then keeps before him."""
    captured = OPPOSITE[hole]
    bought, kept = divmod(kept + opponent[captured], EXCHANGE)
    own[hole] += own[captured] + bought
    own[captured] = opponent[captured] = 0
    return kept


def _parse_holes(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The white and the black stones in each hole."""
    found: list[tuple[int, int]] = []
    for rank, row in zip(RANKS, split_parts(text, "/", len(RANKS), FIELDS[0], "ranks"), strict=True):
        holes = split_parts(row, ",", len(FILES), rank, "holes")
        for file, hole in zip(FILES, holes, strict=True):
            stones = _parse_hole(hole) if len(hole) <= LONGEST_HOLE else None
            if stones is None:
                raise field_error(f"{rank} hole {file}{rank[-1]}", hole, HOLE_GRAMMAR)
            found.append(stones)
    white, black = zip(*found, strict=True)
    return white, black


LONGEST_HOLE: Final = len(f"{MAX_NUMBER}w{MAX_NUMBER}b")
"""Longer texts are refused unread, so that none of them stays in the cache."""
HOLE_GRAMMAR: Final = f"not spelled as '0', '4w', '3b' or '2w3b', with numbers up to {MAX_NUMBER}"
_HOLE: Final = re.compile(r"0|(?=[1-9])(?:([1-9][0-9]{0,8})w)?(?:([1-9][0-9]{0,8})b)?")


@lru_cache(maxsize=4096)
def _parse_hole(text: str) -> tuple[int, int] | None:
    """The white and the black stones of a hole; None if it is not spelled as it must be."""
    match = _HOLE.fullmatch(text)
    return match and (int(match[1] or 0), int(match[2] or 0))


@lru_cache(maxsize=4096)
def _format_hole(white: int, black: int) -> str:
    return (f"{white}w" if white else "") + (f"{black}b" if black else "") or "0"


def _parse_kept(text: str, field: str) -> int:
    kept = parse_number(text, field)
    if kept >= EXCHANGE:
        raise field_error(
            field, text, f"each {EXCHANGE} kept stones are exchanged, so no more than 2 can lie there"
        )
    return kept
