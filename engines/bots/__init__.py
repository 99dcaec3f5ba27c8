"""The sample bots: each one file to read from top to bottom, to play against and to start from.

A bot is run as ``python -m engines.bots.random_bot``, or as a loose file with
``engines`` on the path, which is how a server bundles it. What is told here of a
bot is told without importing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.rules.registry import GAMES


@dataclass(frozen=True, slots=True)
class SampleBot:
    """A bot to be found in this package; ``games`` are the codes of the ladders it plays."""

    module: str
    name: str
    description: str
    games: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Its source, complete in one file."""
        return Path(__file__).with_name(f"{self.module}.py")


SAMPLE_BOTS: Final = (
    SampleBot("random_bot", "Random", "Plays any legal move, each as likely as another.", tuple(GAMES)),
    SampleBot("greedy_bot", "Greedy", "Looks one move ahead and takes what looks best.", tuple(GAMES)),
    SampleBot(
        "alphabeta_bot",
        "Alphabeta",
        "Searches move by move deeper, as far as its clock allows.",
        tuple(GAMES),
    ),
)
"""Weakest first."""
