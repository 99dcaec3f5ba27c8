"""The kit for authors of bots, and an example bot: zips made from the sources that run here.

The kit is the part of Duarena that needs only Python: ``engines`` and what plays matches of ``workers``.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import engines
import workers
from workers.bundles.store import pack_bundle

KIT, EXAMPLE = "duarena-kit.zip", "first-move.zip"
"""The names of the files."""
_README = """\
# The Duarena kit

What an author of a bot needs: the rules of the games, an SDK, sample bots, the check that a site makes, and
matches on your own machine. It needs Python 3.11 or newer and nothing else.

Run all commands in this folder:

    python3 -m engines games                        # the codes of the ladders
    python3 -m workers check -- python3 first-move/main.py

[engines/README.md](engines/README.md) explains how to write a bot, [engines/PROTOCOL.md](engines/PROTOCOL.md)
how a program and a site speak to each other. `first-move/` is a bot to begin with. `python3 -m engines` and
`python3 -m workers` have more commands.

Duarena is under the Apache License 2.0, see [LICENSE](LICENSE).
"""
_NOT_OURS = {"__pycache__", "build"}
_OF_SITES = ("service/", "commands/start.py", "commands/alive.py", "commands/watch.py")
"""The parts of ``workers`` that only a site's worker needs."""
_ROOT = Path(workers.__file__).parents[1]


@cache
def kit() -> bytes:
    """The kit's zip; the same sources give the same bytes."""
    files = {
        f"{package.name}/{path}": (package / path).read_bytes()
        for package in (Path(engines.__file__).parent, Path(workers.__file__).parent)
        for path in _sources(package)
    }
    example = {f"first-move/{name}": content for name, content in _example("First Move").items()}
    licence = (_ROOT / "LICENSE").read_bytes()
    return pack_bundle({"README.md": _README.encode(), "LICENSE": licence, **files, **example})


def example() -> bytes:
    """A bot's zip that can be uploaded as it is: under a new name each time, because names are unique."""
    return pack_bundle(_example(f"First Move {secrets.token_hex(3)}"))


def _sources(package: Path) -> Iterator[str]:
    for path in package.rglob("*"):
        name = path.relative_to(package).as_posix()
        is_ours = not any(part in _NOT_OURS or part.startswith(".") for part in name.split("/"))
        if path.is_file() and is_ours and not (package.name == "workers" and name.startswith(_OF_SITES)):
            yield name


def _example(name: str) -> dict[str, bytes]:
    """The bot of ``engines/README.md``, whose first blocks of Python and TOML are its two files."""
    text = (Path(engines.__file__).parent / "README.md").read_text(encoding="utf-8")
    program, manifest = (
        re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0]
        for language in ("python", "toml")
    )
    named, count = re.subn(r'^name = ".*"$', f'name = "{name}"', manifest, flags=re.MULTILINE)
    assert count == 1
    return {"main.py": program.encode(), "bot.toml": named.encode()}
