"""What the commands print: tables, JSON, and a line of progress where somebody looks."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Sequence

from engines.client.site_client import MAX_WORDS, Json
from engines.visible import visible

BAR_CELLS = 20
MAX_CELL = 60


def print_words(*lines: str) -> None:
    """Print lines with words of a site."""
    for line in lines:
        print(visible(line, MAX_WORDS), flush=True)


def print_json(value: object) -> None:
    """One line; characters that do not print are escaped."""
    print(json.dumps(value), flush=True)


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their longest cell; numbers are aligned at the right."""
    cells = [heads, *([_cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        words = (_aligned(cell, width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(words).rstrip())


def words_of(row: Json, *names: str) -> list[str]:
    """The values of a row, each as one line; empty for a missing one."""
    return [_cell(row.get(name)) for name in names]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return visible(f"{value:.1f}" if isinstance(value, float) else str(value), MAX_CELL)


def _aligned(cell: str, width: int) -> str:
    is_number = cell.replace(".", "", 1).lstrip("+-").isdigit()
    return cell.rjust(width) if is_number else cell.ljust(width)


class ProgressBar:
    """A line on standard error that shows how far something is, if that is a terminal."""

    def __init__(self) -> None:
        self._is_seen = sys.stderr is not None and sys.stderr.isatty()
        self._has_line = False

    def show(self, words: str, done: float, of: float) -> None:
        """Replace the line by a bar of ``done`` of ``of``, and the words."""
        if self._is_seen:
            filled = round(BAR_CELLS * min(1.0, done / of)) if of > 0 else 0
            line = f"[{'#' * filled}{'.' * (BAR_CELLS - filled)}] {visible(words)}"
            self._has_line = True
            sys.stderr.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line, before something else is printed."""
        if self._has_line:
            self._has_line = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
