"""Duovallis: every rule broken once."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import breaking

DUOVALLIS = breaking(
    {
        '"a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2"': {
            "White sows clockwise": '"a2 a3 b3 c3 d3 e3 f3 f2 f1 e1 d1 c1 b1 a1"',
            "White leaves out the neutral holes": '"a1 b1 c1 d1 e1 f1 e3 d3 c3 b3"',
            "White sows only the neutral holes beside him": '"a1 b1 c1 d1 e1 f1 f3 e3 d3 c3 b3 a3"',
            "White goes through the neutral holes upside down": '"a1 b1 c1 d1 e1 f1 f3 f2 e3 d3 c3 b3 a2 a3"',
        },
        '"f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3"': {
            "Black sows clockwise": '"f3 f2 e2 d2 c2 b2 a2 a3 a4 b4 c4 d4 e4 f4"',
            "Black leaves out the neutral holes": '"f4 e4 d4 c4 b4 a4 b2 c2 d2 e2"',
            "Black sows only the neutral holes beside him": '"f4 e4 d4 c4 b4 a4 a2 b2 c2 d2 e2 f2"',
            "Black goes through the neutral holes upside down": '"f4 e4 d4 c4 b4 a4 a2 a3 b2 c2 d2 e2 f3 f2"',
        },
        "return own + opponent >= 2 and own >= opponent": {
            "a single stone starts a move": "return own + opponent >= 1 and own >= opponent",
            "a move needs three stones": "return own + opponent >= 3 and own >= opponent",
            "a move needs two stones of the mover's colour": "return own >= 2 and own >= opponent",
            "a move needs a majority of the mover's colour": "return own + opponent >= 2 and own > opponent",
            "a move needs one stone of the mover's colour": "return own + opponent >= 2 and own > 0",
            "any two stones start a move": "return own + opponent >= 2",
        },
        "        if back:\n            return back\n        return [": {
            "the front row may always be chosen": "        return back + ["
        },
        "        if back:\n            return back\n": {
            "the front row is never chosen": "        return back\n"
        },
        "for hole in FRONT[self.side] if": {
            "neutral holes beside the front row start a move": "for hole in FRONT[self.side] + NEUTRAL[:2] if"
        },
        "        back = [hole for hole in BACK[self.side] if self.may_start(hole) and self.sow(hole) is not None]\n": {
            "an endless sowing bars the front row": "        back = [hole for hole in BACK[self.side] if self.may_start(hole)]\n        if back:\n            return [hole for hole in back if self.sow(hole) is not None]\n"
        },
        "MAX_LAPS = 10_000": {
            "a sowing has at most 9,999 laps": "MAX_LAPS = 9_999",
            "a sowing has at most 100 laps": "MAX_LAPS = 100",
            "a sowing may have 10,001 laps": "MAX_LAPS = 10_001",
        },
        "[opponent] * stones[at][opponent] + [mover] * stones[at][mover]": {
            "the mover's colour is sown first": "[mover] * stones[at][mover] + [opponent] * stones[at][opponent]"
        },
        "                at = path[(path.index(at) + 1) % len(path)]\n": {
            "the hole where a lap starts is skipped": (
                "                at = path[(path.index(at) + 1) % len(path)]\n                if at == origin:\n                    at = path[(path.index(at) + 1) % len(path)]\n",
                {
                    "            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n": "            origin, before = at, {hole: dict(content) for hole, content in stones.items()}\n            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n"
                },
            ),
            "the hole where the move started is skipped": "                at = path[(path.index(at) + 1) % len(path)]\n                if at == start:\n                    at = path[(path.index(at) + 1) % len(path)]\n",
        },
        'was_empty = stones[at]["w"] + stones[at]["b"] == 0': {
            "a hole refilled by its own stones was occupied": (
                'was_empty = stones[at]["w"] + stones[at]["b"] == 0 and at != origin',
                {
                    "            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n": "            origin, before = at, {hole: dict(content) for hole, content in stones.items()}\n            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n"
                },
            ),
            "a hole is judged before the lap": (
                'was_empty = before[at]["w"] + before[at]["b"] == 0',
                {
                    "            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n": "            origin, before = at, {hole: dict(content) for hole, content in stones.items()}\n            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n"
                },
            ),
        },
        "if stones[at][mover] >= stones[at][opponent]:": {
            "no lap follows": "if False:",
            "a lap always follows in an occupied hole": "if True:",
            "another lap needs a majority of the mover's colour": "if stones[at][mover] > stones[at][opponent]:",
            "another lap needs only a stone of the mover's colour": "if stones[at][mover] > 0:",
            "the majority is judged before the last stone": "if stones[at][mover] - (colour == mover) >= stones[at][opponent] - (colour == opponent):",
        },
        "            if not was_empty:\n": {
            "a lap that ends in a neutral hole ends the move": "            if not was_empty and at not in NEUTRAL:\n"
        },
        "            if at in NEUTRAL:\n                break\n": {
            "a stone in an empty neutral hole is sown on": "            if at in NEUTRAL:\n                continue\n"
        },
        'if victim is not None and stones[victim]["w"] + stones[victim]["b"] > 0:': {
            "nothing is captured": "if False:",
            "only holes with an opponent's stone are captured": "if victim is not None and stones[victim][opponent] > 0:",
            "only holes without own stones are captured": "if victim is not None and stones[victim][opponent] > 0 and not stones[victim][mover]:",
        },
        '(("3", "4"), ("1", "2"))': {
            "a front hole faces the front hole of the other valley": '(("3", "2"), ("1", "4"))'
        },
        "            victim = OPPOSITE.get(at)\n": {
            "only the back row captures": "            victim = OPPOSITE.get(at) if at in BACK[mover] else None\n",
            "only the front row captures": "            victim = OPPOSITE.get(at) if at in FRONT[mover] else None\n",
        },
        'for _file in "bcde":': {
            "corner holes capture the neutral hole beside them": 'for _file in "abcdef":'
        },
        "                stones[at][mover] += stones[victim][mover]\n": {
            "own stones in a captured hole are lost": ""
        },
        '                stones[victim] = {"w": 0, "b": 0}\n': {
            "own stones in a captured hole stay there": "                stones[victim][opponent] = 0\n",
            "the captured hole is not emptied": "",
        },
        "kept[mover] += stones[victim][opponent]": {
            "own stones in a captured hole count for the exchange": (
                "kept[mover] += stones[victim][opponent] + stones[victim][mover]",
                4,
            ),
            "all captured stones go into the capturing hole": "stones[at][opponent] += stones[victim][opponent]",
            "stones kept earlier do not count": "kept[mover] = stones[victim][opponent]",
        },
        "while kept[mover] >= 3:\n                    kept[mover] -= 3": {
            "two stones are exchanged for one": "while kept[mover] >= 2:\n                    kept[mover] -= 2",
            "four stones are exchanged for one": "while kept[mover] >= 4:\n                    kept[mover] -= 4",
            "the remainder of an exchange is lost": (
                "while kept[mover] >= 3:\n                    kept[mover] = kept[mover] - 3 if kept[mover] > 5 else 0",
                5,
            ),
        },
        "while kept[mover] >= 3:": {
            "a capture exchanges once": ("if kept[mover] >= 3:", 4),
            "the supply for exchanges is what a player has lost": "while kept[mover] >= 3 and sum(hole[mover] for hole in stones.values()) < 40:",
        },
        "                    stones[at][mover] += 1\n": {"nothing is given for exchanged stones": ""},
        "                    stones[at][mover] += 1\n            break\n": {
            "the capturing hole is sown on after a capture": "                    stones[at][mover] += 1\n                continue\n            break\n"
        },
        "return win_for(other(self.side)), ": {
            "a player without a move wins": "return win_for(self.side), ",
            "a player without a move draws": 'return "1/2-1/2", ',
        },
        "        return [hole for hole in FRONT[self.side] if self.may_start(hole) and self.sow(hole) is not None]\n": {
            "a player without a move passes": '        front = [hole for hole in FRONT[self.side] if self.may_start(hole) and self.sow(hole) is not None]\n        return front or ["pass"]\n'
        },
    }
)
