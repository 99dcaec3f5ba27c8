"""The kit for authors of bots, and bots to begin with: zips made from the sources that run here.

The kit is the part of Duarena that needs only Python: ``engines`` and what plays matches of ``workers``.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import engines
import workers
from engines.bundles.manifest import Manifest, parse_manifest
from engines.bundles.store import pack_bundle
from engines.rules.registry import GAMES

KIT = "duarena-kit.zip"
LANGUAGES = {
    ".js": "JavaScript",
    ".java": "Java",
    ".c": "C",
    ".go": "Go",
    ".rs": "Rust",
    ".sh": "POSIX shell",
}
"""The languages by the suffix of a source in ``engines/bots/languages``."""
_README = """\
# The Duarena kit

What an author of a bot needs: the rules of the games, an SDK, sample bots, the check that a site makes, and
matches on your own machine. It needs Python 3.11 or newer and nothing else.

Run all commands in this folder:

    python3 -m engines games                        # the codes of the ladders
    python3 -m workers check -- python3 first-move/main.py

[engines/README.md](engines/README.md) explains how to write a bot, [engines/PROTOCOL.md](engines/PROTOCOL.md)
how a program and a site speak to each other; [engines/ASSISTANT.md](engines/ASSISTANT.md) is for a coding
assistant that writes a bot for you. `first-move/` is a bot to begin with. `python3 -m engines` and
`python3 -m workers` have more commands.

Duarena is under the Apache License 2.0, see [LICENSE](LICENSE).
"""
_NOT_OURS = {"__pycache__", "build"}
_OF_SITES = ("service/", "messages.py", "commands/start.py", "commands/alive.py", "commands/watch.py")
"""The parts of ``workers`` that only a site's worker needs."""
_ROOT = Path(workers.__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Sample:
    """A bot of one file to begin with; ``text`` is its ``bot.toml``."""

    name: str
    language: str
    file: str
    source: str
    text: str

    @property
    def manifest(self) -> Manifest:
        return parse_manifest(self.text.encode())

    @property
    def is_ready(self) -> bool:
        """Whether its source is what is run; others are built first."""
        return self.manifest.command[-1] == self.file

    @property
    def families(self) -> list[str]:
        """The names of its games."""
        return list(dict.fromkeys(GAMES[code].family for code in self.manifest.games))

    def files(self, suffix: str = "") -> dict[str, bytes]:
        """The files of its zip. ``suffix`` is added to the bot's name."""
        text = re.sub(r'^(name = ".*)"$', rf'\1{suffix}"', self.text, flags=re.MULTILINE)
        return {self.file: self.source.encode(), "bot.toml": text.encode()}


@cache
def samples() -> tuple[Sample, ...]:
    """First the one of ``engines/README.md``, then those in other languages."""
    folder = Path(engines.__file__).parent
    text = (folder / "README.md").read_text(encoding="utf-8")
    program, manifest = (
        re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0]
        for language in ("python", "toml")
    )
    named = re.sub(r'^name = ".*"$', 'name = "First Move"', manifest, flags=re.MULTILINE)
    sources = [
        (suffix, path) for suffix in LANGUAGES for path in (folder / "bots" / "languages").glob(f"*{suffix}")
    ]
    return (
        Sample("first-move", "Python", "main.py", program, named),
        *(_sample(LANGUAGES[suffix], path) for suffix, path in sources),
    )


def _sample(language: str, path: Path) -> Sample:
    """A bot whose comment at its top has its ``bot.toml``, between two marks."""
    source = path.read_text(encoding="utf-8")
    lines = re.split(r"'END'\n|^\W*END\n", source, flags=re.MULTILINE)[1].splitlines()
    text = "".join(f"{line.lstrip(' */#')}\n" for line in lines)
    return Sample(path.stem.lower(), language, path.name, source, text)


def example(name: str) -> bytes | None:
    """The zip of a sample that can be uploaded as it is, or None.

    The bot has another name each time, because names are unique.
    """
    found = next((one for one in samples() if one.name == name and one.is_ready), None)
    return pack_bundle(found.files(f" {secrets.token_hex(3)}")) if found else None


@cache
def kit() -> bytes:
    """The kit's zip; the same sources give the same bytes."""
    files = {
        f"{package.name}/{path}": (package / path).read_bytes()
        for package in (Path(engines.__file__).parent, Path(workers.__file__).parent)
        for path in _sources(package)
    }
    first = samples()[0]
    example = {f"{first.name}/{name}": content for name, content in first.files().items()}
    licence = (_ROOT / "LICENSE").read_bytes()
    return pack_bundle({"README.md": _README.encode(), "LICENSE": licence, **files, **example})


def _sources(package: Path) -> Iterator[str]:
    for path in package.rglob("*"):
        name = path.relative_to(package).as_posix()
        is_ours = not any(part in _NOT_OURS or part.startswith(".") for part in name.split("/"))
        if path.is_file() and is_ours and not (package.name == "workers" and name.startswith(_OF_SITES)):
            yield name
