"""The examples of the rules pages: named positions with moves and a caption, from ``data/examples``.

Every kind of move, capture and ending of a game has an example. Its board is drawn by ``engines.svg``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from engines.rules.base import Position
from engines.rules.registry import Variant

FOLDER: Final = Path(__file__).parent / "data" / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """A position and the moves that show one rule.

    ``name`` is unique on its ladder and part of addresses. ``rule`` are words of the paragraph of the rules
    that it explains; ``minute`` is the sentence of a step of "How to play in a minute", whose board is that
    after the first move, or "". ``moves`` is empty where the position
    itself is the example. ``after`` is the position string at the end, ``result`` the result and its
    reason, or "". The last move captures the holes in ``captured``; the tokens in ``refused`` are
    illegal in its place.
    """

    name: str
    title: str
    rule: str
    minute: str
    position: str
    moves: tuple[str, ...]
    after: str
    caption: str
    result: str
    captured: tuple[str, ...]
    refused: tuple[str, ...]

    def play(self, game: Variant) -> tuple[Position, ...]:
        """The positions before the first move and after each move."""
        positions: list[Position] = [game.position.parse(self.position)]
        for token in self.moves:
            positions.append(positions[-1].play(token))
        return tuple(positions)


@cache
def load_examples(code: str) -> tuple[Example, ...]:
    """The examples of a ladder in the order of its page; none if it has no file."""
    path = FOLDER / f"{code}.toml"
    if not path.exists():
        return ()
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["example"]
    return tuple(_read(table) for table in tables)


def _read(table: dict[str, Any]) -> Example:
    """An example from its table in the file; fields that may be missing are empty."""
    fields = {"result": "", "minute": "", **table}
    fields |= {key: tuple(table.get(key, "").split()) for key in ("moves", "captured", "refused")}
    return Example(**fields)


def format_examples(code: str) -> str:
    """The examples of a ladder as Markdown, for reading without the site."""
    return "\n".join(["## Examples", *(_format(example) for example in load_examples(code))])


def _format(example: Example) -> str:
    lines = [f"Position: `{example.position}`"]
    if example.moves:
        lines += [f"Moves: `{' '.join(example.moves)}`", f"Then: `{example.after}`"]
    if example.result:
        lines.append(f"Result: `{example.result}`")
    if example.refused:
        place = "instead of the last move" if example.moves else "here"
        lines.append(f"Illegal {place}: `{' '.join(example.refused)}`")
    return "\n".join([f"\n### {example.title}\n", f"{example.caption}\n", *(f"* {line}" for line in lines)])
