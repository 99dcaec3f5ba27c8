"""DuploLine: every rule broken once."""

# ruff: noqa: E501 (quoted source is not broken)

from __future__ import annotations

from tests.support.mutations.base import Mutation

_ADD = "if not self.occupied(cell) and any(self.holds_piece_of(n, other(side)) for n in around):"
_AROUND = "any(self.holds_piece_of(n, other(side)) for n in around)"
_UNLOCKED = "if colour != side or cell in self.at[partner]:"
_JOINS = "if near in self.at[partner] and near not in self.at[kind]:"
_CONNECTED = "if self.after(action, side).connected():"
_FOUND = "        if found:\n            return found\n"
_ALSO_NONE = "        if self.supply(kind, side) == 0:\n            return []\n"
_REPLACED = "return [WORD[kind] + cell for cell in self.at[partner] if cell not in self.at[kind]]"
_FIRST = 'return [word + cell for word in "DR" for cell in CELLS]'
_ORDERS = '(("disc", "ring"), ("ring", "disc")):\n            for first'
_WINS = "                if after.win(self.side):\n                    turns.append(first)\n                    continue\n"
_SECOND = 'turns += [f"{first}:{action}" for action in second] or [first]'
_TURNS = "        return turns\n"
_LINE = "any(all(self.at[kind].get(cell) == side for cell in row) for row in ROWS_OF_FOUR)"
_ROWS = "ROWS_OF_FOUR = lines(SIZE, 4)"
_FULL = "if all(self.board.occupied(cell) for cell in CELLS):"
_STUCK = "if not self.board.empty() and not any("
_SIDES = "        for side in (other(self.side), self.side):\n            reason"

