"""Valid position strings as hypothesis strategies, one for each ladder: reachable or not.

Every choice is drawn separately, so that a failing position shrinks: to fewer stones, discs and
cells, to the first cells of the board and to the first plies.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.literal.hexagon import cells, format_rows, neighbours

MOST = 999_999_999
"""The largest number a position string may hold."""

RUNS = ("-", "+0", "-0", "+1", "-1", "+2", "-2")
PIECES = ("D", "R", "d", "r", "DR", "Dr", "dR", "dr")


def plies(least: int = 0) -> st.SearchStrategy[int]:
    return st.integers(least, least + 12) | st.integers(least, MOST)


# Dogon


@st.composite
def dogon(draw: st.DrawFn, files: int, seeds: int) -> str:
    """Rows that are rich, poor or nearly empty, each for itself; the other seeds are in the stores."""
    left = seeds
    rows = []
    for _ in range(2):
        most = draw(st.sampled_from([1, 2, 4, 9, seeds]))
        row = []
        for _ in range(files):
            row.append(draw(st.integers(0, min(most, left))))
            left -= row[-1]
        rows.append(",".join(map(str, row)))
    white = draw(st.integers(0, left))
    ply = draw(plies())
    passed, run = draw(st.sampled_from("-p")), draw(st.sampled_from(RUNS))
    return f"{'/'.join(rows)} {'wb'[ply % 2]} {white} {left - white} {passed} {run} {ply}"


# Duovallis


@st.composite
def duovallis(draw: st.DrawFn) -> str:
    """Stones hole by hole as long as white + 3·black and 3·white + black leave room for them."""
    white_kept, black_kept = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    white, black = black_kept, white_kept
    most_white, most_black = (draw(st.sampled_from([2, 1, 4, 14, 53])) for _ in "wb")
    holes = []
    for _ in range(24):
        more_white = draw(st.integers(0, min(most_white, _room(white, black))))
        white += more_white
        more_black = draw(st.integers(0, min(most_black, _room(black, white))))
        black += more_black
        spelled = [f"{stones}{colour}" for stones, colour in ((more_white, "w"), (more_black, "b")) if stones]
        holes.append("".join(spelled) or "0")
    board = "/".join(",".join(holes[first : first + 6]) for first in range(0, 24, 6))
    ply = draw(plies())
    return f"{board} {'wb'[ply % 2]} {white_kept} {black_kept} {ply}"


def _room(own: int, others: int) -> int:
    """How many more stones of a colour there may be."""
    return max(0, min(160 - own - 3 * others, (160 - 3 * own - others) // 3))


# DuAlma


def dualma() -> st.SearchStrategy[str]:
    return dualma_placing() | dualma_moving() | dualma_moving()


@st.composite
def dualma_placing(draw: st.DrawFn) -> str:
    ply = draw(st.integers(0, 10))
    free = st.sampled_from([cell for cell in cells(5) if cell != "e5"])
    chosen = draw(st.lists(free, min_size=2 * ply, max_size=2 * ply, unique=True))
    board = dict.fromkeys(cells(5), "")
    board.update({cell: "bw"[index % 2] for index, cell in enumerate(chosen)})
    return f"{format_rows(5, board)} {'bw'[ply % 2]} {ply}"


@st.composite
def dualma_moving(draw: st.DrawFn) -> str:
    """Stacks and single discs, crowded around a cell or all over the board."""
    discs = "".join(draw(st.permutations("w" * 11 + "b" * 11)))
    stacks = []
    while discs:
        height = draw(st.integers(1, min(2, len(discs))))
        stacks.append(discs[:height])
        discs = discs[height:]
    region = draw(st.integers(len(stacks), 61))
    near = _nearest(draw(st.sampled_from(cells(5))))[:region]
    chosen = draw(st.lists(st.sampled_from(near), min_size=len(stacks), max_size=len(stacks), unique=True))
    board = {**dict.fromkeys(cells(5), ""), **dict(zip(chosen, stacks, strict=True))}
    ply = draw(plies(least=11))
    return f"{format_rows(5, board)} {'bw'[ply % 2]} {ply}"


def _nearest(start: str) -> list[str]:
    """All cells, those a few steps away before those that are farther."""
    found = [start]
    for cell in found:
        found += [near for near in neighbours(5, cell) if near not in found]
    return found


# DuploLine


@st.composite
def duploline(draw: st.DrawFn) -> str:
    """A group grown cell by cell, of some of the eight contents as long as their pieces last."""
    board = dict.fromkeys(cells(4), "")
    size = draw(st.integers(0, 37))
    favourites = draw(st.lists(st.sampled_from(PIECES), min_size=1, unique=True))
    group: list[str] = []
    for _ in range(size):
        border = [near for cell in group for near in neighbours(4, cell) if near not in group]
        left = _left(board, favourites) or _left(board, PIECES)
        if not left:
            break
        group.append(draw(st.sampled_from(sorted(set(border)) or cells(4))))
        board[group[-1]] = draw(st.sampled_from(left))
    ply = draw(plies()) if group else 0
    return f"{format_rows(4, board)} {'wb'[ply % 2]} {ply}"


def _left(board: dict[str, str], contents: tuple[str, ...] | list[str]) -> list[str]:
    """Those of the contents whose pieces are not all on the board."""
    spelled = "".join(board.values())
    return [content for content in contents if all(spelled.count(letter) < 18 for letter in content)]


VALID: dict[str, st.SearchStrategy[str]] = {
    "duovallis": duovallis(),
    "dualma": dualma(),
    "dogon-kulei": dogon(6, 48),
    "dogon-gagara": dogon(8, 96),
    "duploline": duploline(),
}


def any_valid_position(*codes: str) -> st.SearchStrategy[tuple[str, str]]:
    """One of these ladders' codes and a position string of it."""
    return st.sampled_from(codes).flatmap(lambda code: st.tuples(st.just(code), VALID[code]))
