"""Games that are entered part by part, at random."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from engines.environments.entry import GameEntry
from engines.rules import History, find_game


def new_entry(code: str, fen: str = "") -> GameEntry:
    """A game of this ladder from its start, or from a position string."""
    game = find_game(code)
    return GameEntry(History(game, game.position.parse(fen) if fen else None))


def random_states(code: str, seed: int) -> Iterator[GameEntry]:
    """A random game: the same entry after each of its parts, also before the first and at the end."""
    entry, rng = new_entry(code), Random(seed)
    yield entry
    while not entry.is_over:
        entry.enter(rng.choice(entry.legal_actions()))
        yield entry


def enterable(entry: GameEntry) -> Iterator[str]:
    """The token of every move that some sequence of legal actions enters, each once a sequence."""
    for action in entry.legal_actions():
        after = entry.copy()
        token = after.enter(action)
        if token is None:
            yield from enterable(after)
        else:
            yield token
