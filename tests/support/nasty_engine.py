"""An engine that plays legal moves, and whose output must never be shown unescaped.

    nasty_engine.py [cheat]

With ``cheat`` its second answer of a game is such output instead of a move.
"""

from __future__ import annotations

import os
import signal
import sys

from engines.rules.registry import find_game

NASTY = (
    b"\x1b[2J\x1b]0;owned\x07\x00\x08\xff\xfe\xc3\xe2\x80\xae\xe2\x80\x8b\xc2\x9b31m"
    b"<script>alert(1)</script>\x7f"
)
"""Terminal escapes, NUL, bell, broken UTF-8, a right-to-left override, a zero-width space, CSI, markup."""
MAX_SECONDS = 60


def say(*words: bytes) -> None:
    os.write(1, b" ".join(words) + b"\n")


def main(cheats: bool) -> None:
    signal.alarm(MAX_SECONDS)
    rules = find_game("duploline")
    position, answers = rules.position.initial(), 0
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["ugi"]:
                say(b"id name", NASTY, b"x" * 3000)
                say(b"id author", NASTY)
                say(b"option name UGI_Variant type combo default duploline var duploline")
                say(b"ugiok")
            case ["isready"]:
                os.write(2, NASTY + b"\n")
                say(b"info string", NASTY)
                say(b"readyok")
            case ["uginewgame"]:
                answers = 0
            case ["position"]:
                position = rules.position.initial()
                if words[1] == "fen":
                    end = words.index("moves") if "moves" in words else len(words)
                    position = rules.position.parse(" ".join(words[2:end]))
                for token in words[words.index("moves") + 1 :] if "moves" in words else []:
                    position = position.play(token)
            case ["go"]:
                answers += 1
                say(NASTY)
                say(b"info depth 3 score cp 7 nodes 9 pv", NASTY, b"string", NASTY * 50)
                move = next(position.legal_moves()).encode()
                say(b"bestmove", NASTY if cheats and answers == 2 else move, b"ponder", NASTY)
            case ["quit"]:
                return


if __name__ == "__main__":
    main("cheat" in sys.argv)
