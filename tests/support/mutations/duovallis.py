"""Duovallis: every rule broken once."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import Mutation

_WHITE = '"a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2"'
_BLACK = '"f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3"'
_START = "return own + opponent >= 2 and own >= opponent"
_BACK = "        back = [hole for hole in BACK[self.side] if self.may_start(hole) and self.sow(hole) is not None]\n"
_EMPTY = 'was_empty = stones[at]["w"] + stones[at]["b"] == 0'
_STEP = "                at = path[(path.index(at) + 1) % len(path)]\n"
_LAP = "if stones[at][mover] >= stones[at][opponent]:"
_OTHERS = "kept[mover] += stones[victim][opponent]"
_OWN = "                stones[at][mover] += stones[victim][mover]\n"
_EXCHANGE = "while kept[mover] >= 3:"
_CAPTURE = 'if victim is not None and stones[victim]["w"] + stones[victim]["b"] > 0:'
_END = "                    stones[at][mover] += 1\n            break\n"
_HAND = "            hand = [opponent] * stones[at][opponent] + [mover] * stones[at][mover]\n"
_REMEMBER = (
    (
        _HAND,
        "            origin, before = at, {hole: dict(content) for hole, content in stones.items()}\n"
        + _HAND,
    ),
)
"""Keeps where the lap starts, and the board before it."""

DUOVALLIS = (
    # the board and the paths
    Mutation("White sows clockwise", _WHITE, '"a2 a3 b3 c3 d3 e3 f3 f2 f1 e1 d1 c1 b1 a1"'),
    Mutation("Black sows clockwise", _BLACK, '"f3 f2 e2 d2 c2 b2 a2 a3 a4 b4 c4 d4 e4 f4"'),
    Mutation("White leaves out the neutral holes", _WHITE, '"a1 b1 c1 d1 e1 f1 e3 d3 c3 b3"'),
    Mutation("Black leaves out the neutral holes", _BLACK, '"f4 e4 d4 c4 b4 a4 b2 c2 d2 e2"'),
    Mutation("White sows only the neutral holes beside him", _WHITE, '"a1 b1 c1 d1 e1 f1 f3 e3 d3 c3 b3 a3"'),
    Mutation("Black sows only the neutral holes beside him", _BLACK, '"f4 e4 d4 c4 b4 a4 a2 b2 c2 d2 e2 f2"'),
    Mutation(
        "White goes through the neutral holes upside down",
        _WHITE,
        '"a1 b1 c1 d1 e1 f1 f3 f2 e3 d3 c3 b3 a2 a3"',
    ),
    Mutation(
        "Black goes through the neutral holes upside down",
        _BLACK,
        '"f4 e4 d4 c4 b4 a4 a2 a3 b2 c2 d2 e2 f3 f2"',
    ),
    # which holes start a move
    Mutation("a single stone starts a move", _START, "return own + opponent >= 1 and own >= opponent"),
    Mutation("a move needs three stones", _START, "return own + opponent >= 3 and own >= opponent"),
    Mutation("a move needs two stones of the mover's colour", _START, "return own >= 2 and own >= opponent"),
    Mutation(
        "a move needs a majority of the mover's colour",
        _START,
        "return own + opponent >= 2 and own > opponent",
    ),
    Mutation(
        "a move needs one stone of the mover's colour", _START, "return own + opponent >= 2 and own > 0"
    ),
    Mutation("any two stones start a move", _START, "return own + opponent >= 2"),
    Mutation(
        "the front row may always be chosen",
        "        if back:\n            return back\n        return [",
        "        return back + [",
    ),
    Mutation(
        "the front row is never chosen",
        "        if back:\n            return back\n",
        "        return back\n",
    ),
    Mutation(
        "neutral holes beside the front row start a move",
        "for hole in FRONT[self.side] if",
        "for hole in FRONT[self.side] + NEUTRAL[:2] if",
    ),
    Mutation(
        "an endless sowing bars the front row",
        _BACK,
        _BACK.replace(" and self.sow(hole) is not None", "")
        + "        if back:\n            return [hole for hole in back if self.sow(hole) is not None]\n",
    ),
    Mutation("a sowing has at most 9,999 laps", "MOST_LAPS = 10_000", "MOST_LAPS = 9_999"),
    Mutation("a sowing has at most 100 laps", "MOST_LAPS = 10_000", "MOST_LAPS = 100"),
    Mutation("a sowing may have 10,001 laps", "MOST_LAPS = 10_000", "MOST_LAPS = 10_001"),
    # sowing
    Mutation(
        "the mover's colour is sown first",
        "[opponent] * stones[at][opponent] + [mover] * stones[at][mover]",
        "[mover] * stones[at][mover] + [opponent] * stones[at][opponent]",
    ),
    Mutation(
        "the hole where a lap starts is skipped",
        _STEP,
        f"{_STEP}                if at == origin:\n    {_STEP}",
        _REMEMBER,
    ),
    Mutation(
        "the hole where the move started is skipped",
        _STEP,
        f"{_STEP}                if at == start:\n    {_STEP}",
    ),
    Mutation(
        "a hole refilled by its own stones was occupied", _EMPTY, f"{_EMPTY} and at != origin", _REMEMBER
    ),
    Mutation(
        "a hole is judged before the lap",
        _EMPTY,
        'was_empty = before[at]["w"] + before[at]["b"] == 0',
        _REMEMBER,
    ),
    Mutation("no lap follows", _LAP, "if False:"),
    Mutation("a lap always follows in an occupied hole", _LAP, "if True:"),
    Mutation(
        "another lap needs a majority of the mover's colour",
        _LAP,
        "if stones[at][mover] > stones[at][opponent]:",
    ),
    Mutation("another lap needs only a stone of the mover's colour", _LAP, "if stones[at][mover] > 0:"),
    Mutation(
        "the majority is judged before the last stone",
        _LAP,
        "if stones[at][mover] - (colour == mover) >= stones[at][opponent] - (colour == opponent):",
    ),
    Mutation(
        "a lap that ends in a neutral hole ends the move",
        "            if not was_empty:\n",
        "            if not was_empty and at not in NEUTRAL:\n",
    ),
    Mutation(
        "a stone in an empty neutral hole is sown on",
        "            if at in NEUTRAL:\n                break\n",
        "            if at in NEUTRAL:\n                continue\n",
    ),
    # captures
    Mutation("nothing is captured", _CAPTURE, "if False:"),
    Mutation(
        "only holes with an opponent's stone are captured",
        _CAPTURE,
        "if victim is not None and stones[victim][opponent] > 0:",
    ),
    Mutation(
        "only holes without own stones are captured",
        _CAPTURE,
        "if victim is not None and stones[victim][opponent] > 0 and not stones[victim][mover]:",
    ),
    Mutation(
        "a front hole faces the front hole of the other valley",
        '(("3", "4"), ("1", "2"))',
        '(("3", "2"), ("1", "4"))',
    ),
    Mutation(
        "only the back row captures",
        "            victim = OPPOSITE.get(at)\n",
        "            victim = OPPOSITE.get(at) if at in BACK[mover] else None\n",
    ),
    Mutation(
        "only the front row captures",
        "            victim = OPPOSITE.get(at)\n",
        "            victim = OPPOSITE.get(at) if at in FRONT[mover] else None\n",
    ),
    Mutation(
        "corner holes capture the neutral hole beside them", 'for _file in "bcde":', 'for _file in "abcdef":'
    ),
    Mutation("own stones in a captured hole are lost", _OWN, ""),
    Mutation(
        "own stones in a captured hole stay there",
        '                stones[victim] = {"w": 0, "b": 0}\n',
        "                stones[victim][opponent] = 0\n",
    ),
    Mutation(
        "own stones in a captured hole count for the exchange",
        _OTHERS,
        "kept[mover] += stones[victim][opponent] + stones[victim][mover]",
        depth=4,
    ),
    Mutation(
        "all captured stones go into the capturing hole",
        _OTHERS,
        "stones[at][opponent] += stones[victim][opponent]",
    ),
    Mutation("the captured hole is not emptied", '                stones[victim] = {"w": 0, "b": 0}\n', ""),
    Mutation("stones kept earlier do not count", _OTHERS, "kept[mover] = stones[victim][opponent]"),
    Mutation(
        "two stones are exchanged for one",
        _EXCHANGE + "\n                    kept[mover] -= 3",
        "while kept[mover] >= 2:\n                    kept[mover] -= 2",
    ),
    Mutation(
        "four stones are exchanged for one",
        _EXCHANGE + "\n                    kept[mover] -= 3",
        "while kept[mover] >= 4:\n                    kept[mover] -= 4",
    ),
    Mutation("a capture exchanges once", _EXCHANGE, "if kept[mover] >= 3:", depth=4),
    Mutation(
        "the remainder of an exchange is lost",
        _EXCHANGE + "\n                    kept[mover] -= 3",
        "while kept[mover] >= 3:\n                    kept[mover] = kept[mover] - 3 if kept[mover] > 5 else 0",
        depth=5,
    ),
    Mutation("nothing is given for exchanged stones", "                    stones[at][mover] += 1\n", ""),
    Mutation(
        "the supply for exchanges is what a player has lost",
        _EXCHANGE,
        "while kept[mover] >= 3 and sum(hole[mover] for hole in stones.values()) < 40:",
    ),
    Mutation(
        "the capturing hole is sown on after a capture",
        _END,
        _END.replace("            break\n", "                continue\n            break\n"),
    ),
    # the end
    Mutation(
        "a player without a move wins", "return win_for(other(self.side)), ", "return win_for(self.side), "
    ),
    Mutation("a player without a move draws", "return win_for(other(self.side)), ", 'return "1/2-1/2", '),
    Mutation(
        "a player without a move passes",
        "        return [hole for hole in FRONT[self.side] if self.may_start(hole) and self.sow(hole) is not None]\n",
        '        front = [hole for hole in FRONT[self.side] if self.may_start(hole) and self.sow(hole) is not None]\n        return front or ["pass"]\n',
    ),
)
