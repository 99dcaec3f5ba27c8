"""Checks the interface of a game by playing it at random.

Use it when adding a game: ``check_game`` uses only ``Position`` and the registry. It
reports contradictions; it cannot find out whether the rules are the right ones (perft
tables and playthroughs can).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from engines.rules.base import MAX_NUMBER, UNDECIDED, IllegalMove, Position, PositionError, Reason
from engines.rules.history import History
from engines.rules.registry import Variant

MATCH_REASONS: Final = (Reason.REPETITION, Reason.PLY_LIMIT)
TOKEN: Final = re.compile(r"[A-Za-z0-9+\-:_#=]+")
"""A move token: the characters of a PGN symbol, never spaces."""
TRIED_MOVES: Final = 12
"""Legal and illegal tokens tried in each position; positions can have thousands."""


def check_game(game: Variant, seed: int, games: int = 10) -> list[str]:
    """Play random games; returns every disagreement as a sentence, an empty list for a conforming game.

    The same seed plays the same games. Stops at the first game with a disagreement.
    """
    rng = random.Random(seed)
    complaints = list(_check_start(game))
    for _ in range(games):
        if complaints:
            break
        complaints.extend(_check_playout(game, rng))
    return complaints


def _check_start(game: Variant) -> Iterator[str]:
    start = game.position.initial()
    if start.side is not game.first:
        yield f"{game.code} starts with {start.side.name}, its registry entry says {game.first.name}"
    if start.ply != 0:
        yield f"{game.code} starts at ply {start.ply}"
    if game.position.initial() != start:
        yield f"two initial positions of {game.code} differ"
    if not game.rules.strip():
        yield f"{game.code} has no rules page"


def _check_playout(game: Variant, rng: random.Random) -> Iterator[str]:
    history = History(game)
    names = set(history.position.board())
    while True:
        position = history.position
        moves = list(position.legal_moves())
        where = f"{game.code}, {str(position)!r}"
        yield from (f"{where}: {complaint}" for complaint in _check_text(position))
        yield from (f"{where}: {complaint}" for complaint in _check_moves(position, moves))
        yield from (f"{where}: {complaint}" for complaint in _check_outcome(position, moves))
        yield from (f"{where}: {complaint}" for complaint in _check_steps(position, moves, rng))
        yield from (f"{where}: {complaint}" for complaint in _check_illegal(position, moves, rng))
        if set(position.board()) != names:
            yield f"{where}: the board has other cells than at the start"
        if history.outcome.decided:
            return
        history.play(rng.choice(moves))


def _check_text(position: Position) -> Iterator[str]:
    """The position string can be read back, and is the only spelling of its position."""
    text = str(position)
    again = type(position).parse(text)
    if str(again) != text or again != position or hash(again) != hash(position):
        yield f"reading it back gives {str(again)!r}"
    if again.key() != position.key():
        yield "reading it back gives another key"
    fields, ply = text.rsplit(" ", 1)
    if ply != str(position.ply):
        yield f"the last field is not the ply {position.ply}"
    spoilt = (f" {text}", f"{text} ", f"{fields} 0{ply}", f"{fields} {position.ply + 1}", f"{fields} -{ply}")
    for other in (*spoilt, fields, f"{text} 0", f"{fields} {MAX_NUMBER + 1}", text.replace(" ", "  ", 1), ""):
        if _can_be_read(position, other):
            yield f"{other!r} is read as a position"


def _can_be_read(position: Position, text: str) -> bool:
    try:
        type(position).parse(text)
    except PositionError:
        return False
    return True


def _check_moves(position: Position, moves: list[str]) -> Iterator[str]:
    if len(set(moves)) != len(moves):
        yield "a legal move is listed twice"
    if list(position.legal_moves()) != moves:
        yield "the legal moves change their order"
    if position.count_moves() != len(moves):
        yield f"{position.count_moves()} legal moves are counted, {len(moves)} listed"
    if any(position.move_at(index) != moves[index] for index in _spaced(len(moves))):
        yield "move_at gives other moves than legal_moves"
    if any(position.play_at(index) != _played(position, moves[index]) for index in _spaced(len(moves))):
        yield "play_at differs from move_at and play"
    for index in (-1, len(moves)):
        try:
            yield f"there is a move {position.move_at(index)!r} at index {index} of {len(moves)}"
        except IndexError:
            continue
    first: dict[tuple[str, ...], str] = {}
    for token in moves:
        if (other := first.setdefault(tuple(position.parts(token)), token)) != token:
            yield f"{other!r} and {token!r} have the same parts on the board"
    yield from (f"the token {token!r} is badly spelled" for token in moves if not TOKEN.fullmatch(token))
    yield from (f"{token!r} is listed but not legal" for token in moves if not position.is_legal(token))


def _played(position: Position, token: str) -> tuple[str, Position]:
    return token, position.play(token)


def _spaced(length: int) -> range:
    """Indices spread over a list, including the first and nearly the last."""
    return range(0, length, max(1, length // TRIED_MOVES))


def _check_outcome(position: Position, moves: list[str]) -> Iterator[str]:
    outcome = position.outcome()
    if outcome.decided == bool(moves):
        yield f"the outcome is {outcome.result} {outcome.reason} with {len(moves)} legal moves"
    if not outcome.decided and outcome != UNDECIDED:
        yield f"an undecided game has the outcome {outcome}"
    if outcome.decided and outcome.reason in (Reason.NONE, *MATCH_REASONS):
        yield f"the game ends by its rules with the reason {outcome.reason!r}"
    for reason in MATCH_REASONS:
        ended = position.outcome_by_match_rule(reason)
        if not ended.decided or ended.reason is not reason:
            yield f"the match rule {reason} gives {ended}"


def _check_steps(position: Position, moves: list[str], rng: random.Random) -> Iterator[str]:
    """A legal move passes the turn to the other side and does not change the position it is played in."""
    text = str(position)
    for token in rng.sample(moves, min(TRIED_MOVES, len(moves))):
        after = position.play(token)
        if after.side is not position.side.other or after.ply != position.ply + 1:
            yield f"after {token!r} ply {after.ply} is {after.side.name}'s"
        if after.key() == position.key():
            yield f"{token!r} leaves the key unchanged"
        if str(after) != str(type(position).parse(text).play(token)):
            yield f"{token!r} leads elsewhere from the same position read from its string"
    if str(position) != text:
        yield f"the position changed into {str(position)!r} while moves were made from it"


def _check_illegal(position: Position, moves: list[str], rng: random.Random) -> Iterator[str]:
    legal = set(moves)
    for token in islice(_unlikely_tokens(moves, rng), 2 * TRIED_MOVES):
        if token in legal:
            continue
        if position.is_legal(token):
            yield f"{token!r} is legal but not listed"
        try:
            position.play(token)
        except IllegalMove:
            continue
        yield f"{token!r} is not legal but can be played"


def _unlikely_tokens(moves: list[str], rng: random.Random) -> Iterator[str]:
    """Tokens that are illegal in nearly every position: nonsense, then slightly misspelled legal moves."""
    yield from ("", " ", "pass", "PASS", "0", "a1", "a1+", "a1-", "a1:b1", "resign", "\u0661")
    for token in rng.sample(moves, min(TRIED_MOVES, len(moves))):
        place = rng.randrange(len(token))
        other = rng.choice("abcdefghiDR0123456789+-:")
        yield token[:place] + other + token[place + 1 :]
        yield rng.choice(
            [f"{token} ", f" {token}", f"{token}\n", token[:-1], token + other, token.swapcase()]
        )
