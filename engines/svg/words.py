"""A position in words, for screen readers and for the strips beside a board.

It includes stores, kept stones and supplies, for both drawings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from engines.rules.base import Outcome, Position, Result, Side
from engines.rules.dogon import DogonPosition
from engines.rules.duovallis import DuovallisPosition
from engines.rules.registry import GAMES

PIECES: Final = 18
"""DuploLine's discs, and rings, a colour."""

TOKEN: Final = re.compile(r"[A-Za-z0-9+:_#=-]{1,32}")

NAMES: Final = ("White", "Black")


def game_code(position: Position) -> str:
    """The ladder's code; "" for a position of no registered game."""
    return next((code for code, game in GAMES.items() if game.position is type(position)), "")


def game_name(position: Position) -> str:
    game = GAMES.get(game_code(position))
    return game.name if game else type(position).__name__


def stores(position: Position) -> tuple[int, int]:
    """Mancala: seeds captured (Dogon), or stones kept for an exchange (Duovallis), White's first."""
    fields = str(position).split(" ")
    return int(fields[2]), int(fields[3])


def supplies(board: Mapping[str, str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """DuploLine: discs and rings not yet on the board, White's pair first."""
    used = Counter("".join(board.values()))
    return (PIECES - used["D"], PIECES - used["R"]), (PIECES - used["d"], PIECES - used["r"])


def holding(position: Position, side: Side) -> str:
    """The captures or supply of ``side`` in a few words; "" if the game has none."""
    code = game_code(position)
    if code.startswith("dogon"):
        return f"store {stores(position)[side]}"
    if code == "duovallis":
        return f"keeps {stores(position)[side]}"
    if code == "duploline":
        discs, rings = supplies(position.board())[side]
        return f"{_count(discs, 'disc')}, {_count(rings, 'ring')}"
    return ""


def standing(position: Position, side: Side, *, over: bool = False) -> str:
    """The text beside a player's name: "to move", "wins (no move)" or "".

    In Dogon with the seeds: "wins 27 to 21 (seeds)". A draw is shown beside both names. With ``over``
    the game has ended, by the rules or otherwise: nobody is to move.
    """
    outcome = position.outcome()
    if not outcome.decided:
        return "to move" if position.side is side and not over else ""
    if outcome.result is Result.win_for(side.other):
        return ""
    verb = "draw" if outcome.result is Result.DRAW else "wins"
    return f"{verb}{_score(outcome, side)} ({str(outcome.reason).replace('-', ' ')})"


def _score(outcome: Outcome, side: Side) -> str:
    """The seeds of ``side`` to those of the other, if the outcome counts seeds."""
    own, other = outcome.white_score, outcome.black_score
    if side is Side.BLACK:
        own, other = other, own
    return "" if own is None else f" {own} to {other}"


def final_count(position: Position) -> str:
    """What each player has at the end with the seeds left on the board, in a sentence; "" if none count."""
    outcome = position.outcome()
    if outcome.white_score is None or outcome.black_score is None:
        return ""
    totals = (outcome.white_score, outcome.black_score)
    left = [total - held for total, held in zip(totals, stores(position), strict=True)]
    counted = [f"{left[side]} for {NAMES[side]}" for side in Side if left[side] > 0]
    if not counted:
        return ""
    has = [f"{NAMES[side]} has {totals[side]}" for side in Side]
    return f"The seeds left on the board count, {' and '.join(counted)}: {' and '.join(has)}."


def summarize(position: Position, last_move: str = "", *, over: bool = False) -> str:
    """The position in three or four short sentences: the move, who is to move, and the pieces of each side.

    Like ``describe``, without the cells: short enough to be read aloud after every move. See ``standing`` for
    ``over``.
    """
    sentences = [*_last_move(last_move), *_state(position, over)]
    sentences += [f"{NAMES[side]}: {_possessions(position, side)}" for side in Side]
    return ". ".join(sentences) + "."


def _possessions(position: Position, side: Side) -> str:
    """What ``side`` has on the board and in its store."""
    held, board = holding(position, side), position.board()
    if isinstance(position, DogonPosition):
        seeds = sum(int(content) for name, content in board.items() if name[1] == "12"[side])
        return f"{_count(seeds, 'seed')} in its holes, {held}"
    if isinstance(position, DuovallisPosition):
        return f"{_count(position.stones[side], 'stone')}, {held}"
    if game_code(position) == "duploline":
        discs, rings = (PIECES - left for left in supplies(board)[side])
        return f"{_count(discs, 'disc')} and {_count(rings, 'ring')} on the board"
    heights = [len(content) for content in board.values() if content.endswith(side.letter)]
    return f"{_count(heights.count(1), 'single disc')} and {_count(heights.count(2), 'stack')}"


def describe(position: Position, last_move: str = "", *, over: bool = False) -> str:
    """The whole position in a few sentences, every occupied cell named.

    ``last_move`` is included only if it has the characters of move tokens; see ``standing`` for ``over``.
    """
    place = f"{game_name(position)} after {_count(position.ply, 'ply', 'plies')}"
    sentences = [", ".join([place, *_state(position, over)])]
    sentences += _last_move(last_move)
    sentences.append(f"On the board: {_contents(position.board())}")
    sentences += [f"{NAMES[side]}: {held}" for side in Side if (held := holding(position, side))]
    return ". ".join(sentences) + "."


def _last_move(token: str) -> list[str]:
    return [f"Last move {token}"] if TOKEN.fullmatch(token) else []


def _state(position: Position, over: bool) -> list[str]:
    standings = [f"{NAMES[side]} {said}" for side in Side if (said := standing(position, side, over=over))]
    return [" and ".join(standings)] if standings else []


def _contents(board: Mapping[str, str]) -> str:
    full = [
        f"{name} {spoken_content(content)}"
        for name, content in sorted(board.items())
        if content not in ("", "0")
    ]
    return ", ".join(full) or "nothing"


def spoken_content(content: str) -> str:
    """A cell's contents as words: a stack, a disc and ring, stones of two colours, or a plain count."""
    if content.isdigit():
        return content
    if content[0].isdigit():
        return content.replace("w", " white ").replace("b", " black ").strip()
    if content in _HEXAGON_WORDS:
        return _HEXAGON_WORDS[content]
    return " and ".join(_HEXAGON_WORDS[piece] for piece in content)


_HEXAGON_WORDS: Final = {
    "w": "white disc",
    "b": "black disc",
    "ww": "white on white",
    "bw": "white on black",
    "wb": "black on white",
    "bb": "black on black",
    "D": "white disc",
    "d": "black disc",
    "R": "white ring",
    "r": "black ring",
}


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
