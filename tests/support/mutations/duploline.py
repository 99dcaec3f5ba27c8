"""DuploLine: every rule broken once."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import breaking

DUPLOLINE = breaking(
    {
        'return [word + cell for word in "DR" for cell in CELLS]': {
            "White starts with a disc": 'return ["D" + cell for cell in CELLS]',
            "White starts with a ring": 'return ["R" + cell for cell in CELLS]',
            "the centre is no first cell": 'return [word + cell for word in "DR" for cell in CELLS if cell != "d4"]',
            "the first turn has two actions": 'return [f"{one}{cell}:{two}{last}" for one, two in ("DR", "RD") for cell in CELLS for last in neighbours(SIZE, cell)]',
        },
        "any(self.holds_piece_of(n, other(side)) for n in around)": {
            "an add touches the mover's own pieces": "any(self.holds_piece_of(n, side) for n in around)",
            "an add touches any piece": "any(self.occupied(n) for n in around)",
            "an add touches two pieces of the opponent": "sum(self.holds_piece_of(n, other(side)) for n in around) > 1",
            "an add does not touch a cell that both share": "any(self.holds_piece_of(n, other(side)) and not self.holds_piece_of(n, side) for n in around)",
            "a disc touches a disc, and a ring a ring": "any(self.at[kind].get(n) == other(side) for n in around)",
        },
        " and any(self.holds_piece_of(n, other(side)) for n in around):": {"an add touches nothing": ":"},
        "if not self.occupied(cell) and": {
            "a piece is added onto one of the other kind": "if cell not in self.at[kind] and"
        },
        "        if self.supply(kind, side) > 0:\n": {
            "there is no supply": "        if True:\n",
            "a supply has seventeen pieces": "        if self.supply(kind, side) > 1:\n",
        },
        "return PIECES - sum(1 for colour in self.at[kind].values() if colour == side)": {
            "a supply serves both kinds": 'return 2 * PIECES - sum(colour == side for each in ("disc", "ring") for colour in self.at[each].values())',
            "both colours share a supply": "return 2 * PIECES - len(self.at[kind])",
        },
        "if colour != side or cell in self.at[partner]:": {
            "a player moves the opponent's pieces": "if colour == side or cell in self.at[partner]:",
            "a player moves any piece": "if cell in self.at[partner]:",
            "locked pieces move too": "if colour != side:",
            "a piece under the mover's own is free": "if colour != side or self.at[partner].get(cell) == other(side):",
            "no piece moves": "if True:",
            "only discs move": 'if colour != side or cell in self.at[partner] or kind == "ring":',
            "only rings move": 'if colour != side or cell in self.at[partner] or kind == "disc":',
        },
        "if near in self.at[partner] and near not in self.at[kind]:": {
            "a piece joins the mover's own only": "if self.at[partner].get(near) == side and near not in self.at[kind]:",
            "a piece joins the opponent's only": "if self.at[partner].get(near) == other(side) and near not in self.at[kind]:",
            "a piece moves to an empty cell": "if not self.occupied(near):",
            "a piece moves to an empty cell too": "if near not in self.at[kind]:",
            "a piece moves onto its own kind": "if near in self.at[partner]:",
        },
        "for near in neighbours(SIZE, cell):\n                if": {
            "a piece moves to a piece anywhere": "for near in CELLS:\n                if",
            "pieces do not move along the rows": "for near in [near for near in neighbours(SIZE, cell) if near[0] != cell[0]]:\n                if",
            "pieces do not move along the numbers": "for near in [near for near in neighbours(SIZE, cell) if near[1] != cell[1]]:\n                if",
            "pieces do not move in the third direction": "for near in [near for near in neighbours(SIZE, cell) if near[0] == cell[0] or near[1] == cell[1]]:\n                if",
        },
        "if self.after(action, side).connected():": {
            "groups may be parted": "if True:",
            "the connection is judged at the end of the turn": (
                "if True:",
                {
                    'turns += [f"{first}:{action}" for action in second] or [first]': 'turns += [f"{first}:{action}" for action in second if after.after(action, self.side).connected()] or ([first] if after.connected() and not second else [])'
                },
            ),
            "a move may not leave a cell empty that touches another piece": "if self.after(action, side).connected() and sum(self.occupied(n) for n in neighbours(SIZE, cell)) < 3:",
        },
        "return [WORD[kind] + cell for cell in self.at[partner] if cell not in self.at[kind]]": {
            "there are no replacements": "return []",
            "a replacement joins the mover's own only": "return [WORD[kind] + cell for cell in self.at[partner] if self.at[partner][cell] == side and cell not in self.at[kind]]",
            "a replacement joins the opponent's only": "return [WORD[kind] + cell for cell in self.at[partner] if self.at[partner][cell] != side and cell not in self.at[kind]]",
            "a replacement goes to any empty cell": "return [WORD[kind] + cell for cell in CELLS if not self.occupied(cell)]",
        },
        "        if found:\n            return found\n": {
            "a replacement is always possible": "",
            "an action without an add is replaced, even if a piece may move": '        if any("-" not in action for action in found):\n            return found\n',
            "an action without a move is replaced, even if a piece may be added": '        if any("-" in action for action in found):\n            return found\n',
        },
        "        if self.supply(kind, side) == 0:\n            return []\n": {
            "a replacement comes from nowhere when the supply is used up": ""
        },
        '(("disc", "ring"), ("ring", "disc")):\n            for first': {
            "the disc action comes first": '(("disc", "ring"),):\n            for first',
            "the ring action comes first": '(("ring", "disc"),):\n            for first',
        },
        'for kind, second_kind in (("disc", "ring"), ("ring", "disc")):': {
            "a turn is two actions of any kinds": 'for kind, second_kind in (("disc", "ring"), ("ring", "disc"), ("disc", "disc"), ("ring", "ring")):'
        },
        "second = after.actions(second_kind, self.side)": {
            "a turn is one action": "second: list[str] = []",
            "the second action is taken on the board before the turn": "second = [each for each in self.board.actions(second_kind, self.side) if each[1:3] != first[-2:]]",
        },
        'turns += [f"{first}:{action}" for action in second] or [first]': {
            "the second action may be left out": 'turns += [*(f"{first}:{action}" for action in second), first]',
            "a turn without a second action is illegal": 'turns += [f"{first}:{action}" for action in second]',
        },
        "        return turns\n": {
            "a turn of one action is legal only if no turn has two": '        return [each for each in turns if ":" in each or self.board.after(each, self.side).win(self.side)] or turns\n',
            "the two orders of two actions are one move": '        return list({frozenset(each.split(":")): each for each in turns}.values())\n',
            "turns that lead to one position are one move": "        return list({self.play(each).text(): each for each in turns}.values())\n",
        },
        "                if after.win(self.side):\n                    turns.append(first)\n                    continue\n": {
            "a turn goes on after a line": "",
            "a line wins only at the end of the turn": (
                "",
                {
                    'turns += [f"{first}:{action}" for action in second] or [first]': 'turns += [f"{first}:{action}" for action in second] if second else []'
                },
            ),
            "a turn ends when its first action fills the board": "                if after.win(self.side) or all(after.occupied(cell) for cell in CELLS):\n                    turns.append(first)\n                    continue\n",
        },
        "return any(all(self.at[kind].get(cell) == side for cell in row) for row in ROWS_OF_FOUR)": {
            "a line does not win": "return False",
            "more than four in a line do not win": "return any(all(self.at[kind].get(cell) == side for cell in row) for row in ROWS_OF_FOUR) and not any(all(self.at[kind].get(cell) == side for cell in row) for row in lines(SIZE, 5))",
        },
        "ROWS_OF_FOUR = lines(SIZE, 4)": {
            "five in a line win": "ROWS_OF_FOUR = lines(SIZE, 5)",
            "three in a line win": "ROWS_OF_FOUR = lines(SIZE, 3)",
        },
        "self.at[kind].get(cell) == side for cell": {
            "discs and rings make a line together": "self.holds_piece_of(cell, side) for cell",
            "a line counts only with nothing else on its cells": "self.at[kind].get(cell) == side and (cell in self.at['disc']) != (cell in self.at['ring']) for cell",
            "a line may have both colours": "cell in self.at[kind] for cell",
        },
        'return "four-rings" if self.line("ring", side) else ""': {"four rings do not win": 'return ""'},
        '        if self.line("disc", side):\n            return "four-discs"\n': {
            "four discs do not win": ""
        },
        "for row in ROWS_OF_FOUR)": {
            "lines along the rows do not win": "for row in ROWS_OF_FOUR if row[0][0] != row[1][0])",
            "lines along the numbers do not win": "for row in ROWS_OF_FOUR if row[0][1] != row[1][1])",
            "lines in the third direction do not win": "for row in ROWS_OF_FOUR if row[0][0] == row[1][0] or row[0][1] == row[1][1])",
        },
        "        for side in (other(self.side), self.side):\n            reason": {
            "the side to move takes precedence": "        for side in (self.side, other(self.side)):\n            reason",
            "only the player who moved wins": "        for side in (other(self.side),):\n            reason",
        },
        '        if self.line("disc", side):\n            return "four-discs"\n        return "four-rings" if self.line("ring", side) else ""\n': {
            "rings take precedence": '        if self.line("ring", side):\n            return "four-rings"\n        return "four-discs" if self.line("disc", side) else ""\n'
        },
        "return win_for(side), reason": {"a line loses": "return win_for(other(side)), reason"},
        "if all(self.board.occupied(cell) for cell in CELLS):": {
            "a full board does not end the game": "if False:",
            "a board with a piece of each kind on every cell is full": 'if all(cell in self.board.at["disc"] and cell in self.board.at["ring"] for cell in CELLS):',
        },
        'return "1/2-1/2", "board-full", None, None': {
            "who fills the board wins": 'return win_for(other(self.side)), "board-full", None, None'
        },
        "if not self.board.empty() and not any(": {
            "a player without an action passes": (
                "if False and any(",
                {"        return turns\n": '        return turns or ["pass"]\n'},
            ),
            "the game is drawn if the opponent has no action": (
                "if not self.board.empty() and not any(",
                {
                    'self.board.actions(kind, self.side) for kind in ("disc", "ring")': 'self.board.actions(kind, other(self.side)) for kind in ("disc", "ring")'
                },
            ),
        },
        'return "1/2-1/2", "no-action", None, None': {
            "a player without an action loses": 'return win_for(other(self.side)), "no-action", None, None'
        },
    }
)
