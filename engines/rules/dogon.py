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
seeds of that hole are captured. So are those of the hole before it, against the
direction of sowing, and of the one before that, as long as they follow without a gap,
belong to the opponent and hold 2 or 3. Capturing everything is allowed.

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
A pass costs two captured seeds, paid to the opponent.

## The end

The game ends in the moment when a player would have to pass, and

* the opponent could not sow after that pass either: nothing is paid, and each player
  receives the seeds in his own holes (`seeds`); or else
* he has fewer than two captured seeds to pay with: all seeds on the board go to the
  opponent (`cannot-pay`).

In both cases there is no `pass` to play any more: it is legal exactly when it is paid
and the game goes on. Whoever has more seeds wins; with equal numbers the game is drawn.

## Match rules

These are rules of this server, not of the game. **[reading]** The source knows no other
end, but a game need not come to one. When a position occurs for the third time, or the
game has lasted 500 plies (gagara 700), each player receives the seeds in his own holes,
and the seeds are counted.

A position is the same when its string is, all but the ply; the position before the first move
counts. A game ends first by its own rules, then by repetition, then by the ply limit.

## Notation

A move is the hole and the direction, `c1+` or `f2-`, or `pass`.

A position is `rank2/rank1 side whiteStore blackStore passed run ply`, for example the start:

    4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0

* `rank2`, `rank1`: the holes from left to right;
* `side`: the side to move, `w` or `b`;
* `whiteStore`, `blackStore`: captured seeds;
* `passed`: `p` if the move immediately before was a pass, else `-`;
* `run`: the state of the turning limit for the player who sowed last, his direction and
  how often he has changed it (`+0`, `-1`, `+2` …), or `-`;
* `ply`: moves made so far, passes included.

After the last move the seeds stay where they lie; the result counts them.

## Source

Dogon was invented by Ralf Gering in 2010; these are its rules as he changed them in
July 2023, told in our own words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Position, Reason, Result, Side
from engines.rules.notation import field_error, parse_number, parse_turn, split_fields, split_parts

CREDIT: Final = "Ralf Gering, 2010 (rules as of July 2023)"

PASS: Final = "pass"
PASS_PRICE: Final = 2
"""Captured seeds that a pass costs."""

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
"""What a further sowing in each direction makes of a run; ``""`` where the turning limit forbids it."""


@dataclass(frozen=True, slots=True)
class Board:
    """The tables of one size of board.

    Holes are numbered counterclockwise from a1: White's row from left to right,
    then Black's from right to left. Tables of two are indexed by side or by direction.
    """

    files: str
    seeds: int
    names: tuple[str, ...]
    rows: tuple[range, range]
    sowings: tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]
    """For each side: a sowing's token to its hole and direction."""
    paths: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
    """For each direction and hole: where the first, second, third … of its seeds falls."""
    before: tuple[tuple[int, ...], tuple[int, ...]]
    """For each direction: the neighbour that is sown before a hole."""
    reach: tuple[tuple[int, ...], tuple[int, ...]]
    """For each direction and hole: the seeds it takes to reach the opponent's row."""
    nearest: tuple[int, ...]
    """For each hole: the smaller of its two reaches."""
    borders: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]
    """For each side: its corner holes, each with the opponent's hole beside it."""


def _lay_out(files: str, seeds_a_hole: int) -> Board:
    width = len(files)
    holes = range(2 * width)
    names = tuple([f"{file}1" for file in files] + [f"{file}2" for file in reversed(files)])
    rows = (holes[:width], holes[width:])
    ring = tuple(holes) * 2
    seeds = seeds_a_hole * len(holes)
    laps = seeds // (len(holes) - 1) + 1
    forth = tuple(ring[hole + 1 : hole + len(holes)] for hole in holes)
    back = tuple(following[::-1] for following in forth)
    reach_forth = tuple(width - hole % width for hole in holes)
    reach_back = tuple(hole % width + 1 for hole in holes)
    return Board(
        files=files,
        seeds=seeds,
        names=names,
        rows=rows,
        sowings=(_name_sowings(names, rows[0]), _name_sowings(names, rows[1][::-1])),
        paths=(tuple(path * laps for path in forth), tuple(path * laps for path in back)),
        before=(tuple(path[0] for path in back), tuple(path[0] for path in forth)),
        reach=(reach_forth, reach_back),
        nearest=tuple(map(min, reach_forth, reach_back)),
        borders=(
            ((rows[0][0], rows[1][-1]), (rows[0][-1], rows[1][0])),
            ((rows[1][0], rows[0][-1]), (rows[1][-1], rows[0][0])),
        ),
    )


