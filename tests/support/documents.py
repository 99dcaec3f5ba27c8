"""The pages of the repository: their text, their blocks of code, the commands that they show."""

from __future__ import annotations

import re

from tournament.embedded.plan import ROOT


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def fenced(page: str) -> list[tuple[str, str]]:
    """The language and the text of each fenced block, without the indent of a list."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", read(page), re.MULTILINE | re.DOTALL)
    return [
        (language, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)) for indent, language, text in found
    ]


def blocks(page: str, language: str) -> list[str]:
    return [text for found, text in fenced(page) if found == language]


def examples(page: str) -> list[tuple[str, str]]:
    """Each command after a ``$`` in a console, with what it should print."""
    parts = re.split(r"^\$ (.*)\n", "".join(blocks(page, "console")), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))
