"""DuAlma: every rule broken once."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import breaking

DUALMA = breaking(
    {
        'if self.board[cell] == "" and cell != CENTRE]': {
            "a disc may be placed on the centre": 'if self.board[cell] == ""]',
            "a disc may be placed on another": "if len(self.board[cell]) < 2 and cell != CENTRE]",
        },
        'return [f"{black}:{white}" for black in free for white in free if black != white]': {
            "the white disc may be placed on the centre": 'return [f"{black}:{white}" for black in free for white in [*free, *([CENTRE] * (self.board[CENTRE] == ""))] if black != white]',
            "both discs may be placed on one cell": 'return [f"{black}:{white}" for black in free for white in free]',
            "a placement names a pair of cells, whatever their colours": 'return [f"{black}:{white}" for black in free for white in free if black < white]',
        },
        '            board[black] = "b"\n': {
            "each player places only his own disc": (
                '            if self.side == "b":\n                board[black] = "b"\n',
                {
                    '            board[white] = "w"\n': '            if self.side == "w":\n                board[white] = "w"\n'
                },
            )
        },
        "        return sum(len(stack) for stack in self.board.values()) < 22\n": {
            "ten discs a colour are placed": "        return sum(len(stack) for stack in self.board.values()) < 20\n",
            "twelve discs a colour are placed": "        return sum(len(stack) for stack in self.board.values()) < 24\n",
            "the placement phase ends when each cell of the edge is taken": "        return self.ply < 10\n",
        },
        'if stack == "" or stack[-1] != self.side:': {
            "White and Black move discs of the other's colour": 'if stack == "" or stack[-1] == self.side:',
            "a player moves the disc beneath": 'if stack == "" or stack[0] != self.side:',
            "a player moves any stack with a disc of his colour": "if self.side not in stack:",
            "any disc may be moved": 'if stack == "":',
        },
        "board[path[0]] = board[path[0]][:-1]": {
            "a whole stack moves": 'board[path[0]] = ""',
            "the lower disc goes": 'board[path[0]] = board[path[0]][-1:] if len(board[path[0]]) == 2 else ""',
        },
        "board[path[-1]] += self.side": {
            "a disc comes to lie beneath": "board[path[-1]] = self.side + board[path[-1]]",
            "a disc takes the disc where it lands": "board[path[-1]] = self.side",
        },
        "                target = step(SIZE, origin, direction, len(stack))\n": {
            "every disc moves one cell": "                target = step(SIZE, origin, direction, 1)\n",
            "every disc moves two cells": "                target = step(SIZE, origin, direction, 2)\n",
            "the top of a stack may move one cell too": '                target = step(SIZE, origin, direction, len(stack))\n                near = step(SIZE, origin, direction)\n                if len(stack) == 2 and near is not None and len(self.board[near]) < 2:\n                    tokens.append(f"{origin}-{near}")\n',
        },
        "for direction in DIRECTIONS:": {
            "discs do not move along the rows": "for direction in DIRECTIONS[2:]:",
            "discs do not move along one diagonal": "for direction in DIRECTIONS[:4]:",
            "discs do not move along the other diagonal": "for direction in DIRECTIONS[:2] + DIRECTIONS[4:]:",
            "discs move only forward and sideways": "for direction in [way for way in DIRECTIONS if way[0] * (1 if self.side == 'w' else -1) >= 0]:",
            "the diagonals lean the other way": "for direction in [*DIRECTIONS[:4], (1, -1), (-1, 1)]:",
        },
        "if target is None or len(self.board[target]) == 2:": {
            "a disc between bars the way": "if target is None or len(self.board[target]) == 2 or (len(stack) == 2 and self.board[step(SIZE, origin, direction) or origin]):",
            "a stack between bars the way": "if target is None or len(self.board[target]) == 2 or (len(stack) == 2 and len(self.board[step(SIZE, origin, direction) or origin]) == 2):",
            "a disc of a stack jumps over a disc only": "if target is None or len(self.board[target]) == 2 or (len(stack) == 2 and not self.board[step(SIZE, origin, direction) or origin]):",
            "a stack may be three high": "if target is None or len(self.board[target]) == 3:",
            "a disc lands on an empty cell only": "if target is None or self.board[target]:",
            "a disc lands on its own colour or an empty cell": "if target is None or len(self.board[target]) == 2 or self.board[target] == other(self.side):",
            "a disc lands on the other colour or an empty cell": "if target is None or len(self.board[target]) == 2 or self.board[target] == self.side:",
            "the centre stays empty": "if target is None or len(self.board[target]) == 2 or target == CENTRE:",
        },
        "if len(stack) == 2 and len(self.board[target]) == 1:": {
            "there are no bounces": "if False:",
            "a disc that was single bounces too": "if len(self.board[target]) == 1:",
            "a disc bounces off an empty cell too": "if len(stack) == 2:",
            "a disc bounces off its own colour only": "if len(stack) == 2 and self.board[target] == self.side:",
            "a disc bounces off the other colour only": "if len(stack) == 2 and self.board[target] == other(self.side):",
        },
        '                tokens.append(f"{origin}-{target}")\n': {
            "a disc bounces where it can": '                if not (len(stack) == 2 and len(self.board[target]) == 1 and any(self.board[near] == "" for near in neighbours(SIZE, target))):\n                    tokens.append(f"{origin}-{target}")\n'
        },
        'if self.board[landing] == ""': {
            "a disc bounces onto a single disc too": "if len(self.board[landing]) < 2",
            "a disc does not bounce back to the cell it jumped over": 'if self.board[landing] == "" and landing != step(SIZE, origin, direction)',
            "a disc bounces only straight on": 'if self.board[landing] == "" and landing == step(SIZE, origin, direction, 3)',
            "a disc does not bounce into the centre": 'if self.board[landing] == "" and landing != CENTRE',
        },
        "for landing in neighbours(SIZE, target)": {
            "a disc bounces beside the cell it left": "for landing in neighbours(SIZE, origin)"
        },
        'return self.movements() or ["pass"]': {
            "anybody may pass": 'return [*self.movements(), "pass"]',
            "nobody passes": "return self.movements()",
        },
        "if all(len(self.board[cell]) == 2 and self.board[cell][1] == side for cell in row):": {
            "three stacks do not win": "if False:",
            "only exactly three stacks win": "if all(len(self.board[cell]) == 2 and self.board[cell][1] == side for cell in row) and not any(len(self.board[cell]) == 2 and self.board[cell][1] == side for line in lines(SIZE, 4) if set(row) < set(line) for cell in set(line) - set(row)):",
        },
        "ROWS_OF_THREE = lines(SIZE, 3)": {
            "two stacks win": "ROWS_OF_THREE = lines(SIZE, 2)",
            "four stacks win": "ROWS_OF_THREE = lines(SIZE, 4)",
        },
        "all(len(self.board[cell]) == 2 and self.board[cell][1] == side for cell in row)": {
            "single discs in a row win": "all(self.board[cell][-1:] == side for cell in row)",
            "the lower discs count": "all(len(self.board[cell]) == 2 and self.board[cell][0] == side for cell in row)",
            "only stacks of one colour win": "all(len(self.board[cell]) == 2 and self.board[cell] == side * 2 for cell in row)",
            "three stacks of any colours win": "all(len(self.board[cell]) == 2 for cell in row)",
        },
        "for row in ROWS_OF_THREE:": {
            "stacks along the rows do not win": "for row in [row for row in ROWS_OF_THREE if row[0][0] != row[1][0]]:",
            "stacks along the numbers do not win": "for row in [row for row in ROWS_OF_THREE if row[0][1] != row[1][1]]:",
            "stacks along the third direction do not win": "for row in [row for row in ROWS_OF_THREE if row[0][0] == row[1][0] or row[0][1] == row[1][1]]:",
        },
        "for side in (other(self.side), self.side):": {
            "only the player who moved wins": "for side in (other(self.side),):",
            "the side to move takes precedence": "for side in (self.side, other(self.side)):",
        },
        'return win_for(side), "three-in-a-row"': {
            "three stacks lose": 'return win_for(other(side)), "three-in-a-row"'
        },
        "                if all(": {
            "a player without a move loses": '                if not self.placing() and not self.movements():\n                    return win_for(other(self.side)), "no-move", None, None\n                if all('
        },
    }
)
