"""The release of this checkout: its version, and its commit where Git has left one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engines import __version__

SHOWN_DIGITS: Final = 10


def commit_of(checkout: Path) -> str:
    """The full hash of the checkout's commit; empty without a folder ``.git`` that can be read.

    Git itself is not run: it refuses a checkout of another user.
    """
    git = checkout / ".git"
    try:
        head = (git / "HEAD").read_text()
        if not head.startswith("ref: "):
            return head.strip()
        branch = head.removeprefix("ref: ").strip()
        loose = git / branch
        if loose.exists():
            return loose.read_text().strip()
        packed = (line.split() for line in (git / "packed-refs").read_text().splitlines())
        return next((words[0] for words in packed if words[1:] == [branch]), "")
    except (OSError, ValueError):
        return ""


def release_of(checkout: Path) -> str:
    """The version with the first digits of the commit, as in ``1.4.2+1a2b3c4d5e``."""
    return f"{__version__}+{commit_of(checkout)[:SHOWN_DIGITS]}".removesuffix("+")


RELEASE: Final = release_of(Path(__file__).resolve().parent.parent)
