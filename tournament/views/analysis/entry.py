"""How moves are entered on a board: their parts by the rules, for scripts, and an example for readers."""

from __future__ import annotations

import json
from dataclasses import dataclass

from engines.examples import load_examples
from engines.rules.base import Position
from engines.rules.registry import Variant


@dataclass(frozen=True, slots=True)
class MoveWords:
    """What a page says of the moves of a game.

    ``words`` are the labels and nouns of parts that are no cells, as JSON. ``example`` is a move, and
    ``spelled`` its parts in words; both are empty if the ladder has no examples.
    """

    words: str
    example: str
    spelled: str


def entry_of(game: Variant) -> MoveWords:
    """What the pages of a ladder say of its moves."""
    words = game.position.words()
    found = next((one for one in load_examples(game.code) if one.moves), None)
    parts = game.position.parse(found.position).parts(found.moves[0]) if found else []
    labels = [words[part].label if part in words else part for part in parts]
    as_json = json.dumps({part: (word.label, word.noun) for part, word in words.items()})
    return MoveWords(as_json, found.moves[0] if found else "", ", then ".join(labels))


def spell_moves(position: Position) -> str:
    """The legal moves with spaces between: of each the parts with dots between, a slash, and the token."""
    return " ".join(f"{'.'.join(position.parts(token))}/{token}" for token in position.legal_moves())
