"""The sample bots: examples to read, opponents, and starting points for your own bot.

Each bot is one file. It is run as ``python -m engines.bots.random_bot``, or as a single file with
``engines`` on the path, which is how a server bundles it. Begin with ``random_bot.py``, then
``greedy_bot.py``. This module describes the bots without importing them. The protocol is not here: the bots
use ``engines.sdk``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.rules.registry import GAMES


@dataclass(frozen=True, slots=True)
class SampleBot:
    """A bot of this package; ``games`` are the codes of the ladders that it plays."""

    module: str
    name: str
    description: str
    games: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Its source file."""
        return Path(__file__).with_name(f"{self.module}.py")


SAMPLE_BOTS: Final = (
    SampleBot("random_bot", "Random", "Plays a random legal move.", tuple(GAMES)),
    SampleBot(
        "greedy_bot",
        "Greedy",
        "Looks one move ahead and plays the best move by its evaluation.",
        tuple(GAMES),
    ),
    SampleBot(
        "alphabeta_bot",
        "Alphabeta",
        "Searches with alpha-beta pruning, as deep as its clock allows.",
        tuple(GAMES),
    ),
)
"""Weakest first."""
