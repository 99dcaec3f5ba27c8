"""# Dogon

A sowing game on two rows of holes, played with seeds of one colour. There are two
ladders with the same rules: **kulei**, 2×6 holes with four seeds each, and
**gagara**, 2×8 holes with six seeds each.

## The board

White owns rank 1, Black owns rank 2. This is kulei at the start:

```
        a   b   c   d   e   f
      +---+---+---+---+---+---+
    2 | 4 | 4 | 4 | 4 | 4 | 4 |   Black
      +---+---+---+---+---+---+
    1 | 4 | 4 | 4 | 4 | 4 | 4 |   White
      +---+---+---+---+---+---+
```

Gagara has the files `a` to `h`. Captured seeds lie in a player's store, beside the board.

## A turn

White starts. **[reading]** The source does not say who does.

The mover takes all seeds of one of his own holes and drops them, one at a time, into
the holes that follow, counterclockwise (`+`: a1 → f1, up to f2 → a2, down to a1) or
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

These are rules of this server, not of the game. **[reading]** The source has no other
end, but a game need not come to one. When a position occurs for the third time, or the
game has lasted 500 plies (gagara 700), each player receives the seeds in his own holes,
and the seeds are counted.

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

from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Reason, Result, Side, next_ply
from engines.rules.native import i64
from engines.rules.notation import field_error, parse_number, parse_turn, split_fields, split_parts
from engines.rules.sowing import HOLE_BITS, HOLE_MASK, WORD_BITS, SowingPosition, add_up, pack, unpack

CREDIT: Final = "Ralf Gering, 2010 (rules as of July 2023)"

PASS: Final = "pass"
ONLY_PASS: Final = (PASS,)
PASS_PRICE: Final = 2
"""Captured seeds that a pass costs."""
NO_SOWING: Final = -1
"""The number of a sowing for a token that is not one."""

FIELDS: Final = ("rank2/rank1", "side", "whiteStore", "blackStore", "passed", "run", "ply")

DIRECTIONS: Final = "+-"
"""The letters of the two directions, counterclockwise first; a direction is an index into this."""

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

# A row is one word, so that a sowing is one addition to each row. Holes are numbered counterclockwise,
# from their owner's left to his right. Rotated the board is the same, so one set of tables serves both
# sides.

FIRST_BACK: Final = 0b10
"""The sowing out of a row's first hole back, clockwise, as a set of sowings."""


