"""The lower bound for a match runner in Python: two engines with two pipes each, and nothing else.

    python -m benchmarks.bare LINE_FILE GAMES COMMAND...

Plays the same games as a match of ``COMMAND`` against itself, and prints a line a game, but has no
rules, clock or faults and writes no record.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GO = b"go p1time 10000 p2time 10000 p1inc 100 p2inc 100\n"


def main() -> None:
    line, games, command = Path(sys.argv[1]).read_text().split(), int(sys.argv[2]), sys.argv[3:]
    engines = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) for _ in range(2)
    ]
    pipes = [(engine.stdin.fileno(), engine.stdout.fileno()) for engine in engines]  # type: ignore[union-attr]
    for number in range(1, games + 1):
        _play(pipes, len(line))
        print(f"{number}/{games}  bare", flush=True)
    for engine in engines:
        engine.communicate()


def _play(pipes: list[tuple[int, int]], plies: int) -> None:
    position = b"position startpos moves"
    for ply in range(plies):
        to_engine, from_engine = pipes[ply % 2]
        os.write(to_engine, b"%b\n%b" % (position.removesuffix(b" moves"), GO))
        answer = os.read(from_engine, 65536)
        while not answer.endswith(b"\n"):
            answer += os.read(from_engine, 65536)
        position += b" " + answer[answer.rindex(b"bestmove ") + 9 : -1]


if __name__ == "__main__":
    main()
