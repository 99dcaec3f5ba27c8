"""The messages between a match and its slots: values that are pickled on two pipes.

A slot gets lists of jobs: it plays all of one before it gets more. What there is for each
game is a named tuple, which is pickled faster than a dataclass.

Both ends are processes of one installation, and the engines have neither pipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workers.engine.declared import Unsuited
from workers.jobs import SideLog
from workers.match.options.options import MatchOptions
from workers.match.results import GameResult

NO_LOG = SideLog()


@dataclass(frozen=True, slots=True)
class SlotSetup:
    """The settings of a slot. With ``core`` None it runs on any core.

    ``store`` is the folder of bundles. ``sandbox_level`` is a level that was probed already; empty is without
    a sandbox.
    """

    options: MatchOptions
    store: Path
    core: int | None = None
    sandbox_level: str = ""


class SlotGame(NamedTuple):
    """A finished game: its result for the match, and its record as text.

    The logs are empty unless there was a fault or the options want them.
    """

    game: GameResult
    record: str
    evidence: str
    white: SideLog
    black: SideLog


@dataclass(frozen=True, slots=True)
class IntroducedEngine:
    """An engine that has answered ``ugiok``; ``unsuited`` has the options that it does not take."""

    name: str
    unsuited: tuple[Unsuited, ...]


@dataclass(frozen=True, slots=True)
class SlotNews:
    """The games that a slot has finished since its last message, in the order of its jobs.

    ``is_over``: they were the last; games that were not returned were not started.
    """

    games: tuple[SlotGame, ...]
    is_over: bool
