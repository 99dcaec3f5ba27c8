# The same rules in the plainest Python, sentence by sentence, are in tests/literal/duovallis.py.
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

Rank 1 is White's back row, rank 4 Black's. White's front row is b3 to e3, Black's b2 to e2;
a2, f2, a3 and f3 are neutral.

Each player sows along a ring of fourteen holes, anticlockwise, and never into a hole of
the opponent:

* White: a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2, and again a1
* Black: f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3, and again f4

At the start every owned hole holds four stones of its owner's colour; the neutral holes
are empty.

**[reading]** The picture in the source is lost. Its text needs neutral holes that both
players sow, or the colours would never mix, and captures between one player's front row
and the other's back row. The board above satisfies both, with every neutral hole on both
paths. One with the files a and f wholly neutral would fit too.

## A turn

White starts. The mover chooses one of his holes that holds at least two stones, at least
half of them of his colour. A hole of the front row may be chosen only if none of the back
row can be. A neutral hole is never chosen.

He takes all its stones and drops them, one at a time, into the following holes of his
path: first the opponent's colour, then his own. The hole he started from is included
when the sowing comes round to it. **[reading]** The source does not say.

What happens next depends on the hole in which the last stone falls, as it was just before
that stone. **[reading]** So a hole refilled by its own fourteenth stone was empty.

* It was occupied, and now at least half of its stones are of the mover's colour: all of
  them are sown in another lap.
* It was occupied, and now more than half of its stones are of the opponent's colour: the
  move ends.
* It was empty and is neutral: the move ends.
* It was empty and is the mover's: the move ends, with a capture if the hole opposite
  holds any stones.

**Capture.** Opposite are, on the same file, b3–e3 and b4–e4, b1–e1 and b2–e2. The corner
holes a1, f1, a4 and f4 have a neutral hole beside them and never capture. The opponent's
hole is emptied, even if it held only stones of the mover. The mover's own stones in it go
into the capturing hole. The opponent's are kept by the mover, and each three kept stones
are exchanged for one stone of the mover's colour, put into the capturing hole; none,
one or two remain. **[reading]** The supply of stones for the exchange is unlimited.

**Endless sowings.** A sowing of more than 10,000 laps is not a legal move, and its hole does
not count as one that can be chosen. **[reading]** The source does not mention that some
sowings never end (about one in a million positions of random play), and that others
end only after millions of laps. Among nine million sowings of random play that ended, the
longest took 853 laps.

## The end

A player who has no legal move at his turn loses (`no-move`), even if the opponent could
not move either.

## Match rules

These are rules of this server, not of the game. A game is drawn when a position occurs for
the third time, or when it has lasted 500 plies. **[reading]** The source has no other end,
but a game need not come to one.

Positions are the same if their strings agree in all fields but the ply; the position before the
first move counts. A game ends first by its own rules, then by repetition, then by the ply limit.

## Notation

A move is the hole where it starts, such as `c1`.

A position is `rank4/rank3/rank2/rank1 side whiteKept blackKept ply`, for example the start:

    4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0

* `rank4` to `rank1`: the holes from left to right; `0` is empty, `4w` are four white
  stones, `3b` three black ones, `2w3b` are both;
* `side`: the side to move, `w` or `b`;
* `whiteKept`, `blackKept`: the black stones kept by White and the white ones
  kept by Black, 0 to 2;
* `ply`: moves made so far. White moves at even plies, and the ply limit counts it.

Counted with the kept stones, white + 3·black and 3·white + black are 160 at the
start and never increase.

## Source

Duovallis was invented by Frederik Adams in 2012; the rules are in our own words.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, Self, final

from engines.rules.base import (
    MAX_NUMBER,
    UNDECIDED,
    IllegalMove,
    Outcome,
    Position,
    Reason,
    Result,
    Side,
    next_ply,
)
from engines.rules.native import i64, mypyc_attr
from engines.rules.notation import field_error, parse_number, parse_turn, split_fields, split_parts
from engines.rules.sowing import (
    HOLE_BITS,
    HOLE_MASK,
    SIDES,
    WORD_HOLES,
    SowingPosition,
    add_up,
    pack,
    unpack,
)

CREDIT: Final = "Frederik Adams, 2012"

START: Final = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0"
FIELDS: Final = ("rank4/rank3/rank2/rank1", "side", "whiteKept", "blackKept", "ply")
RANKS: Final = ("rank4", "rank3", "rank2", "rank1")
FILES: Final = "abcdef"

