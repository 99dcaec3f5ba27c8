"""Dogon: every rule broken once. Kulei and gagara share them."""

from __future__ import annotations

from tests.support.mutations.base import Mutation

_CHAIN = """        while self.owner(at) == opponent and holes[at] in (2, 3):
            captured += holes[at]
            holes[at] = 0
            at = self.next_hole(at, back)
"""
_NEITHER = "        if not self.after_pass().sowings():"

DOGON = (
    Mutation(
        "White owns rank 2", 'return "w" if hole[1] == "1" else "b"', 'return "b" if hole[1] == "1" else "w"'
    ),
    Mutation(
        "+ is clockwise", 'step = 1 if direction == "+" else -1', 'step = -1 if direction == "+" else 1'
    ),
    Mutation("the emptied hole is sown into", "if at == hole:", "if False:"),
    Mutation(
        "the emptied hole is skipped on the first lap alone",
        "if at == hole:",
        "if at == hole and self.holes[hole] - seeds < 2 * len(self.files):",
    ),
    Mutation(
        "one seed stays in the hole",
        "        holes[hole] = 0\n",
        "        holes[hole] = 1\n        seeds -= 1\n",
    ),
    # captures
    Mutation("only three seeds are captured", "holes[at] in (2, 3)", "holes[at] in (3,)"),
    Mutation("only two seeds are captured", "holes[at] in (2, 3)", "holes[at] in (2,)"),
    Mutation("four seeds are captured too", "holes[at] in (2, 3)", "holes[at] in (2, 3, 4)"),
    Mutation("a single seed is captured too", "holes[at] in (2, 3)", "holes[at] in (1, 2, 3)"),
    Mutation("own holes are captured too", "self.owner(at) == opponent and holes[at] in", "holes[at] in"),
    Mutation("nothing is captured", _CHAIN, ""),
    Mutation("only the last hole is captured", _CHAIN, f"{_CHAIN}            break\n"),
    *(
        Mutation(
            f"a chain has at most {most} holes",
            _CHAIN,
            f"        for _ in range({most}):\n"
            "            if self.owner(at) == opponent and holes[at] in (2, 3):\n"
            "                captured += holes[at]\n"
            "                holes[at] = 0\n"
            "                at = self.next_hole(at, back)\n",
        )
        for most in (2, 3, 4)
    ),
    Mutation("the chain goes on in the direction of sowing", '"-" if direction == "+" else "+"', "direction"),
    Mutation(
        "the chain goes on behind a gap",
        _CHAIN,
        "        if holes[at] in (2, 3):\n"
        "            while self.owner(at) == opponent:\n"
        "                if holes[at] in (2, 3):\n"
        "                    captured += holes[at]\n"
        "                    holes[at] = 0\n"
        "                at = self.next_hole(at, back)\n",
    ),
    Mutation(
        "a sowing that would capture everything captures nothing",
        "        return holes, captured, reached\n",
        "        if captured and not any(holes[own] for own in holes if self.owner(own) == opponent):\n"
        "            return {**self.sow_only(hole, direction)}, 0, reached\n"
        "        return holes, captured, reached\n\n"
        "    def sow_only(self, hole: str, direction: str) -> dict[str, int]:\n"
        "        holes, left, at = dict(self.holes), self.holes[hole], hole\n"
        "        holes[hole] = 0\n"
        "        while left:\n"
        "            at = self.next_hole(at, direction)\n"
        "            if at != hole:\n"
        "                holes[at] += 1\n"
        "                left -= 1\n"
        "        return holes\n",
    ),
    Mutation(
        "captured seeds belong to the other player",
        "stores[self.side] += captured",
        "stores[other(self.side)] += captured",
    ),
    # which sowings are allowed
    Mutation(
        "a single seed needs to reach the opponent's row alone", "return captured > 0", "return reached"
    ),
    Mutation("a single seed may always be sown", "return captured > 0", "return True"),
    Mutation("a single seed may never be sown", "return captured > 0", "return False"),
    Mutation(
        "an empty hole may be sown",
        "if self.owner(hole) != self.side or self.holes[hole] == 0:",
        "if self.owner(hole) != self.side:",
    ),
    Mutation(
        "any hole may be sown",
        "if self.owner(hole) != self.side or self.holes[hole] == 0:",
        "if self.holes[hole] == 0:",
    ),
    Mutation(
        "no seed needs to reach the opponent's row",
        "            return reached\n",
        "            return True\n",
    ),
    Mutation(
        "a seed must reach the opponent's row after a pass too",
        "        if not self.passed:\n",
        "        if True:\n",
    ),
    Mutation(
        "the first move of the game is free",
        "        if not self.passed:\n",
        "        if not self.passed and self.ply > 0:\n",
    ),
    # the turning limit
    Mutation(
        "there is no turning limit",
        "return not (direction != last_direction and changes >= 2)",
        "return True",
    ),
    Mutation("the direction may be changed once", "changes >= 2)", "changes >= 1)"),
    Mutation("the direction may be changed three times", "changes >= 2)", "changes >= 3)"),
    Mutation(
        "the direction may never be changed twice in a run",
        "return not (direction != last_direction and changes >= 2)",
        "return changes < 2",
    ),
    Mutation(
        "a sowing that reaches the opponent's row is limited too",
        "        if reached:\n            return True\n",
        "",
    ),
    Mutation(
        "only a capture is free of the limit",
        "        if reached:\n            return True\n",
        "        if captured:\n            return True\n",
    ),
    Mutation(
        "the first sowing of a run goes counterclockwise",
        "        if self.run is None:\n            return True\n        last",
        '        if self.run is None:\n            return direction == "+"\n        last',
    ),
    Mutation(
        "the first sowing of a run is a change", "run = (direction, 0)", "run = (direction, 1)", depth=5
    ),
    Mutation("every sowing of a run is a change", "changes + (direction != last_direction)", "changes + 1"),
    Mutation("changes are not counted", "changes + (direction != last_direction)", "changes"),
    Mutation(
        "the direction of the first sowing stays that of the run",
        "run = (direction, changes +",
        "run = (last_direction, changes +",
    ),
    Mutation(
        "a sowing that reaches the opponent's row goes on with the run",
        "if self.passed and not reached:",
        "if self.passed:",
    ),
    Mutation(
        "a sowing of the opponent leaves the run",
        "run: tuple[str, int] | None = None",
        "run = None if self.passed else self.run",
    ),
    Mutation("a pass ends the run", "True, self.run, self.next_ply())", "True, None, self.next_ply())"),
    # passing
    Mutation("anybody may pass", 'return self.sowings() or ["pass"]', 'return [*self.sowings(), "pass"]'),
    Mutation("nobody passes", 'return self.sowings() or ["pass"]', "return self.sowings()"),
    Mutation(
        "a pass costs nothing", "        stores[self.side] -= 2\n        stores[other(self.side)] += 2\n", ""
    ),
    Mutation(
        "a pass costs one seed",
        "stores[self.side] -= 2\n        stores[other(self.side)] += 2",
        "stores[self.side] -= 1\n        stores[other(self.side)] += 1",
    ),
    Mutation(
        "a pass is paid by the opponent",
        "stores[self.side] -= 2\n        stores[other(self.side)] += 2",
        "stores[self.side] += 2\n        stores[other(self.side)] -= 2",
    ),
    Mutation(
        "a pass frees no sowing of the opponent",
        "True, self.run, self.next_ply())",
        "False, self.run, self.next_ply())",
    ),
    # the end
    Mutation("the game does not end if the opponent could not sow either", _NEITHER, "        if False:"),
    Mutation(
        "the opponent's sowings are judged without the pass",
        _NEITHER,
        "        if not type(self)(self.holes, other(self.side), self.stores, False, None, 0).sowings():",
    ),
    Mutation("a player with one seed may pass", "self.stores[self.side] < 2:", "self.stores[self.side] < 1:"),
    Mutation(
        "a player with two seeds cannot pass", "self.stores[self.side] < 2:", "self.stores[self.side] < 3:"
    ),
    Mutation("a player may pass on credit", "self.stores[self.side] < 2:", "False:"),
    Mutation(
        "who cannot pay keeps the seeds in his holes",
        "            seeds[other(self.side)] += sum(self.holes.values())\n",
        '            seeds = {side: seeds[side] + self.row(side) for side in "wb"}\n',
    ),
    Mutation(
        "who cannot pay receives all seeds",
        "seeds[other(self.side)] += sum(self.holes.values())",
        "seeds[self.side] += sum(self.holes.values())",
    ),
    Mutation(
        "a player who can pay no pass loses his seeds even if nobody could sow",
        _NEITHER,
        "        if self.stores[self.side] >= 2 and not self.after_pass().sowings():",
    ),
    Mutation(
        "the seeds in the holes belong to nobody",
        'self.stores["w"] + self.row("w"), self.stores["b"] + self.row("b")',
        'self.stores["w"], self.stores["b"]',
    ),
    Mutation(
        "each player receives the seeds in the other's holes",
        'self.stores["w"] + self.row("w"), self.stores["b"] + self.row("b")',
        'self.stores["w"] + self.row("b"), self.stores["b"] + self.row("w")',
    ),
    Mutation(
        "fewer seeds win",
        '"1-0" if white > black else "0-1" if black > white',
        '"1-0" if white < black else "0-1" if black < white',
    ),
    Mutation("White wins with as many seeds", '"1-0" if white > black', '"1-0" if white >= black'),
)
