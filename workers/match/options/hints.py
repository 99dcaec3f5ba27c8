"""Hints for users of other match runners, whose options have other names here.

A separate module: a table of text, which would hide the table of flags.
"""

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
    "tb": "the rules need no tablebases",
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
    "crc": "leave it out",
}
"""What takes the place of an option of other match runners, as the rest of a sentence."""