MAX_LAPS: Final = 10_000
ENDLESS: Final = -1
"""The last hole of a sowing of more than ``MAX_LAPS`` laps."""
FIRST_LANDMARK: Final = 32
"""The lap at which the search for a cycle begins; nearly all sowings are shorter."""
EXCHANGE: Final = 3
"""Captured stones that are exchanged for one of the mover's colour; fewer are kept."""
MAX_WEIGHT: Final = 160
"""The maximum of white + 3·black and of 3·white + black: their values at the start."""
MAX_STONES: Final = MAX_WEIGHT // 2
"""The maximum number of stones of both colours, by ``MAX_WEIGHT``."""

# The layout of the board: paths, owners, facing holes. Tables with two entries are indexed by side.

PATHS: Final[tuple[list[str], ...]] = (
    "a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2".split(),
    "f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3".split(),
)
BACK_ROWS: Final = ("a1 b1 c1 d1 e1 f1".split(), "a4 b4 c4 d4 e4 f4".split())
FRONT_ROWS: Final = ("b3 c3 d3 e3".split(), "b2 c2 d2 e2".split())
FACING: Final = {
    **{file + "1": file + "2" for file in "bcde"},
    **{file + "3": file + "4" for file in "bcde"},
}
"""The hole that White captures from each of his holes."""

NAMES: Final = tuple(file + rank for rank in "4321" for file in FILES)
# Tables computed from the layout. A player's holes are numbered by their places on his path, from 0: the
# back row, two neutral holes, the front row, and the other two neutral holes; these two follow the
# opponent's back row on his path. Rotated the board is the same, so one set of tables serves both sides.

RING: Final = 14
BACK_HOLES: Final = 6
FRONT_HOLES: Final = 4
BACK_BITS: Final = HOLE_BITS * BACK_HOLES
FRONT_BITS: Final = HOLE_BITS * FRONT_HOLES
FIRST_FRONT: Final = 8
"""The place of the first hole of the front row."""

OWN: Final = tuple(
    {name: path.index(name) for name in (*back, *front)}
    for path, back, front in zip(PATHS, BACK_ROWS, FRONT_ROWS, strict=True)
)
"""The places of each side's own holes by name, in the order of ``legal_moves``."""
OWN_PLACES: Final = tuple(tuple(own.values()) for own in OWN)
BACK_PLACES: Final = tuple(places[:BACK_HOLES] for places in OWN_PLACES)
FRONT_PLACES: Final = tuple(places[BACK_HOLES:] for places in OWN_PLACES)
OPPOSITE: Final = tuple(
    PATHS[Side.BLACK].index(FACING[name]) if name in FACING else -1 for name in PATHS[Side.WHITE]
)
"""The place of the opponent's path that is captured from each place, or -1."""

Stones = tuple[i64, i64, i64, i64]
"""The stones of one colour in four words: the first eight places of the mover's path, the other six,
and the opponent's back row and front row, in the order of the opponent's path."""


def _lay_out(side: Side) -> tuple[str, ...]:
    """The holes in the order of ``Stones``, when this side is to move."""
    path, other = PATHS[side], PATHS[side.other]
    return (*path, *other[:BACK_HOLES], *other[FIRST_FRONT : FIRST_FRONT + FRONT_HOLES])


LAYOUTS: Final = (_lay_out(Side.WHITE), _lay_out(Side.BLACK))
IN_NAMES_ORDER: Final = tuple(itemgetter(*[layout.index(name) for name in NAMES]) for layout in LAYOUTS)
"""A function for each side to move that reorders holes from the order of ``Stones`` to that of ``NAMES``."""
IN_STONES_ORDER: Final = tuple(itemgetter(*[NAMES.index(name) for name in layout]) for layout in LAYOUTS)
"""The reverse."""


@final
class Lap:
    """A lap of a sowing: the changes of the two words of the path, and the place of the last stone."""

    __slots__ = ("high", "last", "low")

    def __init__(self, low: i64, high: i64, last: i64) -> None:
        self.low = low
        self.high = high
        self.last = last


def _sow_lap(place: int) -> Iterator[Lap]:
    """For 0, 1, 2 … stones taken from this place: the lap that sows them."""
    ring = [0] * RING
    yield Lap(0, 0, place)
    for stones in range(1, MAX_STONES + 1):
        last = (place + stones) % RING
        ring[last] += 1
        taken = stones << HOLE_BITS * (place % WORD_HOLES)
        low, high = pack(ring[:WORD_HOLES]), pack(ring[WORD_HOLES:])
        yield Lap(low - taken, high, last) if place < WORD_HOLES else Lap(low, high - taken, last)