@final
class Board:
    """One size of board: the names of holes, and tables of the sowings.

    A sowing is numbered 2·hole + direction, with the hole counted from the mover's left; a set of
    sowings has bit k for the sowing numbered k. The tables of changes are indexed by
    sowing · (``seeds`` + 1) + the number of seeds sown.
    """

    def __init__(self, files: str, seeds_a_hole: int) -> None:
        self.files = files
        self.width: i64 = len(files)
        self.seeds: i64 = seeds_a_hole * 2 * self.width
        self.names = tuple([f"{file}1" for file in files] + [f"{file}2" for file in reversed(files)])
        left_to_right = range(len(files))
        self.sowings = (
            self._name_sowings(0, left_to_right),
            self._name_sowings(len(files), left_to_right[::-1]),
        )
        """For each side: the number of a sowing by its token, in the order of ``legal_moves``."""
        done = [change for sowing in range(2 * len(files)) for change in self._sow(sowing)]
        self.own_changes = tuple([own for own, _, _ in done])
        """The change of the mover's row: the seeds sown there less the seeds taken."""
        self.opponent_changes = tuple([opponent for _, opponent, _ in done])
        """The change of the opponent's row."""
        self.ends = tuple([end for _, _, end in done])
        """The first bit of the opponent's hole in which the last seed falls; -1 for a hole of the mover."""
        self.last: i64 = HOLE_BITS * (self.width - 1)
        """The first bit of a row's last hole."""
        self.last_forth: i64 = 1 << 2 * (len(files) - 1)
        """The sowing out of the last hole forth, as a set."""
        reach = [min(len(files) - hole, hole + 1) for hole in left_to_right]
        self.at_least_two: i64 = pack([0b1111110 for _ in reach])
        self.at_least_two_or_four: i64 = pack([0b1111110 if seeds <= 2 else 0b1111100 for seeds in reach])
        self.three: i64 = pack([1 if seeds == 3 else 0 for seeds in reach])
        self._spelled: tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]] = {}, {}

    def _name_sowings(self, first: int, row: range) -> dict[str, int]:
        return {
            self.names[first + hole] + letter: 2 * hole + direction
            for hole in row
            for direction, letter in enumerate(DIRECTIONS)
        }

    def _sow(self, sowing: int) -> Iterator[tuple[int, int, int]]:
        """For 0, 1, 2 … seeds: the changes of the two rows, and where the last seed falls."""
        start, direction = divmod(sowing, 2)
        row = HOLE_BITS * int(self.width)
        step = -HOLE_BITS if direction else HOLE_BITS
        sown, taken, target = 0, 0, HOLE_BITS * start
        for _ in range(int(self.seeds) + 1):
            # the opponent's row follows the mover's as the higher half of one number
            yield sown % (1 << row) - taken, sown >> row, target - row if target >= row else -1
            target = (target + step) % (2 * row)
            if target == HOLE_BITS * start:
                target = (target + step) % (2 * row)
            sown += 1 << target
            taken += 1 << HOLE_BITS * start

    def spell(self, side: i64, legal: i64) -> tuple[str, ...]:
        """The tokens of a set of sowings; cached."""
        spelled = self._spelled[side]
        tokens = spelled.get(legal)
        if tokens is None:
            named = self.sowings[side].items()
            tokens = spelled[legal] = tuple([token for token, sowing in named if legal >> sowing & 1])
        return tokens

    def can_sow(self, own: i64, opponent: i64, passed: bool) -> bool:
        """Whether the owner of the row ``own`` has a legal sowing; does not visit each hole.

        ``passed``: the other side passed immediately before. The turning limit never forbids a
        player's last sowing, because he may always keep his direction.

        The nearer end of a row is one to four seeds away. A hole holds at least two if any bit but
        the lowest is set, at least four if any but the lowest two, and three if both of these are.
        """
        enough = self.at_least_two if passed else self.at_least_two_or_four
        if own & enough or own & own >> 1 & self.three:
            return True
        return self.find_captures_with_one(own, opponent) != 0

    def find_captures_with_one(self, own: i64, opponent: i64) -> i64:
        """The set of legal sowings of a single seed: from an end of the row ``own``, with a capture."""
        captures: i64 = 0
        if own & HOLE_MASK == 1 and _becomes_capturable(opponent >> self.last):
            captures = FIRST_BACK
        if own >> self.last == 1 and _becomes_capturable(opponent & HOLE_MASK):
            captures += self.last_forth
        return captures

    def find_sowings(self, own: i64, opponent: i64, free_forth: bool, free_back: bool) -> i64:
        """The set of legal sowings; in a free direction no seed needs to reach the opponent's row."""
        legal = self.find_captures_with_one(own, opponent)
        forth: i64 = 1
        reach_back: i64 = 1
        while own:
            seeds = own & HOLE_MASK
            if seeds > 1:
                if free_forth or seeds > self.width - reach_back:
                    legal += forth
                if free_back or seeds >= reach_back:
                    legal += forth + forth
            own >>= HOLE_BITS
            forth <<= 2
            reach_back += 1
        return legal


KULEI: Final = Board("abcdef", 4)
GAGARA: Final = Board("abcdefgh", 6)


