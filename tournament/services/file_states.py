"""What a file that grows holds: stored beside it, so that whoever is killed goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file of games holds; stored beside it."""

    key: str = ""
    """Changes if the file must be written again from the start."""
    last: int = 0
    """The last number of a game in it: of its completion sequence or its row."""
    size: int = 0
    """Bytes of complete games; anything after them was not finished."""
    is_complete: bool = False
    """Whether it has once held all games of its time; until then no file of records is served."""
    seconds: float = 0.0
    """How long writing the whole file took; only of tournaments."""
    games: int = 0
    """Only of dumps."""


def read_state(path: Path) -> FileState:
    """The state of a file; an empty one if there is no file, or it is shorter than its state says."""
    try:
        state = FileState(**json.loads(_beside(path).read_text()))
        return state if path.stat().st_size >= state.size else FileState()
    except (FileNotFoundError, ValueError, TypeError):
        return FileState()


def write_state(path: Path, state: FileState) -> None:
    """Store the state in one step."""
    written = path.with_suffix(".new")
    written.write_text(json.dumps(asdict(state)))
    written.replace(_beside(path))


def delete_with_state(path: Path) -> None:
    """Delete the file, if it is there, and its state."""
    path.unlink(missing_ok=True)
    _beside(path).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")