STRIDE: Final = MAX_STONES + 1
LAPS: Final = tuple([lap for place in range(RING) for lap in _sow_lap(place)])
"""Indexed by place · ``STRIDE`` + the stones taken."""

NOWHERE: Final = -1
UNKNOWN: Final = -2
"""Values for the place of the first legal move: there is none; it is not computed yet."""


@mypyc_attr(free_list_len=1)
@final
class DuovallisPosition(SowingPosition):
    """A position of Duovallis."""

    __slots__ = ("_count", "_first", "_kept", "_legal", "_other", "_own")

    def __init__(self, own: Stones, other: Stones, kept: tuple[i64, i64], side: i64, ply: i64) -> None:
        """Private to this module: other code calls ``initial`` or ``parse``, which check their input.

        ``own`` are the stones of the mover's colour, ``other`` those of the opponent's; ``kept`` are
        kept by the mover and by the opponent; ``side`` is the mover.
        """
        self._own = own
        self._other = other
        self._kept = kept
        super().__init__(side, ply)
        self._first: i64 = UNKNOWN
        self._legal: i64 = UNKNOWN
        self._count: i64 = 0

    @property
    def stones(self) -> tuple[int, int]:
        """The numbers of white and black stones in all holes."""
        own, other = _add_up_all(self._own), _add_up_all(self._other)
        return (other, own) if self._side else (own, other)

    def count_captured(self, after: Position) -> int:
        assert isinstance(after, DuovallisPosition)
        other = self.side.other
        return self.stones[other] - after.stones[other]

    @property
    def holes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The white and the black stones in each hole, in the order of ``NAMES``."""
        order = IN_NAMES_ORDER[self._side]
        own, other = order(_unpack_all(self._own)), order(_unpack_all(self._other))
        return (other, own) if self._side else (own, other)

    @property
    def kept(self) -> tuple[int, int]:
        """The captured stones kept by White and by Black, 0 to 2."""
        own, other = self._kept
        return (other, own) if self._side else (own, other)

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
        order = IN_STONES_ORDER[side]
        own, other = _pack_all(order(stones[side])), _pack_all(order(stones[side.other]))
        return cls(own, other, (kept[side], kept[side.other]), side, ply)

    def __str__(self) -> str:
        holes = list(map(_format_hole, *self.holes))
        width = len(FILES)
        board = "/".join([",".join(holes[first : first + width]) for first in range(0, len(holes), width)])
        white_kept, black_kept = self.kept
        return f"{board} {self.side.letter} {white_kept} {black_kept} {self._ply}"

    def legal_moves(self) -> Iterator[str]:
        path, legal = PATHS[self._side], self._find_legal()
        return iter([path[place] for place in OWN_PLACES[self._side] if legal >> place & 1])

    def count_moves(self) -> int:
        self._find_legal()
        return self._count

    def move_at(self, index: int) -> str:
        return PATHS[self._side][self._place_at(index)]

    def play_at(self, index: int) -> tuple[str, Self]:
        place = self._place_at(index)
        own, other, last = _sow(self._own, self._other, place)
        return PATHS[self._side][place], self._after(own, other, last)

    def is_legal(self, token: str) -> bool:
        place = self._place(token)
        return place != NOWHERE and not self._objection(place) and self._ends(place)

    def play(self, token: str) -> Self:
        place = self._place(token)
        objection = "no hole of the side to move" if place == NOWHERE else self._objection(place)
        if objection:
            raise IllegalMove(token, self, objection)
        own, other, last = _sow(self._own, self._other, place)
        if last == ENDLESS:
            raise IllegalMove(token, self, f"the sowing would take more than {MAX_LAPS} laps")
        return self._after(own, other, last)

    def _after(self, own: Stones, other: Stones, last: i64) -> Self:
        """The position after a sowing that left these stones and ended at this place."""
        kept, others_kept = self._kept
        if OPPOSITE[last] != NOWHERE and _is_alone(own, other, last):
            own, other, kept = _capture(own, other, last, kept)
        return DuovallisPosition(
            _turn_round(other), _turn_round(own), (others_kept, kept), 1 - self._side, next_ply(self._ply)
        )

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.DRAW, reason)

    def key(self) -> Hashable:
        return self._own, self._other, self._kept, self._side

    def board(self) -> Mapping[str, str]:
        return dict(zip(NAMES, map(_format_hole, *self.holes), strict=True))

    def _judge(self) -> Outcome:
        if self._find_first() != NOWHERE:
            return UNDECIDED
        return Outcome(Result.win_for(SIDES[1 - self._side]), Reason.NO_MOVE)

    def _place(self, token: str) -> i64:
        """The place of an own hole, or ``NOWHERE``."""
        return OWN[self._side].get(token, NOWHERE)

    def _objection(self, place: i64) -> str:
        """Why the mover may not start from this own hole, if its sowing ends; empty if he may."""
        if not self._is_eligible(place):
            return "a move needs two stones or more, at least half of them of the mover's colour"
        if place >= FIRST_FRONT and self._can_choose_back_row():
            return "a front-row hole may be chosen only if no back-row hole can be"
        return ""

    def _is_eligible(self, place: i64) -> bool:
        """Whether an own hole has at least two stones, at least half of the mover's colour."""
        own, other = _look(self._own[0], self._own[1], self._other[0], self._other[1], place)
        return own >= other and own + other > 1

    def _can_choose_back_row(self) -> bool:
        return NOWHERE < self._find_first() < BACK_HOLES

    def _find_first(self) -> i64:
        """The place of the first legal move, or ``NOWHERE``; computed once."""
        if self._first == UNKNOWN:
            self._first = NOWHERE
            for place in OWN_PLACES[self._side]:
                if self._is_eligible(place) and self._ends(place):
                    self._first = place
                    break
        return self._first

    def _find_legal(self) -> i64:
        """The places of the legal moves as a set of bits; they are found and counted once."""
        if self._legal == UNKNOWN:
            self._legal = self._find_in(BACK_PLACES[self._side]) or self._find_in(FRONT_PLACES[self._side])
        return self._legal

    def _find_in(self, row: tuple[int, ...]) -> i64:
        """The places of one row from which a sowing may start and ends, counting them."""
        found: i64 = 0
        for place in row:
            if place == self._first or (self._is_eligible(place) and self._ends(place)):
                found |= 1 << place
                self._count += 1
        return found

    def _place_at(self, index: int) -> i64:
        """The place of the legal move at this index."""
        legal, left = self._find_legal(), index
        for place in OWN_PLACES[self._side]:
            if legal >> place & 1:
                if left == 0:
                    return place
                left -= 1
        raise IndexError(f"no legal move at index {index}")

    def _ends(self, place: i64) -> bool:
        """Whether the sowing from an eligible hole ends within the laps allowed."""
        return _sow(self._own, self._other, place)[2] != ENDLESS


