"""The published records as files."""

from __future__ import annotations

from pathlib import Path

from engines.rules.registry import GAMES
from tournament.access import public_records


def write_records(folder: Path) -> list[Path]:
    """Write a file of each ladder, as its page publishes it."""
    files = []
    for code in GAMES:
        texts = public_records(code).values_list("text", flat=True)
        files.append(folder / f"{code}.pgn")
        files[-1].write_text("".join(f"{text}\n" for text in texts))
    return files