DUPLOLINE = (
    # the first turn
    Mutation("White starts with a disc", _FIRST, """return ["D" + cell for cell in CELLS]"""),
    Mutation("White starts with a ring", _FIRST, """return ["R" + cell for cell in CELLS]"""),
    Mutation("the centre is no first cell", _FIRST, _FIRST.replace("in CELLS]", 'in CELLS if cell != "d4"]')),
    Mutation(
        "the first turn has two actions",
        _FIRST,
        'return [f"{one}{cell}:{two}{last}" for one, two in ("DR", "RD") for cell in CELLS for last in neighbours(SIZE, cell)]',
    ),
    # adds
    Mutation(
        "an add touches the mover's own pieces", _AROUND, "any(self.holds_piece_of(n, side) for n in around)"
    ),
    Mutation("an add touches any piece", _AROUND, "any(self.occupied(n) for n in around)"),
    Mutation("an add touches nothing", f" and {_AROUND}:", ":"),
    Mutation(
        "an add touches two pieces of the opponent",
        _AROUND,
        "sum(self.holds_piece_of(n, other(side)) for n in around) > 1",
    ),
    Mutation(
        "an add does not touch a cell that both share",
        _AROUND,
        "any(self.holds_piece_of(n, other(side)) and not self.holds_piece_of(n, side) for n in around)",
    ),
    Mutation(
        "a disc touches a disc, and a ring a ring",
        _AROUND,
        "any(self.at[kind].get(n) == other(side) for n in around)",
    ),
    Mutation(
        "a piece is added onto one of the other kind",
        "if not self.occupied(cell) and",
        "if cell not in self.at[kind] and",
    ),
    Mutation("there is no supply", "        if self.supply(kind, side) > 0:\n", "        if True:\n"),
    Mutation(
        "a supply has seventeen pieces",
        "        if self.supply(kind, side) > 0:\n",
        "        if self.supply(kind, side) > 1:\n",
    ),
    Mutation(
        "a supply serves both kinds",
        "return PIECES - sum(1 for colour in self.at[kind].values() if colour == side)",
        'return 2 * PIECES - sum(colour == side for each in ("disc", "ring") for colour in self.at[each].values())',
    ),
    Mutation(
        "both colours share a supply",
        "return PIECES - sum(1 for colour in self.at[kind].values() if colour == side)",
        "return 2 * PIECES - len(self.at[kind])",
    ),
    # moves
    Mutation(
        "a player moves the opponent's pieces", _UNLOCKED, "if colour == side or cell in self.at[partner]:"
    ),
    Mutation("a player moves any piece", _UNLOCKED, "if cell in self.at[partner]:"),
    Mutation("locked pieces move too", _UNLOCKED, "if colour != side:"),
    Mutation(
        "a piece under the mover's own is free",
        _UNLOCKED,
        "if colour != side or self.at[partner].get(cell) == other(side):",
    ),
    Mutation("no piece moves", _UNLOCKED, "if True:"),
    Mutation(
        "a piece joins the mover's own only",
        _JOINS,
        "if self.at[partner].get(near) == side and near not in self.at[kind]:",
    ),
    Mutation(
        "a piece joins the opponent's only",
        _JOINS,
        "if self.at[partner].get(near) == other(side) and near not in self.at[kind]:",
    ),
    Mutation("a piece moves to an empty cell", _JOINS, "if not self.occupied(near):"),
    Mutation("a piece moves to an empty cell too", _JOINS, "if near not in self.at[kind]:"),
    Mutation("a piece moves onto its own kind", _JOINS, "if near in self.at[partner]:"),
    Mutation(
        "a piece moves to a piece anywhere",
        "for near in neighbours(SIZE, cell):\n                if",
        "for near in CELLS:\n                if",
    ),
    Mutation(
        "only discs move", _UNLOCKED, 'if colour != side or cell in self.at[partner] or kind == "ring":'
    ),
    Mutation(
        "only rings move", _UNLOCKED, 'if colour != side or cell in self.at[partner] or kind == "disc":'
    ),
    Mutation(
        "pieces do not move along the rows",
        "for near in neighbours(SIZE, cell):\n                if",
        "for near in [near for near in neighbours(SIZE, cell) if near[0] != cell[0]]:\n                if",
    ),
    Mutation(
        "pieces do not move along the numbers",
        "for near in neighbours(SIZE, cell):\n                if",
        "for near in [near for near in neighbours(SIZE, cell) if near[1] != cell[1]]:\n                if",
    ),
    Mutation(
        "pieces do not move in the third direction",
        "for near in neighbours(SIZE, cell):\n                if",
        "for near in [near for near in neighbours(SIZE, cell) if near[0] == cell[0] or near[1] == cell[1]]:\n                if",
    ),
    # the connection rule
    Mutation("groups may be parted", _CONNECTED, "if True:"),
    Mutation(
        "the connection is judged at the end of the turn",
        _CONNECTED,
        "if True:",
        (
            (
                _SECOND,
                'turns += [f"{first}:{action}" for action in second if after.after(action, self.side).connected()] or ([first] if after.connected() and not second else [])',
            ),
        ),
    ),
    Mutation(
        "a move may not leave a cell empty that touches another piece",
        _CONNECTED,
        "if self.after(action, side).connected() and sum(self.occupied(n) for n in neighbours(SIZE, cell)) < 3:",
    ),
    # replacements
    Mutation("there are no replacements", _REPLACED, "return []"),
    Mutation(
        "a replacement joins the mover's own only",
        _REPLACED,
        _REPLACED.replace(
            "in self.at[partner] if", "in self.at[partner] if self.at[partner][cell] == side and"
        ),
    ),
    Mutation(
        "a replacement joins the opponent's only",
        _REPLACED,
        _REPLACED.replace(
            "in self.at[partner] if", "in self.at[partner] if self.at[partner][cell] != side and"
        ),
    ),
    Mutation("a replacement is always possible", _FOUND, ""),
    Mutation(
        "an action without an add is replaced, even if a piece may move",
        _FOUND,
        '        if any("-" not in action for action in found):\n            return found\n',
    ),
    Mutation(
        "an action without a move is replaced, even if a piece may be added",
        _FOUND,
        '        if any("-" in action for action in found):\n            return found\n',
    ),
    Mutation(
        "a replacement goes to any empty cell",
        _REPLACED,
        "return [WORD[kind] + cell for cell in CELLS if not self.occupied(cell)]",
    ),
    Mutation("a replacement comes from nowhere when the supply is used up", _ALSO_NONE, ""),
    # turns
    Mutation("the disc action comes first", _ORDERS, _ORDERS.replace(', ("ring", "disc")', ",")),
    Mutation(
        "the ring action comes first",
        _ORDERS,
        _ORDERS.replace('("disc", "ring"), ("ring", "disc")', '("ring", "disc"),'),
    ),
    Mutation(
        "a turn is two actions of any kinds",
        'for kind, second_kind in (("disc", "ring"), ("ring", "disc")):',
        'for kind, second_kind in (("disc", "ring"), ("ring", "disc"), ("disc", "disc"), ("ring", "ring")):',
    ),
    Mutation(
        "a turn is one action", "second = after.actions(second_kind, self.side)", "second: list[str] = []"
    ),
    Mutation(
        "the second action may be left out",
        _SECOND,
        'turns += [*(f"{first}:{action}" for action in second), first]',
    ),
    Mutation(
        "the second action is taken on the board before the turn",
        "second = after.actions(second_kind, self.side)",
        "second = [each for each in self.board.actions(second_kind, self.side) if each[1:3] != first[-2:]]",
    ),
    Mutation(
        "a turn without a second action is illegal",
        _SECOND,
        'turns += [f"{first}:{action}" for action in second]',
    ),
    Mutation(
        "a turn of one action is legal only if no turn has two",
        _TURNS,
        '        return [each for each in turns if ":" in each or self.board.after(each, self.side).win(self.side)] or turns\n',
    ),
    Mutation(
        "the two orders of two actions are one move",
        _TURNS,
        '        return list({frozenset(each.split(":")): each for each in turns}.values())\n',
    ),
    Mutation(
        "turns that lead to one position are one move",
        _TURNS,
        "        return list({self.play(each).text(): each for each in turns}.values())\n",
    ),
    # the end
    Mutation("a turn goes on after a line", _WINS, ""),
    Mutation(
        "a line wins only at the end of the turn",
        _WINS,
        "",
        ((_SECOND, 'turns += [f"{first}:{action}" for action in second] if second else []'),),
    ),
    Mutation("a line does not win", f"return {_LINE}", "return False"),
    Mutation("five in a line win", _ROWS, "ROWS_OF_FOUR = lines(SIZE, 5)"),
    Mutation("three in a line win", _ROWS, "ROWS_OF_FOUR = lines(SIZE, 3)"),
    Mutation(
        "more than four in a line do not win",
        f"return {_LINE}",
        f"return {_LINE} and not any(all(self.at[kind].get(cell) == side for cell in row) for row in lines(SIZE, 5))",
    ),
    Mutation(
        "discs and rings make a line together",
        "self.at[kind].get(cell) == side for cell",
        "self.holds_piece_of(cell, side) for cell",
    ),
    Mutation(
        "a line counts only with nothing else on its cells",
        "self.at[kind].get(cell) == side for cell",
        "self.at[kind].get(cell) == side and (cell in self.at['disc']) != (cell in self.at['ring']) for cell",
    ),
    Mutation(
        "a line may have both colours",
        "self.at[kind].get(cell) == side for cell",
        "cell in self.at[kind] for cell",
    ),
    Mutation("four rings do not win", 'return "four-rings" if self.line("ring", side) else ""', 'return ""'),
    Mutation(
        "four discs do not win", '        if self.line("disc", side):\n            return "four-discs"\n', ""
    ),
    Mutation(
        "lines along the rows do not win",
        "for row in ROWS_OF_FOUR)",
        "for row in ROWS_OF_FOUR if row[0][0] != row[1][0])",
    ),
    Mutation(
        "lines along the numbers do not win",
        "for row in ROWS_OF_FOUR)",
        "for row in ROWS_OF_FOUR if row[0][1] != row[1][1])",
    ),
    Mutation(
        "lines in the third direction do not win",
        "for row in ROWS_OF_FOUR)",
        "for row in ROWS_OF_FOUR if row[0][0] == row[1][0] or row[0][1] == row[1][1])",
    ),
    Mutation(
        "the side to move takes precedence",
        _SIDES,
        _SIDES.replace("(other(self.side), self.side)", "(self.side, other(self.side))"),
    ),
    Mutation(
        "only the player who moved wins",
        _SIDES,
        _SIDES.replace("(other(self.side), self.side)", "(other(self.side),)"),
    ),
    Mutation(
        "rings take precedence",
        '        if self.line("disc", side):\n            return "four-discs"\n        return "four-rings" if self.line("ring", side) else ""\n',
        '        if self.line("ring", side):\n            return "four-rings"\n        return "four-discs" if self.line("disc", side) else ""\n',
    ),
    Mutation("a line loses", "return win_for(side), reason", "return win_for(other(side)), reason"),
    Mutation("a full board does not end the game", _FULL, "if False:"),
    Mutation(
        "a board with a piece of each kind on every cell is full",
        _FULL,
        'if all(cell in self.board.at["disc"] and cell in self.board.at["ring"] for cell in CELLS):',
    ),
    Mutation(
        "a turn ends when its first action fills the board",
        _WINS,
        _WINS.replace(
            "if after.win(self.side):",
            "if after.win(self.side) or all(after.occupied(cell) for cell in CELLS):",
        ),
    ),
    Mutation(
        "who fills the board wins",
        'return "1/2-1/2", "board-full", None, None',
        'return win_for(other(self.side)), "board-full", None, None',
    ),
    Mutation(
        "a player without an action passes",
        _STUCK,
        "if False and any(",
        ((_TURNS, '        return turns or ["pass"]\n'),),
    ),
    Mutation(
        "a player without an action loses",
        'return "1/2-1/2", "no-action", None, None',
        'return win_for(other(self.side)), "no-action", None, None',
    ),
    Mutation(
        "the game is drawn if the opponent has no action",
        _STUCK,
        "if not self.board.empty() and not any(",
        (
            (
                'self.board.actions(kind, self.side) for kind in ("disc", "ring")',
                'self.board.actions(kind, other(self.side)) for kind in ("disc", "ring")',
            ),
        ),
    ),
)
