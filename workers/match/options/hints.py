"""Hints for users of other match runners, whose options have other names here."""

from __future__ import annotations

ELSEWHERE = {
    "maxmoves": "-plylimit N ends a game after N plies, which are two a move",
    "srand": "-seed N is the seed of openings and engines",
    "repeat": "leave it out: each opening is played with both colours, if -games is even",
    "variant": "-game CODE chooses the game",
    "st": "write st=SECONDS at -engine or -each, or -tc SECONDS/move",
    "timemargin": "-margin MS is for all engines, timemargin=MS for one at -engine",
    "epdout": "records have the moves: see -records",
    "pgnin": "-openings file=FILE reads openings",
    "debug": "-log FOLDER keeps the lines exchanged",
    **dict.fromkeys(("tb", "tbpieces", "tbignore50", "tbadjudicate"), "the rules need no tablebases"),
    "autosaveinterval": "leave it out: every game is saved at once, and -resume continues",
    "ponder": "engines never think in the opponent's time",
    "bookmode": "-openings file=FILE order=… reads openings",
    "affinity": "-cpus LIST gives each game one of these CPUs",
    "startup-ms": "-startup SECONDS is the time limit for an engine's start",
    "outcomeinterval": "the lines of all games are printed",
    "output": "-json prints events for programs",
    "quick": "write -engine, -game, -tc and -openings",
    "scoreinterval": "-ratinginterval N prints the table after every N games",
    "report": "the table always counts pairs",
    **dict.fromkeys(("crc32", "testEnv", "test-env"), "leave it out"),
    "strikes": "-withdraw N withdraws an engine after N forfeits in a row",
    "seeds": "in a gauntlet the first engine meets the others; in a knock-out all are seeded in their order",
    "engines": "give each engine by -engine cmd=COMMAND",
    "version": "alone it prints the release; version=TEXT at -engine names that of an engine",
    "pgn": "-records FILE has every game, always with all that is known of its moves",
    "gauntlet": "write -tournament gauntlet",
    "swap": "leave it out: each opening is played with both colours, if -games is even",
    "nobookrepeat": "leave it out: each pair of games has the next opening of its file",
    "compliance": "python3 -m workers check tests an engine",
    "force-concurrency": "leave it out: more games than cores are only warned of",
    "show-latency": "leave it out: records have the time of each move",
    "ping-ms": "leave it out: an engine's time limits are -startup and its clock",
    "resultformat": "leave it out: the table has all columns",
    "livepgnout": "-records FILE has every game as soon as it ends",
}
"""What takes the place of an option of other match runners, as the rest of a sentence."""

_ENGINE = {
    "proto": "leave it out: every engine is spoken to in UGI",
    "args": "write arg=WORD for each word, or all words in cmd=",
    "conf": "write cmd=COMMAND",
    "initstr": "option.NAME=VALUE sets an option of the engine",
    "stderr": "-log FOLDER keeps what the engines write",
    "trust": "leave it out: the referee alone decides results",
    "book": "-openings file=FILE reads openings",
    "bookdepth": "-openings random:PLIES or file=FILE sets the openings",
    "whitepov": "leave it out: scores are for the side to move",
    "ponder": "leave it out: engines never think in the opponent's time",
    "plies": "write depth=N",
    "movetime": "write st=SECONDS",
    "timeout": "startup=SECONDS is the time limit for a start, timemargin=MS the margin of each move",
    "tscale": "write tc=TIME",
}
KEYS_ELSEWHERE = {
    "engine": _ENGINE,
    "each": _ENGINE,
    "draw": {"number": "write movenumber=N", "count": "write movecount=N"},
    "resign": {"count": "write movecount=N", "number": "leave it out: a game may be lost from the start"},
    "openings": {
        "format": "leave it out: one line of the file is one opening",
        "policy": "leave it out: each pair of games has the next opening",
    },
}
"""The same for ``KEY=VALUE`` words, by the flag that takes them."""