def _sow(own: Stones, other: Stones, place: i64, max_laps: i64 = MAX_LAPS) -> tuple[Stones, Stones, i64]:
    """Sow lap after lap; returns the stones and the place in which the last one falls, which has only
    that stone if it was empty; ``ENDLESS`` instead of the place after more than ``max_laps`` laps.

    A sowing depends only on the stones on the board and the hole to be sown next. So if both are the
    same as at an earlier lap, the sowing never ends, and the remaining laps are skipped. Laps are
    compared with a landmark that moves at each power of two (Brent's cycle detection); ten thousand
    laps, the worst case, take some five milliseconds uncompiled.
    """
    own_low, own_high, own_back, own_front = own
    other_low, other_high, other_back, other_front = other
    mine, theirs = _look(own_low, own_high, other_low, other_high, place)
    landmark: i64 = NOWHERE
    words_there = own_low, own_high, other_low, other_high
    next_landmark: i64 = FIRST_LANDMARK
    for lap in range(max_laps):
        # the opponent's stones are sown first, the own ones after them
        sown, first_sown = LAPS[place * STRIDE + mine + theirs], LAPS[place * STRIDE + theirs]
        other_low += first_sown.low
        other_high += first_sown.high
        own_low += sown.low - first_sown.low
        own_high += sown.high - first_sown.high
        place = sown.last
        mine, theirs = _look(own_low, own_high, other_low, other_high, place)
        if mine < theirs or mine + theirs == 1:
            own = own_low, own_high, own_back, own_front
            return own, (other_low, other_high, other_back, other_front), place
        if place == landmark and words_there == (own_low, own_high, other_low, other_high):
            return own, other, ENDLESS
        if lap == next_landmark:
            landmark, words_there = place, (own_low, own_high, other_low, other_high)
            next_landmark *= 2
    return own, other, ENDLESS


