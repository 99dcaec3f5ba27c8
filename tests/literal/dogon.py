"""Dogon, literally: kulei (2x6) and gagara (2x8)."""

from __future__ import annotations

from typing import ClassVar, Self

from tests.literal.base import LiteralGame, LiteralOutcome, number, other, refuse_if, split, turn


class LiteralDogon(LiteralGame):
    files: ClassVar[str]
    all_seeds: ClassVar[int]

    def __init__(
        self,
        holes: dict[str, int],
        side: str,
        stores: dict[str, int],
        passed: bool,
        run: tuple[str, int] | None,
        ply: int,
    ) -> None:
        self.holes = holes
        self.side = side
        self.stores = stores
        self.passed = passed
        self.run = run
        self.ply = ply

    @classmethod
    def parse(cls, text: str) -> Self:
        board, side, white, black, passed, run, ply = split(text, " ", 7)
        rank2, rank1 = split(board, "/", 2)
        holes = {}
        for rank, seeds in (("1", rank1), ("2", rank2)):
            for file, in_hole in zip(cls.files, split(seeds, ",", len(cls.files)), strict=True):
                holes[file + rank] = number(in_hole)
        mover, plies = turn(side, ply, "w")
        stores = {"w": number(white), "b": number(black)}
        # `passed` is `p` if the move immediately before was a pass, else `-`
        refuse_if(passed not in ("p", "-"), "passed")
        # `run` is `-` or its last direction and the number of changes so far
        refuse_if(run not in ("-", "+0", "-0", "+1", "-1", "+2", "-2"), "run")
        current = None if run == "-" else (run[0], int(run[1]))
        # Dogon 48 / 96 seeds with the stores
        refuse_if(sum(holes.values()) + stores["w"] + stores["b"] != cls.all_seeds, "seeds")
        return cls(holes, mover, stores, passed == "p", current, plies)

    def text(self) -> str:
        ranks = [",".join(str(self.holes[file + rank]) for file in self.files) for rank in "21"]
        run = "-" if self.run is None else f"{self.run[0]}{self.run[1]}"
        passed = "p" if self.passed else "-"
        return (
            f"{'/'.join(ranks)} {self.side} {self.stores['w']} {self.stores['b']} {passed} {run} {self.ply}"
        )

    def owner(self, hole: str) -> str:
        """White owns rank 1, Black owns rank 2."""
        return "w" if hole[1] == "1" else "b"

    def next_hole(self, hole: str, direction: str) -> str:
        """Anticlockwise is a1, b1 ... and back along rank 2 to a2; clockwise the reverse."""
        circle = [file + "1" for file in self.files] + [file + "2" for file in reversed(self.files)]
        step = 1 if direction == "+" else -1
        return circle[(circle.index(hole) + step) % len(circle)]

    def sow(self, hole: str, direction: str) -> tuple[dict[str, int], int, bool]:
        """(holes after it, seeds captured, whether a seed fell into the opponent's row)."""
        holes = dict(self.holes)
        opponent = other(self.side)
        # A sowing takes all seeds of one own hole ...
        seeds = holes[hole]
        holes[hole] = 0
        reached = False
        at = hole
        while seeds > 0:
            at = self.next_hole(at, direction)
            # ... the emptied hole itself is skipped on every lap.
            if at == hole:
                continue
            holes[at] += 1
            seeds -= 1
            if self.owner(at) == opponent:
                reached = True
        # If the last seed falls into an opponent's hole and makes it 2 or 3, its seeds are captured, and so
        # are those of the holes before it as long as they follow without a gap, belong to the opponent and
        # hold 2 or 3.
        captured = 0
        back = "-" if direction == "+" else "+"
        while self.owner(at) == opponent and holes[at] in (2, 3):
            captured += holes[at]
            holes[at] = 0
            at = self.next_hole(at, back)
        return holes, captured, reached

    def sowing_is_legal(self, hole: str, direction: str) -> bool:
        if self.owner(hole) != self.side or self.holes[hole] == 0:
            return False
        _, captured, reached = self.sow(hole, direction)
        # 1. a singleton that would not capture cannot be sown
        if self.holes[hole] == 1:
            return captured > 0
        # 2. if the opponent did not pass immediately before, at least one seed must fall into the opponent's
        # row
        if not self.passed:
            return reached
        # 3. a sowing that reaches the opponent's row is never limited
        if reached:
            return True
        # ... the run's first sowing sets the direction freely; a third change is illegal.
        if self.run is None:
            return True
        last_direction, changes = self.run
        return not (direction != last_direction and changes >= 2)

    def sowings(self) -> list[str]:
        return [
            hole + direction
            for hole in self.holes
            for direction in "+-"
            if self.sowing_is_legal(hole, direction)
        ]

    def after_pass(self) -> Self:
        stores = dict(self.stores)
        stores[self.side] -= 2
        stores[other(self.side)] += 2
        return type(self)(dict(self.holes), other(self.side), stores, True, self.run, self.next_ply())

    def row(self, side: str) -> int:
        return sum(seeds for hole, seeds in self.holes.items() if self.owner(hole) == side)

    def counted(self, reason: str, white: int, black: int) -> LiteralOutcome:
        result = "1-0" if white > black else "0-1" if black > white else "1/2-1/2"
        return result, reason, white, black

    def outcome(self) -> LiteralOutcome | None:
        if self.sowings():
            return None
        # if the opponent would have no legal sowing either after that pass, the game ends at once without
        # payment, and each player receives the seeds in his own holes
        if not self.after_pass().sowings():
            return self.outcome_by_match_rule("seeds")
        # else, if he has fewer than two captured seeds, the game ends at once, and all seeds go to the
        # opponent
        if self.stores[self.side] < 2:
            seeds = dict(self.stores)
            seeds[other(self.side)] += sum(self.holes.values())
            return self.counted("cannot-pay", seeds["w"], seeds["b"])
        return None

    def outcome_by_match_rule(self, reason: str) -> LiteralOutcome:
        """Each player receives the seeds in his own holes and the seeds are counted."""
        return self.counted(reason, self.stores["w"] + self.row("w"), self.stores["b"] + self.row("b"))

    def legal(self) -> list[str]:
        if self.outcome() is not None:
            return []
        return self.sowings() or ["pass"]

    def play(self, token: str) -> Self:
        if token == "pass":
            return self.after_pass()
        hole, direction = token[:2], token[2]
        holes, captured, reached = self.sow(hole, direction)
        stores = dict(self.stores)
        stores[self.side] += captured
        run: tuple[str, int] | None = None
        if self.passed and not reached:
            if self.run is None:
                run = (direction, 0)
            else:
                last_direction, changes = self.run
                run = (direction, changes + (direction != last_direction))
        return type(self)(holes, other(self.side), stores, False, run, self.next_ply())


class LiteralKulei(LiteralDogon):
    files = "abcdef"
    all_seeds = 48


class LiteralGagara(LiteralDogon):
    files = "abcdefgh"
    all_seeds = 96
