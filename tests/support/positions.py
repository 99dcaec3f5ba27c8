"""Random valid position strings from a seed, one function for each ladder.

They satisfy only the constraints of position strings, so that two implementations of
the rules can be compared on positions that play never reaches.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.literal.hexagon import cells, format_rows, lines, neighbours


def draw_ply(rng: random.Random, side: str, first: str, least: int = 0) -> int:
    """A ply of the parity that ``side`` needs when ``first`` moves at ply 0."""
    ply = rng.randrange(least, least + 200)
    return ply + ((ply % 2 == 0) != (side == first))


def spread(rng: random.Random, total: int, holes: int, empty: float) -> list[int]:
    """``total`` seeds over so many holes, a share of them left empty where possible."""
    numbers = [0] * holes
    open_holes = [hole for hole in range(holes) if rng.random() >= empty] or [0]
    for _ in range(total):
        numbers[rng.choice(open_holes)] += 1
    return numbers


def draw_dogon(rng: random.Random, files: int, seeds: int) -> str:
    on_board = rng.choice([rng.randrange(seeds + 1), rng.randrange(12)])
    holes = spread(rng, on_board, 2 * files, rng.random())
    if rng.random() < 0.4:
        # passes and turning limits need a side with nothing to reach
        row = rng.randrange(2)
        holes[row * files : (row + 1) * files] = [rng.choice([0, 0, 0, 1]) for _ in range(files)]
    if sum(holes) > seeds:
        return draw_dogon(rng, files, seeds)
    white = rng.randrange(seeds - sum(holes) + 1)
    if rng.random() < 0.2:
        white = min(rng.randrange(3), seeds - sum(holes))
    black = seeds - sum(holes) - white
    if rng.random() < 0.5:
        white, black = black, white
    side = rng.choice("wb")
    passed = rng.choice("p-")
    run = rng.choice(["-", "+0", "-0", "+1", "-1", "+2", "-2"])
    ranks = [holes[files:], holes[:files]]
    board = "/".join(",".join(map(str, rank)) for rank in ranks)
    return f"{board} {side} {white} {black} {passed} {run} {draw_ply(rng, side, 'w')}"


def draw_duovallis(rng: random.Random) -> str:
    empty = rng.random()
    holes = []
    whites = blacks = 2
    for _ in range(24):
        white = black = 0
        if rng.random() >= empty:
            white, black = rng.choice([0, 1, 1, 2, 3]), rng.choice([0, 0, 1, 2])
        if max(whites + white + 3 * (blacks + black), 3 * (whites + white) + blacks + black) > 160:
            white = black = 0
        whites, blacks = whites + white, blacks + black
        holes.append("".join(f"{n}{c}" for n, c in ((white, "w"), (black, "b")) if n) or "0")
    board = "/".join(",".join(holes[rank : rank + 6]) for rank in range(0, 24, 6))
    side = rng.choice("wb")
    return f"{board} {side} {rng.randrange(3)} {rng.randrange(3)} {draw_ply(rng, side, 'w')}"


def draw_dualma(rng: random.Random) -> str:
    board = dict.fromkeys(cells(5), "")
    if rng.random() < 0.2:
        ply = rng.randrange(11)
        free = [cell for cell in board if cell != "e5"]
        rng.shuffle(free)
        for turn in range(ply):
            board[free[2 * turn]], board[free[2 * turn + 1]] = "b", "w"
        return f"{format_rows(5, board)} {'bw'[ply % 2]} {ply}"
    names = list(board)
    if rng.random() < 0.15:
        # every disc of one side beneath another: it has to pass
        stack = rng.choice(["wb", "bw"])
        for name in rng.sample(names, 11):
            board[name] = stack
        return f"{format_rows(5, board)} {stack[0]} {draw_ply(rng, stack[0], 'b', least=12)}"
    discs = ["w"] * 11 + ["b"] * 11
    rng.shuffle(discs)
    stacking = rng.random()
    rng.shuffle(names)
    if rng.random() < 0.3:
        # crowd a corner: blocked discs, bounces and passes
        names.sort(key=lambda cell: (ord(cell[0]) - 97 + int(cell[1])) // rng.choice([2, 3]))
    for name in names:
        if discs:
            board[name] = discs.pop()
            if discs and rng.random() < stacking:
                board[name] += discs.pop()
    side = rng.choice("wb")
    ply = draw_ply(rng, side, "b", least=12)
    return f"{format_rows(5, board)} {side} {ply}"


def draw_duploline(rng: random.Random) -> str:
    board = dict.fromkeys(cells(4), "")
    supply = dict.fromkeys("DdRr", 18)
    group = [rng.choice(list(board))]
    wanted = rng.choice([rng.randrange(1, 38), rng.randrange(1, 12), 36])
    favourite = rng.choice(["", "", "Dr", "dR", "Dd", "Rr"])

    def pick(letters: str) -> str:
        left = [letter for letter in letters if supply[letter] > 0]
        liked = [letter for letter in left if letter in favourite]
        if liked and rng.random() < 0.7:
            left = liked
        if not left:
            return ""
        letter = rng.choice(left)
        supply[letter] -= 1
        return letter

    while len(group) < wanted:
        border = [near for cell in group for near in neighbours(4, cell) if near not in group]
        group.append(rng.choice(border))
    both = rng.random()
    for cell in group:
        kind = rng.choice(["Dd", "Rr"])
        board[cell] = pick(kind) or pick("DdRr")
        if rng.random() < both:
            if board[cell] in "Dd":
                board[cell] += pick("Rr")
            else:
                board[cell] = pick("Dd") + board[cell]
    if rng.random() < 0.7:
        break_lines(rng, board)
    side = rng.choice("wb")
    return f"{format_rows(4, board)} {side} {draw_ply(rng, side, 'w', least=1)}"


def break_lines(rng: random.Random, board: dict[str, str]) -> None:
    """Recolour pieces until hardly a line of four is left, where the supplies allow it."""
    rows = lines(4, 4)
    for _ in range(60):
        whole = [
            (row, letter) for row in rows for letter in "DdRr" if all(letter in board[cell] for cell in row)
        ]
        if not whole:
            return
        row, letter = rng.choice(whole)
        cell, flipped = rng.choice(row), letter.swapcase()
        if sum(flipped in contents for contents in board.values()) < 18:
            board[cell] = board[cell].replace(letter, flipped)


DRAW: dict[str, Callable[[random.Random], str]] = {
    "duovallis": draw_duovallis,
    "dualma": draw_dualma,
    "dogon-kulei": lambda rng: draw_dogon(rng, 6, 48),
    "dogon-gagara": lambda rng: draw_dogon(rng, 8, 96),
    "duploline": draw_duploline,
}