def _is_alone(own: Stones, other: Stones, place: i64) -> bool:
    """Whether a place has a single stone."""
    mine, theirs = _look(own[0], own[1], other[0], other[1], place)
    return mine + theirs == 1


def _capture(own: Stones, other: Stones, place: i64, kept: i64) -> tuple[Stones, Stones, i64]:
    """Capture the hole opposite ``place``; returns the stones after it, and those that the mover keeps."""
    own_low, own_high, own_back, own_front = own
    other_low, other_high, other_back, other_front = other
    captured: i64 = OPPOSITE[place]
    freed, taken = _look(own_back, own_front, other_back, other_front, captured)
    kept += taken
    own_low, own_high = _put(own_low, own_high, place, freed + kept // EXCHANGE)
    own_back, own_front = _put(own_back, own_front, captured, -freed)
    other_back, other_front = _put(other_back, other_front, captured, -taken)
    own = own_low, own_high, own_back, own_front
    return own, (other_low, other_high, other_back, other_front), kept % EXCHANGE


def _turn_round(stones: Stones) -> Stones:
    """The same stones with the other player to move: the rows are exchanged, the neutral holes stay."""
    low, high, back, front = stones
    behind_back, behind_front = low >> BACK_BITS, high >> FRONT_BITS
    return (
        back + (behind_front << BACK_BITS),
        front + (behind_back << FRONT_BITS),
        low - (behind_back << BACK_BITS),
        high - (behind_front << FRONT_BITS),
    )


def _look(own_low: i64, own_high: i64, other_low: i64, other_high: i64, place: i64) -> tuple[i64, i64]:
    """The stones of both colours at a place of a path, given as words of the first eight holes and others."""
    if place < WORD_HOLES:
        shift = HOLE_BITS * place
        return own_low >> shift & HOLE_MASK, other_low >> shift & HOLE_MASK
    shift = HOLE_BITS * (place - WORD_HOLES)
    return own_high >> shift & HOLE_MASK, other_high >> shift & HOLE_MASK


def _put(low: i64, high: i64, place: i64, stones: i64) -> tuple[i64, i64]:
    """The two words with ``stones`` added at a place."""
    if place < WORD_HOLES:
        return low + (stones << HOLE_BITS * place), high
    return low, high + (stones << HOLE_BITS * (place - WORD_HOLES))


def _add_up_all(stones: Stones) -> i64:
    low, high, back, front = stones
    return add_up(low) + add_up(high) + add_up(back) + add_up(front)


def _pack_all(holes: Sequence[int]) -> Stones:
    """The stones of 24 holes, given in the order of ``Stones``."""
    beyond = holes[RING:]
    return (
        pack(holes[:WORD_HOLES]),
        pack(holes[WORD_HOLES:RING]),
        pack(beyond[:BACK_HOLES]),
        pack(beyond[BACK_HOLES:]),
    )


def _unpack_all(stones: Stones) -> bytes:
    """The inverse of ``_pack_all``."""
    low, high, back, front = stones
    path = unpack(low, WORD_HOLES) + unpack(high, RING - WORD_HOLES)
    return path + unpack(back, BACK_HOLES) + unpack(front, FRONT_HOLES)


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
"""Longer texts are refused first, so that none of them is cached."""
HOLE_GRAMMAR: Final = f"not spelled as '0', '4w', '3b' or '2w3b', with numbers up to {MAX_NUMBER}"
_HOLE: Final = re.compile(r"0|(?=[1-9])(?:([1-9][0-9]{0,8})w)?(?:([1-9][0-9]{0,8})b)?")


@lru_cache(maxsize=4096)
def _parse_hole(text: str) -> tuple[int, int] | None:
    """The white and the black stones of a hole; None if it is misspelled."""
    match = _HOLE.fullmatch(text)
    return match and (int(match[1] or 0), int(match[2] or 0))


@lru_cache(maxsize=4096)
def _format_hole(white: int, black: int) -> str:
    return (f"{white}w" if white else "") + (f"{black}b" if black else "") or "0"


def _parse_kept(text: str, field: str) -> int:
    kept = parse_number(text, field)
    if kept >= EXCHANGE:
        raise field_error(field, text, f"each {EXCHANGE} kept stones are exchanged, so at most 2 can be kept")
    return kept
