"""Makes untrusted text safe to show: it cannot control a terminal or deceive a reader.

Characters that do not print are replaced by their escapes, as in Python: ``\\x1b``, ``\\u202e``, ``\\x00``.
Markup is not escaped: pages do that.
"""

from __future__ import annotations

_WITHOUT_SPACING = str.maketrans("", "", "\n\t")


def visible(text: str, limit: int | None = None) -> str:
    """``text`` as one printable line, cut to ``limit`` characters."""
    shown = text if text.isprintable() else "".join(map(_shown, text))
    return shown if limit is None or len(shown) <= limit else f"{shown[: limit - 1]}…"


def visible_lines(text: str, limit: int | None = None) -> str:
    """Like ``visible`` for many lines; keeps line ends, tabs, and of a long text both its ends."""
    shown = text.replace("\r\n", "\n")
    if not shown.translate(_WITHOUT_SPACING).isprintable():
        shown = "\n".join("\t".join(map(visible, line.split("\t"))) for line in shown.split("\n"))
    if limit is None or len(shown) <= limit:
        return shown
    gap = f"\n[... {len(shown) - limit} characters left out ...]\n"
    first = (limit - len(gap)) // 2
    return f"{shown[:first]}{gap}{shown[first + len(gap) - limit :]}"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