def _name_sowings(names: tuple[str, ...], row: range) -> dict[str, tuple[int, int]]:
    """The sowings of a row, in the order in which they are offered as moves."""
    return {
        names[hole] + letter: (hole, direction) for hole in row for direction, letter in enumerate(DIRECTIONS)
    }


class DogonPosition(Position):
    """What kulei and gagara have in common: everything but the size of the board."""

    __slots__ = ("_holes", "_judged", "_passed", "_ply", "_run", "_side", "_stores")

    tables: ClassVar[Board]

    def __init__(
        self, holes: tuple[int, ...], side: Side, stores: tuple[int, int], passed: bool, run: str, ply: int
    ) -> None:
        """For this module; everybody else calls ``initial`` or ``parse``, which check what they read."""
        self._holes = holes
        self._side = side
        self._stores = stores
        self._passed = passed
        self._run = run
        self._ply = ply
        self._judged: Outcome | None = None

    @property
    def side(self) -> Side:
        return self._side

    @property
    def ply(self) -> int:
        return self._ply

    @property
    def stores(self) -> tuple[int, int]:
        """The captured seeds of White and of Black."""
        return self._stores

    @classmethod
    def initial(cls) -> Self:
        tables = cls.tables
        size = len(tables.names)
        return cls((tables.seeds // size,) * size, Side.WHITE, (0, 0), False, NO_RUN, 0)

    @classmethod
    def parse(cls, text: str) -> Self:
        board, side_text, white_store, black_store, passed, run, ply_text = split_fields(text, FIELDS)
        holes = cls._parse_holes(board)
        side, ply = parse_turn(side_text, ply_text, Side.WHITE)
        stores = parse_number(white_store, "whiteStore"), parse_number(black_store, "blackStore")
        if passed not in ("p", "-"):
            raise field_error("passed", passed, "neither 'p' nor '-'")
        if run not in TURNS:
            raise field_error(
                "run", run, "neither '-' nor a direction with up to two changes, as '+0' or '-2'"
            )
        seeds = sum(holes) + sum(stores)
        if seeds != cls.tables.seeds:
            raise field_error(
                "rank2/rank1", board, f"{seeds} seeds with the stores instead of {cls.tables.seeds}"
            )
        return cls(holes, side, stores, passed == "p", run, ply)

    @classmethod
    def _parse_holes(cls, text: str) -> tuple[int, ...]:
        files = cls.tables.files
        rank2, rank1 = split_parts(text, "/", 2, "rank2/rank1", "ranks")
        black = split_parts(rank2, ",", len(files), "rank2", "holes")
        white = split_parts(rank1, ",", len(files), "rank1", "holes")
        lower = [parse_number(seeds, f"rank1 hole {file}1") for file, seeds in zip(files, white, strict=True)]
        upper = [parse_number(seeds, f"rank2 hole {file}2") for file, seeds in zip(files, black, strict=True)]
        return (*lower, *reversed(upper))

    def __str__(self) -> str:
        width = len(self.tables.files)
        rank2 = ",".join(map(str, self._holes[: width - 1 : -1]))
        rank1 = ",".join(map(str, self._holes[:width]))
        white_store, black_store = self._stores
        passed = "p" if self._passed else "-"
        side = self._side.letter
        return f"{rank2}/{rank1} {side} {white_store} {black_store} {passed} {self._run} {self._ply}"

    def legal_moves(self) -> Iterator[str]:
        can_sow = False
        for token, (hole, direction) in self.tables.sowings[self._side].items():
            if not self._objection(hole, direction):
                can_sow = True
                yield token
        if not can_sow and not self.outcome().decided:
            yield PASS

    def is_legal(self, token: str) -> bool:
        if token == PASS:
            return not self._objection_to_pass()
        sowing = self.tables.sowings[self._side].get(token)
        return sowing is not None and not self._objection(*sowing)

    def play(self, token: str) -> Self:
        sowing = self.tables.sowings[self._side].get(token)
        if sowing is not None:
            objection = self._objection(*sowing)
            if not objection:
                return self._sow(*sowing)
        elif token == PASS:
            objection = self._objection_to_pass()
            if not objection:
                return self._pass()
        else:
            objection = "no sowing of an own hole, nor a pass"
        raise IllegalMove(token, self, objection)

    def outcome(self) -> Outcome:
        if self._judged is None:
            self._judged = self._judge()
        return self._judged

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        """Each player receives the seeds in his own holes, and the seeds are counted."""
        white, black = self._stores
        width = len(self.tables.files)
        return _count(white + sum(self._holes[:width]), black + sum(self._holes[width:]), reason)

    def key(self) -> Hashable:
        return self._holes, self._side, self._stores, self._passed, self._run

    def board(self) -> Mapping[str, str]:
        return {name: str(seeds) for name, seeds in zip(self.tables.names, self._holes, strict=True)}

    def _objection(self, hole: int, direction: int) -> str:
        """Why the side to move may not sow this own hole in this direction; empty if it may."""
        seeds = self._holes[hole]
        if seeds >= self.tables.reach[direction][hole]:
            if seeds > 1 or _becomes_capturable(self._holes[self.tables.paths[direction][hole][0]]):
                return ""
            return "a single seed may be sown only to capture"
        if seeds < 2:
            return "a single seed may be sown only to capture" if seeds else "the hole is empty"
        if not self._passed:
            return "no seed would reach the opponent's row"
        if not TURNS[self._run][direction]:
            return "the direction may be changed only twice while the opponent passes"
        return ""

    def _objection_to_pass(self) -> str:
        if self._can_sow(self._side, self._passed):
            return "a player who can sow may not pass"
        return "the game is over" if self.outcome().decided else ""

    def _can_sow(self, side: int, passed: bool) -> bool:
        """Whether ``side`` has a legal sowing; ``passed``: the other side passed immediately before.

        The turning limit never takes a player's last sowing: the direction he sowed in stays open.
        """
        holes = self._holes
        nearest = self.tables.nearest
        for hole in self.tables.rows[side]:
            seeds = holes[hole]
            if seeds > 1 and (passed or seeds >= nearest[hole]):
                return True
        for hole, beside in self.tables.borders[side]:
            if holes[hole] == 1 and _becomes_capturable(holes[beside]):
                return True
        return False

    def _judge(self) -> Outcome:
        if self._can_sow(self._side, self._passed):
            return UNDECIDED
        other = self._side.other
        if not self._can_sow(other, True):
            return self.outcome_by_match_rule(Reason.SEEDS)
        if self._stores[self._side] >= PASS_PRICE:
            return UNDECIDED
        on_board = sum(self._holes)
        white, black = self._stores
        if other is Side.WHITE:
            return _count(white + on_board, black, Reason.CANNOT_PAY)
        return _count(white, black + on_board, Reason.CANNOT_PAY)

    def _sow(self, hole: int, direction: int) -> Self:
        tables = self.tables
        holes = list(self._holes)
        seeds = holes[hole]
        holes[hole] = 0
        path = tables.paths[direction][hole]
        for target in path[:seeds]:
            holes[target] += 1
        captured = self._capture(holes, path[seeds - 1], direction)
        white, black = self._stores
        stores = (white, black + captured) if self._side else (white + captured, black)
        # a legal sowing that stays in its own row is one after a pass
        run = TURNS[self._run][direction] if seeds < tables.reach[direction][hole] else NO_RUN
        return type(self)(tuple(holes), self._side.other, stores, False, run, self._ply + 1)

    def _capture(self, holes: list[int], last: int, direction: int) -> int:
        """Empty the opponent's holes captured by a sowing that ended in ``last``; return their seeds."""
        opponent = self.tables.rows[1 - self._side]
        before = self.tables.before[direction]
        captured = 0
        while last in opponent and 2 <= holes[last] <= 3:
            captured += holes[last]
            holes[last] = 0
            last = before[last]
        return captured

    def _pass(self) -> Self:
        white, black = self._stores
        paid = -PASS_PRICE if self._side is Side.WHITE else PASS_PRICE
        stores = (white + paid, black - paid)
        return type(self)(self._holes, self._side.other, stores, True, self._run, self._ply + 1)


class KuleiPosition(DogonPosition):
    """Dogon on 2×6 holes with four seeds each."""

    __slots__ = ()

    tables = _lay_out("abcdef", 4)


class GagaraPosition(DogonPosition):
    """Dogon on 2×8 holes with six seeds each."""

    __slots__ = ()

    tables = _lay_out("abcdefgh", 6)


def _becomes_capturable(seeds: int) -> bool:
    """Whether a hole holding so many seeds will hold 2 or 3 with one more."""
    return 1 <= seeds <= 2


def _count(white: int, black: int, reason: Reason) -> Outcome:
    """The outcome when each player ends with so many seeds."""
    if white == black:
        return Outcome(Result.DRAW, reason, white, black)
    return Outcome(Result.win_for(Side.WHITE if white > black else Side.BLACK), reason, white, black)
