"""Duovallis, literally."""

from __future__ import annotations

import re
from typing import Self

from tests.literal.base import LiteralGame, LiteralOutcome, number, other, refuse_if, split, turn, win_for

PATH = {
    "w": "a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2".split(),
    "b": "f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3".split(),
}
BACK = {"w": "a1 b1 c1 d1 e1 f1".split(), "b": "a4 b4 c4 d4 e4 f4".split()}
FRONT = {"w": "b3 c3 d3 e3".split(), "b": "b2 c2 d2 e2".split()}
NEUTRAL = "a3 f3 a2 f2".split()
OPPOSITE: dict[str, str] = {}
for _file in "bcde":
    for _one, _two in (("3", "4"), ("1", "2")):
        OPPOSITE[_file + _one] = _file + _two
        OPPOSITE[_file + _two] = _file + _one
MAX_LAPS = 10_000


class LiteralDuovallis(LiteralGame):
    def __init__(self, stones: dict[str, dict[str, int]], kept: dict[str, int], side: str, ply: int) -> None:
        self.stones = stones
        self.kept = kept
        self.side = side
        self.ply = ply

    @classmethod
    def parse(cls, text: str) -> Self:
        board, side, white_kept, black_kept, ply = split(text, " ", 5)
        stones = {}
        for rank, holes in zip("4321", split(board, "/", 4), strict=True):
            for file, hole in zip("abcdef", split(holes, ",", 6), strict=True):
                stones[file + rank] = parse_hole(hole)
        mover, plies = turn(side, ply, "w")
        kept = {"w": number(white_kept), "b": number(black_kept)}
        # Duovallis kept stones over 2
        refuse_if(max(kept.values()) > 2, "kept")
        # white + 3·black or 3·white + black over 160, kept stones counted
        white = sum(hole["w"] for hole in stones.values()) + kept["b"]
        black = sum(hole["b"] for hole in stones.values()) + kept["w"]
        refuse_if(white + 3 * black > 160 or 3 * white + black > 160, "stones")
        return cls(stones, kept, mover, plies)

    def text(self) -> str:
        ranks = []
        for rank in "4321":
            holes = []
            for file in "abcdef":
                hole = self.stones[file + rank]
                holes.append("".join(f"{hole[c]}{c}" for c in "wb" if hole[c]) or "0")
            ranks.append(",".join(holes))
        return f"{'/'.join(ranks)} {self.side} {self.kept['w']} {self.kept['b']} {self.ply}"

    def may_start(self, hole: str) -> bool:
        """An own hole with at least two stones, and at least half of them in the mover's colour."""
        own, opponent = self.stones[hole][self.side], self.stones[hole][other(self.side)]
        return own + opponent >= 2 and own >= opponent

    def sow(self, start: str) -> Self | None:
        """The position after the whole move, or None for a sowing of more than 10,000 laps."""
        mover, opponent = self.side, other(self.side)
        stones = {hole: dict(content) for hole, content in self.stones.items()}
        kept = dict(self.kept)
        path = PATH[mover]
        at = start
        for _lap in range(MAX_LAPS):
            # All stones, one by one, opponent's colour first, then own.
            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]
            stones[at] = {"w": 0, "b": 0}
            was_empty = False
            for colour in hand:
                at = path[(path.index(at) + 1) % len(path)]
                # judged just before the last stone falls
                was_empty = stones[at]["w"] + stones[at]["b"] == 0
                stones[at][colour] += 1
            if not was_empty:
                # an occupied hole that then holds at least half stones of the mover's colour: another lap;
                if stones[at][mover] >= stones[at][opponent]:
                    continue
                # with a majority of the opponent's: the move ends.
                break
            # an empty neutral hole: the move ends
            if at in NEUTRAL:
                break
            # an empty own hole: a capture if the corresponding hole of the opponent has stones
            victim = OPPOSITE.get(at)
            if victim is not None and stones[victim]["w"] + stones[victim]["b"] > 0:
                stones[at][mover] += stones[victim][mover]
                kept[mover] += stones[victim][opponent]
                stones[victim] = {"w": 0, "b": 0}
                while kept[mover] >= 3:
                    kept[mover] -= 3
                    stones[at][mover] += 1
            break
        else:
            return None
        return type(self)(stones, kept, opponent, self.next_ply())

    def legal(self) -> list[str]:
        back = [hole for hole in BACK[self.side] if self.may_start(hole) and self.sow(hole) is not None]
        if back:
            return back
        return [hole for hole in FRONT[self.side] if self.may_start(hole) and self.sow(hole) is not None]

    def play(self, token: str) -> Self:
        after = self.sow(token)
        assert after is not None
        return after

    def outcome(self) -> LiteralOutcome | None:
        """A player who has no legal move at his turn loses."""
        if self.legal():
            return None
        return win_for(other(self.side)), "no-move", None, None


def parse_hole(text: str) -> dict[str, int]:
    """A hole is `0`, `4w`, `3b` or `2w3b` (white first)."""
    if text == "0":
        return {"w": 0, "b": 0}
    match = re.fullmatch(r"(?:([0-9]+)w)?(?:([0-9]+)b)?", text)
    refuse_if(match is None or not text, "hole")
    assert match is not None
    white, black = (None if stones is None else number(stones) for stones in match.groups())
    refuse_if(white == 0 or black == 0, "no stones of a colour are not written")
    return {"w": white or 0, "b": black or 0}
