"""Writes the engines' output for their authors: of every game with a fault, and of all games on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from engines.visible import visible, visible_lines
from workers.match.options.options import MatchError, MatchOptionError
from workers.match.results import GameResult
from workers.match.slots.messages import SlotGame

SHOWN_LINES = 50
"""How many of the last lines of an engine at fault are shown."""


class GameLogs:
    """Appends faults to a file beside the record file, and writes one file a game into ``folder``, if given.

    Raises ``MatchOptionError`` if the folder cannot be created.
    """

    def __init__(self, records: Path, folder: Path | None = None) -> None:
        self._faults = records.with_name(f"{records.name}.faults")
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise MatchOptionError(f"-log {folder}: cannot be created: {error.strerror}") from None

    def write(self, played: SlotGame) -> None:
        """Write the logs of a game; raises ``MatchError`` if a file cannot be written."""
        game = played.game
        if game.has_fault:
            lines = (game_sentence(game), *evidence_lines(played))
            _write(self._faults, "a", (f"{line}\n" for line in lines))
        if self._folder is not None:
            logs = (f"\n{title} of {name}\n{visible_lines(text)}" for name, title, text in _logs(played))
            path = self._folder / f"{game.key.replace('/', '-')}.log"
            _write(path, "w", (f"{game_sentence(game)}\n", *logs))


def _write(path: Path, mode: str, parts: Iterable[str]) -> None:
    try:
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.writelines(parts)
    except OSError as error:
        raise MatchError(f"{path}: cannot be written: {error.strerror}") from None


def game_sentence(game: GameResult) -> str:
    """A game on one line."""
    return f"{game.key}  {game.white} - {game.black}  {game.result}  {game.termination}"


def evidence_lines(played: SlotGame) -> Iterator[str]:
    """The evidence, and the last lines of the engine at fault, or of both engines for a void."""
    yield f"  {visible(played.evidence)}"
    for name, title, text in _logs(played):
        if played.game.is_void or played.game.culprit == name:
            yield f"  the last {title} of {name}:"
            yield from (f"    {visible(line)}" for line in text.splitlines()[-SHOWN_LINES:])


def _logs(played: SlotGame) -> Iterator[tuple[str, str, str]]:
    """Each log that is not empty, with its engine's name and a title."""
    for name, log in ((played.game.white, played.white), (played.game.black, played.black)):
        for title, text in (("lines", log.lines), ("standard error", log.stderr)):
            if text:
                yield name, title, text
