"""What engines said, kept for their authors: of every game with a fault, and of all games on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from engines.visible import visible, visible_lines
from workers.jobs import SideLog
from workers.match.options.words import MatchError, MatchOptionError
from workers.match.results import GameResult
from workers.match.slots.messages import SlotGame

SHOWN_LINES = 50
"""Of an engine at fault."""


class GameLogs:
    """Appends faults to a file beside the record file, and writes a file a game into ``folder``, if given.

    Raises ``MatchOptionError`` for a folder that cannot be made.
    """

    def __init__(self, records: Path, folder: Path | None = None) -> None:
        self._faults = records.with_name(f"{records.name}.faults")
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise MatchOptionError(f"-log {folder}: cannot be made: {error.strerror}") from None

    def keep(self, game: GameResult, told: SlotGame) -> None:
        """Raises ``MatchError`` when it cannot be written."""
        if game.has_fault:
            lines = (game_sentence(game), *evidence_lines(game, told))
            _write(self._faults, "a", (f"{line}\n" for line in lines))
        if self._folder is not None:
            _write(self._folder / f"{game.key.replace('/', '-')}.log", "w", _whole(game, told))


def _write(path: Path, mode: str, parts: Iterable[str]) -> None:
    try:
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.writelines(parts)
    except OSError as error:
        raise MatchError(f"{path}: cannot be written: {error.strerror}") from None


def game_sentence(game: GameResult) -> str:
    """A game on one line."""
    return f"{game.key}  {game.white} - {game.black}  {game.result}  {game.termination}"


def evidence_lines(game: GameResult, told: SlotGame) -> Iterator[str]:
    """Why somebody is at fault, and the last he said: of a void, the last that either said."""
    yield f"  {visible(told.evidence)}"
    for name, log in ((game.white, told.white), (game.black, told.black)):
        if game.is_void or game.culprit == name:
            yield from _last_lines(name, log)


def _last_lines(name: str, log: SideLog) -> Iterator[str]:
    for title, text in (("lines", log.lines), ("standard error", log.stderr)):
        if lines := text.splitlines()[-SHOWN_LINES:]:
            yield f"  the last {title} of {name}:"
            yield from (f"    {visible(line)}" for line in lines)


def _whole(game: GameResult, told: SlotGame) -> Iterator[str]:
    yield f"{game_sentence(game)}\n"
    for name, log in ((game.white, told.white), (game.black, told.black)):
        for title, text in (("lines", log.lines), ("standard error", log.stderr)):
            if text:
                yield f"\n{title} of {name}\n{visible_lines(text)}"
