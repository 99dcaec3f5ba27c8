"""A simulated terminal with scrolling lines and the codes that move back over them."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\x1b\[(\d*)([FJ])|\x1b\[\?7[hl]|\r|(\n)|([^\x1b\r\n]+)")


class Screen:
    """The screen after all output; ``scrolled`` are the lines that left it at the top."""

    def __init__(self, height: int) -> None:
        self._height = height
        self.lines = [""]
        self.scrolled: list[str] = []
        self._row = 0

    def write(self, text: str) -> None:
        end = 0
        for piece in _PIECE.finditer(text):
            assert piece.start() == end, f"unknown code {text[end : piece.start()]!r}"
            end = piece.end()
            count, code, line_end, words = piece.groups()
            if code == "F":
                self._row = max(0, self._row - int(count))
            elif code == "J":
                self.lines[self._row :] = [""]
            elif line_end:
                self._next_line()
            elif words:
                self.lines[self._row] += words
        assert end == len(text), f"unknown code {text[end:]!r}"

    def _next_line(self) -> None:
        self._row += 1
        if self._row == len(self.lines):
            self.lines.append("")
        if len(self.lines) > self._height:
            self.scrolled.append(self.lines.pop(0))
            self._row -= 1