class DogonPosition(SowingPosition):
    """A position of kulei or gagara, which differ only in the size of the board."""

    __slots__ = ("_opponent", "_opponent_store", "_own", "_own_store", "_passed", "_run", "_tables")

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

    @property
    def holes(self) -> tuple[int, ...]:
        """The seeds in each hole, counterclockwise from a1: White's row, then Black's from the right."""
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

    def is_legal(self, token: str) -> bool:
        return not self._objection(token, self._number(token))

    def play(self, token: str) -> Self:
        sowing = self._number(token)
        objection = self._objection(token, sowing)
        if objection:
            raise IllegalMove(token, self, objection)
        return self._pass() if sowing == NO_SOWING else self._sow(sowing)

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        """The outcome when each player receives the seeds in his own holes."""
        return self._count(self._own_store + add_up(self._own), reason)

    def key(self) -> Hashable:
        # the other store has all other seeds
        return self._own, self._opponent, self._own_store, self._side, self._passed, self._run

    def board(self) -> Mapping[str, str]:
        return dict(zip(self._tables.names, map(str, self.holes), strict=True))

    def _find_moves(self) -> tuple[str, ...]:
        tables = self._tables
        forth, back = TURNS[self._run] if self._passed else ("", "")
        legal = tables.find_sowings(self._own, self._opponent, forth != "", back != "")
        if legal:
            return tables.spell(self._side, legal)
        return () if self.outcome().decided else ONLY_PASS

    def _number(self, token: str) -> i64:
        """The number of a sowing by the side to move, or ``NO_SOWING``."""
        return self._tables.sowings[self._side].get(token, NO_SOWING)

    def _objection(self, token: str, sowing: i64) -> str:
        """Why the side to move may not play ``token``; empty if it may."""
        if sowing != NO_SOWING:
            return self._objection_to_sowing(sowing)
        if token == PASS:
            return self._objection_to_pass()
        return "no sowing of an own hole, nor a pass"

    def _objection_to_sowing(self, sowing: i64) -> str:
        tables = self._tables
        hole, direction = sowing >> 1, sowing & 1
        seeds = self._own >> HOLE_BITS * hole & HOLE_MASK
        if seeds < 2:
            if seeds and tables.find_captures_with_one(self._own, self._opponent) >> sowing & 1:
                return ""
            return "a single seed may be sown only to capture" if seeds else "the hole is empty"
        if seeds >= (hole + 1 if direction else tables.width - hole):
            return ""
        if not self._passed:
            return "no seed would reach the opponent's row"
        if not TURNS[self._run][direction]:
            return "the direction may be changed only twice while the opponent passes"
        return ""

    def _objection_to_pass(self) -> str:
        if self._tables.can_sow(self._own, self._opponent, self._passed):
            return "a player who can sow may not pass"
        return "the game is over" if self.outcome().decided else ""

    def _judge(self) -> Outcome:
        tables = self._tables
        if tables.can_sow(self._own, self._opponent, self._passed):
            return UNDECIDED
        if not tables.can_sow(self._opponent, self._own, True):
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

    def _sow(self, sowing: i64) -> Self:
        tables = self._tables
        direction = sowing & 1
        seeds = self._own >> HOLE_BITS * (sowing >> 1) & HOLE_MASK
        entry = sowing * (tables.seeds + 1) + seeds
        own = self._own + tables.own_changes[entry]
        reached: i64 = tables.opponent_changes[entry]
        opponent = self._opponent + reached
        captured = _find_captured(opponent, tables.ends[entry], HOLE_BITS if direction else -HOLE_BITS)
        # a legal sowing that stays in its own row follows a pass
        run = NO_RUN if reached else TURNS[self._run][direction]
        stores = self._opponent_store, self._own_store + add_up(captured)
        return self._after((opponent - captured, own), stores, False, run)

    def _pass(self) -> Self:
        stores = self._opponent_store + PASS_PRICE, self._own_store - PASS_PRICE
        return self._after((self._opponent, self._own), stores, True, self._run)


@final
class KuleiPosition(DogonPosition):
    """Dogon on 2×6 holes with four seeds each."""

    __slots__ = ()

    tables = KULEI

    def _after(self, rows: tuple[i64, i64], stores: tuple[i64, i64], passed: bool, run: str) -> Self:
        return KuleiPosition(KULEI, rows, stores, 1 - self._side, passed, run, next_ply(self._ply))


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
