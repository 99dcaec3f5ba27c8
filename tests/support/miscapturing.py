"""A bot for Dogon kulei that plays well but for one rule: it captures two holes of a chain at most.

Run as a program. With the argument ``slow`` it knows the rules, and takes 600 ms for every move.
"""

from __future__ import annotations

import sys
import time

from engines.rules.base import Position
from engines.rules.registry import find_game

KULEI = find_game("dogon-kulei").position
FILES = 6
KEPT = 6
"""Two holes have at most these seeds; the others stay where they were, in one hole."""


def play(position: Position, token: str) -> Position:
    """The position after a move by the wrong rule."""
    after = position.play(token)
    fields, before = str(after).split(), str(position).split()
    mine = 2 if before[1] == "w" else 3
    captured = int(fields[mine]) - int(before[mine])
    if token == "pass" or captured <= KEPT or after.outcome().decided:
        return after
    end = last_hole(before[0], token)
    rows = [[int(hole) for hole in row.split(",")] for row in fields[0].split("/")]
    row, file = neighbour(end, "-" if token[2] == "+" else "+")
    rows[row][file] += captured - KEPT
    fields[0] = "/".join(",".join(map(str, one)) for one in rows)
    fields[mine] = str(int(fields[mine]) - captured + KEPT)
    return KULEI.parse(" ".join(fields))


def neighbour(hole: tuple[int, int], direction: str) -> tuple[int, int]:
    """Row 1 is White's, row 0 Black's; + goes to the right on White's row."""
    row, file = hole
    file += 1 if (row == 1) == (direction == "+") else -1
    if 0 <= file < FILES:
        return row, file
    return 1 - row, min(max(file, 0), FILES - 1)


def last_hole(rows: str, token: str) -> tuple[int, int]:
    """Where the last seed of a sowing falls."""
    start = hole = (2 - int(token[1]), ord(token[0]) - ord("a"))
    seeds = [[int(hole) for hole in row.split(",")] for row in rows.split("/")][hole[0]][hole[1]]
    while seeds:
        hole = neighbour(hole, token[2])
        seeds -= hole != start
    return hole


def main() -> None:
    is_slow = "slow" in sys.argv
    position = KULEI.initial()
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["ugi"]:
                print("id name Miscapturing\nugiok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position"]:
                end = words.index("moves") if "moves" in words else len(words)
                position = KULEI.parse(" ".join(words[2:end])) if words[1] == "fen" else KULEI.initial()
                for token in words[end + 1 :]:
                    position = (
                        position.play(token)
                        if is_slow or not position.is_legal(token)
                        else play(position, token)
                    )
            case ["go"]:
                time.sleep(0.6 if is_slow else 0)
                tokens = sorted(position.legal_moves()) or ["none"]
                print(f"bestmove {tokens[len(tokens) // 2]}", flush=True)
            case ["quit"]:
                return


if __name__ == "__main__":
    main()
