"""Hints for users of other match runners, whose options have other names here."""

from __future__ import annotations

ELSEWHERE = {
    "maxmoves": "-plylimit N ends a game after N plies, which are two a move",
    "srand": "-seed N is the seed of openings and engines",
    "repeat": "leave it out: each opening is played with both colours, unless -games is 1",
    "variant": "-game CODE chooses the game",
    "st": "write st=SECONDS at -engine or -each, or -tc SECONDS/move",
    "timemargin": "-margin MS is for all engines",
    "pgnin": "-openings file=FILE reads openings",
    "book": "-openings file=FILE reads openings",
    "bookmode": "-openings file=FILE order=… reads openings",
    "debug": "-log FOLDER keeps the lines exchanged",
    "stderr": "-log FOLDER keeps what the engines write",
    "use-affinity": "taskset -c LIST, before python3, chooses the cores of a match",
    "output": "-json prints events for programs",
    "compliance": "python3 -m workers check tests an engine",
    "proto": "leave it out: every engine is spoken to in UGI",
    "args": "write arg=WORD for each word, or all words in cmd=",
    "initstr": "option.NAME=VALUE sets an option of the engine",
    "plies": "write depth=N",
    "restart": "-restart starts all engines anew before each game",
}
"""What takes the place of an option or a key of other match runners, as the rest of a sentence."""
