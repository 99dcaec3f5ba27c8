"""Dogon: every rule broken once. Kulei and gagara share them."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import breaking

DOGON = breaking(
    {
        'return "w" if hole[1] == "1" else "b"': {
            "White owns rank 2": 'return "b" if hole[1] == "1" else "w"'
        },
        'step = 1 if direction == "+" else -1': {"+ is clockwise": 'step = -1 if direction == "+" else 1'},
        "if at == hole:": {
            "the emptied hole is sown into": "if False:",
            "the emptied hole is skipped on the first lap alone": "if at == hole and self.holes[hole] - seeds < 2 * len(self.files):",
        },
        "        holes[hole] = 0\n": {
            "one seed stays in the hole": "        holes[hole] = 1\n        seeds -= 1\n"
        },
        "holes[at] in (2, 3)": {
            "only three seeds are captured": "holes[at] in (3,)",
            "only two seeds are captured": "holes[at] in (2,)",
            "four seeds are captured too": "holes[at] in (2, 3, 4)",
            "a single seed is captured too": "holes[at] in (1, 2, 3)",
        },
        "self.owner(at) == opponent and holes[at] in": {"own holes are captured too": "holes[at] in"},
        "        while self.owner(at) == opponent and holes[at] in (2, 3):\n            captured += holes[at]\n            holes[at] = 0\n            at = self.next_hole(at, back)\n": {
            "nothing is captured": "",
            "only the last hole is captured": "        while self.owner(at) == opponent and holes[at] in (2, 3):\n            captured += holes[at]\n            holes[at] = 0\n            at = self.next_hole(at, back)\n            break\n",
            "a chain has at most 2 holes": "        for _ in range(2):\n            if self.owner(at) == opponent and holes[at] in (2, 3):\n                captured += holes[at]\n                holes[at] = 0\n                at = self.next_hole(at, back)\n",
            "a chain has at most 3 holes": "        for _ in range(3):\n            if self.owner(at) == opponent and holes[at] in (2, 3):\n                captured += holes[at]\n                holes[at] = 0\n                at = self.next_hole(at, back)\n",
            "a chain has at most 4 holes": "        for _ in range(4):\n            if self.owner(at) == opponent and holes[at] in (2, 3):\n                captured += holes[at]\n                holes[at] = 0\n                at = self.next_hole(at, back)\n",
            "the chain goes on behind a gap": "        if holes[at] in (2, 3):\n            while self.owner(at) == opponent:\n                if holes[at] in (2, 3):\n                    captured += holes[at]\n                    holes[at] = 0\n                at = self.next_hole(at, back)\n",
        },
        '"-" if direction == "+" else "+"': {"the chain goes on in the direction of sowing": "direction"},
        "        return holes, captured, reached\n": {
            "a sowing that would capture everything captures nothing": "        if captured and not any(holes[own] for own in holes if self.owner(own) == opponent):\n            return {**self.sow_only(hole, direction)}, 0, reached\n        return holes, captured, reached\n\n    def sow_only(self, hole: str, direction: str) -> dict[str, int]:\n        holes, left, at = dict(self.holes), self.holes[hole], hole\n        holes[hole] = 0\n        while left:\n            at = self.next_hole(at, direction)\n            if at != hole:\n                holes[at] += 1\n                left -= 1\n        return holes\n"
        },
        "stores[self.side] += captured": {
            "captured seeds belong to the other player": "stores[other(self.side)] += captured"
        },
        "return captured > 0": {
            "a single seed needs to reach the opponent's row alone": "return reached",
            "a single seed may always be sown": "return True",
            "a single seed may never be sown": "return False",
        },
        "if self.owner(hole) != self.side or self.holes[hole] == 0:": {
            "an empty hole may be sown": "if self.owner(hole) != self.side:",
            "any hole may be sown": "if self.holes[hole] == 0:",
        },
        "            return reached\n": {
            "no seed needs to reach the opponent's row": "            return True\n"
        },
        "        if not self.passed:\n": {
            "a seed must reach the opponent's row after a pass too": "        if True:\n",
            "the first move of the game is free": "        if not self.passed and self.ply > 0:\n",
        },
        "return not (direction != last_direction and changes >= 2)": {
            "there is no turning limit": "return True",
            "the direction may never be changed twice in a run": "return changes < 2",
        },
        "changes >= 2)": {
            "the direction may be changed once": "changes >= 1)",
            "the direction may be changed three times": "changes >= 3)",
        },
        "        if reached:\n            return True\n": {
            "a sowing that reaches the opponent's row is limited too": "",
            "only a capture is free of the limit": "        if captured:\n            return True\n",
        },
        "        if self.run is None:\n            return True\n        last": {
            "the first sowing of a run goes anticlockwise": '        if self.run is None:\n            return direction == "+"\n        last'
        },
        "run = (direction, 0)": {"the first sowing of a run is a change": ("run = (direction, 1)", 5)},
        "changes + (direction != last_direction)": {
            "every sowing of a run is a change": "changes + 1",
            "changes are not counted": "changes",
        },
        "run = (direction, changes +": {
            "the direction of the first sowing stays that of the run": "run = (last_direction, changes +"
        },
        "if self.passed and not reached:": {
            "a sowing that reaches the opponent's row goes on with the run": "if self.passed:"
        },
        "run: tuple[str, int] | None = None": {
            "a sowing of the opponent leaves the run": "run = None if self.passed else self.run"
        },
        "True, self.run, self.next_ply())": {
            "a pass ends the run": "True, None, self.next_ply())",
            "a pass frees no sowing of the opponent": "False, self.run, self.next_ply())",
        },
        'return self.sowings() or ["pass"]': {
            "anybody may pass": 'return [*self.sowings(), "pass"]',
            "nobody passes": "return self.sowings()",
        },
        "        stores[self.side] -= 2\n        stores[other(self.side)] += 2\n": {
            "a pass costs nothing": ""
        },
        "stores[self.side] -= 2\n        stores[other(self.side)] += 2": {
            "a pass costs one seed": "stores[self.side] -= 1\n        stores[other(self.side)] += 1",
            "a pass is paid by the opponent": "stores[self.side] += 2\n        stores[other(self.side)] -= 2",
        },
        "        if not self.after_pass().sowings():": {
            "the game does not end if the opponent could not sow either": "        if False:",
            "the opponent's sowings are judged without the pass": "        if not type(self)(self.holes, other(self.side), self.stores, False, None, 0).sowings():",
            "a player who can pay no pass loses his seeds even if nobody could sow": "        if self.stores[self.side] >= 2 and not self.after_pass().sowings():",
        },
        "self.stores[self.side] < 2:": {
            "a player with one seed may pass": "self.stores[self.side] < 1:",
            "a player with two seeds cannot pass": "self.stores[self.side] < 3:",
            "a player may pass on credit": "False:",
        },
        "            seeds[other(self.side)] += sum(self.holes.values())\n": {
            "who cannot pay keeps the seeds in his holes": '            seeds = {side: seeds[side] + self.row(side) for side in "wb"}\n'
        },
        "seeds[other(self.side)] += sum(self.holes.values())": {
            "who cannot pay receives all seeds": "seeds[self.side] += sum(self.holes.values())"
        },
        'self.stores["w"] + self.row("w"), self.stores["b"] + self.row("b")': {
            "the seeds in the holes belong to nobody": 'self.stores["w"], self.stores["b"]',
            "each player receives the seeds in the other's holes": 'self.stores["w"] + self.row("b"), self.stores["b"] + self.row("w")',
        },
        '"1-0" if white > black else "0-1" if black > white': {
            "fewer seeds win": '"1-0" if white < black else "0-1" if black < white'
        },
        '"1-0" if white > black': {"White wins with as many seeds": '"1-0" if white >= black'},
    }
)
