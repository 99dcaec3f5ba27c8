"""DuAlma: every rule broken once."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import Mutation

_FREE = 'if self.board[cell] == "" and cell != CENTRE]'
_PAIRS = 'return [f"{black}:{white}" for black in free for white in free if black != white]'
_ACTIVE = 'if stack == "" or stack[-1] != self.side:'
_TARGET = "                target = step(SIZE, origin, direction, len(stack))\n"
_BLOCKED = "if target is None or len(self.board[target]) == 2:"
_LANDS = '                tokens.append(f"{origin}-{target}")\n'
_BOUNCES = "if len(stack) == 2 and len(self.board[target]) == 1:"
_EMPTY = 'if self.board[landing] == ""'
_PLACING = "        return sum(len(stack) for stack in self.board.values()) < 22\n"
_WON = "all(len(self.board[cell]) == 2 and self.board[cell][1] == side for cell in row)"
_ROWS = "ROWS_OF_THREE = lines(SIZE, 3)"
_PASS = 'return self.movements() or ["pass"]'

DUALMA = (
    # the placement phase
    Mutation("a disc may be placed on the centre", _FREE, 'if self.board[cell] == ""]'),
    Mutation(
        "the white disc may be placed on the centre",
        _PAIRS,
        _PAIRS.replace("for white in free", 'for white in [*free, *([CENTRE] * (self.board[CENTRE] == ""))]'),
    ),
    Mutation("a disc may be placed on another", _FREE, "if len(self.board[cell]) < 2 and cell != CENTRE]"),
    Mutation("both discs may be placed on one cell", _PAIRS, _PAIRS.replace(" if black != white", "")),
    Mutation("a placement names a pair of cells, whatever their colours", _PAIRS, _PAIRS.replace("!=", "<")),
    Mutation(
        "each player places only his own disc",
        '            board[black] = "b"\n',
        '            if self.side == "b":\n                board[black] = "b"\n',
        (
            (
                '            board[white] = "w"\n',
                '            if self.side == "w":\n                board[white] = "w"\n',
            ),
        ),
    ),
    Mutation("ten discs a colour are placed", _PLACING, _PLACING.replace("22", "20")),
    Mutation("twelve discs a colour are placed", _PLACING, _PLACING.replace("22", "24")),
    Mutation(
        "the placement phase ends when each cell of the edge is taken",
        _PLACING,
        "        return self.ply < 10\n",
    ),
    # movement
    Mutation(
        "White and Black move discs of the other's colour",
        _ACTIVE,
        'if stack == "" or stack[-1] == self.side:',
    ),
    Mutation("a player moves the disc beneath", _ACTIVE, 'if stack == "" or stack[0] != self.side:'),
    Mutation("a player moves any stack with a disc of his colour", _ACTIVE, "if self.side not in stack:"),
    Mutation("any disc may be moved", _ACTIVE, 'if stack == "":'),
    Mutation("a whole stack moves", "board[path[0]] = board[path[0]][:-1]", 'board[path[0]] = ""'),
    Mutation(
        "the lower disc goes",
        "board[path[0]] = board[path[0]][:-1]",
        'board[path[0]] = board[path[0]][-1:] if len(board[path[0]]) == 2 else ""',
    ),
    Mutation(
        "a disc comes to lie beneath",
        "board[path[-1]] += self.side",
        "board[path[-1]] = self.side + board[path[-1]]",
    ),
    Mutation(
        "a disc takes the disc where it lands", "board[path[-1]] += self.side", "board[path[-1]] = self.side"
    ),
    Mutation("every disc moves one cell", _TARGET, _TARGET.replace("len(stack)", "1")),
    Mutation("every disc moves two cells", _TARGET, _TARGET.replace("len(stack)", "2")),
    Mutation(
        "the top of a stack may move one cell too",
        _TARGET,
        f'{_TARGET}                near = step(SIZE, origin, direction)\n                if len(stack) == 2 and near is not None and len(self.board[near]) < 2:\n                    tokens.append(f"{{origin}}-{{near}}")\n',
    ),
    Mutation(
        "discs do not move along the rows", "for direction in DIRECTIONS:", "for direction in DIRECTIONS[2:]:"
    ),
    Mutation(
        "discs do not move along one diagonal",
        "for direction in DIRECTIONS:",
        "for direction in DIRECTIONS[:4]:",
    ),
    Mutation(
        "discs do not move along the other diagonal",
        "for direction in DIRECTIONS:",
        "for direction in DIRECTIONS[:2] + DIRECTIONS[4:]:",
    ),
    Mutation(
        "discs move only forward and sideways",
        "for direction in DIRECTIONS:",
        "for direction in [way for way in DIRECTIONS if way[0] * (1 if self.side == 'w' else -1) >= 0]:",
    ),
    Mutation(
        "the diagonals lean the other way",
        "for direction in DIRECTIONS:",
        "for direction in [*DIRECTIONS[:4], (1, -1), (-1, 1)]:",
    ),
    Mutation(
        "a disc between bars the way",
        _BLOCKED,
        "if target is None or len(self.board[target]) == 2 or (len(stack) == 2 and self.board[step(SIZE, origin, direction) or origin]):",
    ),
    Mutation(
        "a stack between bars the way",
        _BLOCKED,
        "if target is None or len(self.board[target]) == 2 or (len(stack) == 2 and len(self.board[step(SIZE, origin, direction) or origin]) == 2):",
    ),
    Mutation(
        "a disc of a stack jumps over a disc only",
        _BLOCKED,
        "if target is None or len(self.board[target]) == 2 or (len(stack) == 2 and not self.board[step(SIZE, origin, direction) or origin]):",
    ),
    Mutation("a stack may be three high", _BLOCKED, "if target is None or len(self.board[target]) == 3:"),
    Mutation("a disc lands on an empty cell only", _BLOCKED, "if target is None or self.board[target]:"),
    Mutation(
        "a disc lands on its own colour or an empty cell",
        _BLOCKED,
        "if target is None or len(self.board[target]) == 2 or self.board[target] == other(self.side):",
    ),
    Mutation(
        "a disc lands on the other colour or an empty cell",
        _BLOCKED,
        "if target is None or len(self.board[target]) == 2 or self.board[target] == self.side:",
    ),
    Mutation(
        "the centre stays empty",
        _BLOCKED,
        "if target is None or len(self.board[target]) == 2 or target == CENTRE:",
    ),
    # bounces
    Mutation("there are no bounces", _BOUNCES, "if False:"),
    Mutation("a disc that was single bounces too", _BOUNCES, "if len(self.board[target]) == 1:"),
    Mutation("a disc bounces off an empty cell too", _BOUNCES, "if len(stack) == 2:"),
    Mutation(
        "a disc bounces off its own colour only",
        _BOUNCES,
        "if len(stack) == 2 and self.board[target] == self.side:",
    ),
    Mutation(
        "a disc bounces off the other colour only",
        _BOUNCES,
        "if len(stack) == 2 and self.board[target] == other(self.side):",
    ),
    Mutation(
        "a disc bounces where it can",
        _LANDS,
        '                if not (len(stack) == 2 and len(self.board[target]) == 1 and any(self.board[near] == "" for near in neighbours(SIZE, target))):\n    '
        + _LANDS,
    ),
    Mutation("a disc bounces onto a single disc too", _EMPTY, "if len(self.board[landing]) < 2"),
    Mutation(
        "a disc does not bounce back to the cell it jumped over",
        _EMPTY,
        'if self.board[landing] == "" and landing != step(SIZE, origin, direction)',
    ),
    Mutation(
        "a disc bounces only straight on",
        _EMPTY,
        'if self.board[landing] == "" and landing == step(SIZE, origin, direction, 3)',
    ),
    Mutation(
        "a disc bounces beside the cell it left",
        "for landing in neighbours(SIZE, target)",
        "for landing in neighbours(SIZE, origin)",
    ),
    Mutation(
        "a disc does not bounce into the centre", _EMPTY, 'if self.board[landing] == "" and landing != CENTRE'
    ),
    # passing
    Mutation("anybody may pass", _PASS, 'return [*self.movements(), "pass"]'),
    Mutation("nobody passes", _PASS, "return self.movements()"),
    # the end
    Mutation("three stacks do not win", f"if {_WON}:", "if False:"),
    Mutation("two stacks win", _ROWS, "ROWS_OF_THREE = lines(SIZE, 2)"),
    Mutation("four stacks win", _ROWS, "ROWS_OF_THREE = lines(SIZE, 4)"),
    Mutation(
        "only exactly three stacks win",
        f"if {_WON}:",
        f"if {_WON} and not any(len(self.board[cell]) == 2 and self.board[cell][1] == side for line in lines(SIZE, 4) if set(row) < set(line) for cell in set(line) - set(row)):",
    ),
    Mutation(
        "single discs in a row win",
        _WON,
        "self.board[cell][-1:] == side for cell in row)".replace("self", "all(self", 1),
    ),
    Mutation("the lower discs count", _WON, _WON.replace("[1]", "[0]")),
    Mutation(
        "only stacks of one colour win",
        _WON,
        _WON.replace("self.board[cell][1] == side", "self.board[cell] == side * 2"),
    ),
    Mutation("three stacks of any colours win", _WON, "all(len(self.board[cell]) == 2 for cell in row)"),
    Mutation(
        "stacks along the rows do not win",
        "for row in ROWS_OF_THREE:",
        "for row in [row for row in ROWS_OF_THREE if row[0][0] != row[1][0]]:",
    ),
    Mutation(
        "stacks along the numbers do not win",
        "for row in ROWS_OF_THREE:",
        "for row in [row for row in ROWS_OF_THREE if row[0][1] != row[1][1]]:",
    ),
    Mutation(
        "stacks along the third direction do not win",
        "for row in ROWS_OF_THREE:",
        "for row in [row for row in ROWS_OF_THREE if row[0][0] == row[1][0] or row[0][1] == row[1][1]]:",
    ),
    Mutation(
        "only the player who moved wins",
        "for side in (other(self.side), self.side):",
        "for side in (other(self.side),):",
    ),
    Mutation(
        "the side to move takes precedence",
        "for side in (other(self.side), self.side):",
        "for side in (self.side, other(self.side)):",
    ),
    Mutation(
        "three stacks lose",
        'return win_for(side), "three-in-a-row"',
        'return win_for(other(side)), "three-in-a-row"',
    ),
    Mutation(
        "a player without a move loses",
        "                if all(",
        '                if not self.placing() and not self.movements():\n                    return win_for(other(self.side)), "no-move", None, None\n                if all(',
    ),
)
