"""``bot.toml``, the manifest of a bundle: the bot's name, its command, its games and options.

The site and the workers use the same strict reader: it refuses anything that ``engines/PROTOCOL.md`` does
not allow, and names it.
"""

from __future__ import annotations

import posixpath
import shutil
import sys
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from engines.rules.registry import GAMES

MANIFEST_NAME = "bot.toml"
MAX_MANIFEST_BYTES = 64 * 1024
MAX_DOTS = 500
"""Dots separate the parts of a key, and the time to read a key grows with the square of its parts."""
MAX_NAME = 40
MAX_WORD = 1024
"""The most characters of one command word, option name or option value."""
MAX_SHOWN = 80
"""The most characters of an invalid value that a message quotes."""
MAX_WORDS = 64
"""The most command words, and the most options."""

INTERPRETERS = {
    "python3": True,
    "node": True,
    "sh": True,
    "perl": True,
    "ruby": True,
    "lua": True,
    "java": False,
}
"""The first words that a command may have, other than a file of its bundle, if this machine has them. True:
the first argument, unless it is an option, is a script that must be in the bundle (``java Main`` names a
class)."""

FindInterpreter = Callable[[str], str | None]
"""Returns the path of an interpreter of ``INTERPRETERS``, or None if it is not available."""

RESERVED_OPTIONS = ("ugi_variant", "ugi_seed")
"""Options that the server sets itself."""


class BundleError(ValueError):
    """A bundle or manifest is refused; the text is a sentence for the bot's author."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid manifest. Option values are written as ``setoption`` sends them."""

    name: str
    version: str
    command: tuple[str, ...]
    games: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    @property
    def program(self) -> str:
        """The command's first word as a path in the bundle; it need not exist there."""
        return posixpath.normpath(self.command[0])


def parse_manifest(data: bytes) -> Manifest:
    """Read a ``bot.toml``; raises ``BundleError``. It does not check the command: see ``check_command``."""
    document = _parse_toml(data)
    _refuse_unknown(document, ("bot", "options"), "")
    bot = _table(document, "bot")
    _refuse_unknown(bot, ("name", "version", "command", "games"), "bot.")
    return Manifest(
        name=_label(bot, "name"),
        version=_label(bot, "version"),
        command=_command(bot),
        games=_games(bot),
        options=_options(_table(document, "options") if "options" in document else {}),
    )


def check_command(manifest: Manifest, files: Collection[str], find: FindInterpreter | None = None) -> None:
    """Raise ``BundleError`` unless the command starts with a file of the bundle or an interpreter.

    ``find`` looks up interpreters; None is ``find_interpreter``.
    """
    find = find or find_interpreter
    word = manifest.command[0]
    if manifest.program in files:
        return
    if word not in INTERPRETERS:
        raise BundleError(
            f"bot.command in {MANIFEST_NAME} starts with {_shown(word)}, which is neither a file of the "
            f"bundle nor one of {_available(find)}"
        )
    if find(word) is None:
        raise BundleError(
            f"bot.command in {MANIFEST_NAME} needs {_shown(word)}, which is not available here: "
            f"there is {_available(find)}"
        )
    _check_script(manifest, files)


def _available(find: FindInterpreter) -> str:
    return ", ".join(word for word in INTERPRETERS if find(word) is not None)


def find_interpreter(word: str) -> str | None:
    """The path of an interpreter of ``INTERPRETERS``, or None; ``python3`` is the running one."""
    if word == "python3":
        return sys.executable
    return shutil.which(word) if word in INTERPRETERS else None


def _check_script(manifest: Manifest, files: Collection[str]) -> None:
    word, *arguments = manifest.command
    if not arguments:
        raise BundleError(f"bot.command in {MANIFEST_NAME} names no program for {_shown(word)} to run")
    script = arguments[0]
    if INTERPRETERS[word] and not script.startswith("-") and posixpath.normpath(script) not in files:
        raise BundleError(
            f"bot.command in {MANIFEST_NAME} names {_shown(script)}, which is not in the bundle"
        )


def _parse_toml(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_MANIFEST_BYTES:
        raise BundleError(f"{MANIFEST_NAME} is over {MAX_MANIFEST_BYTES // 1024} KiB")
    if data.count(b".") > MAX_DOTS:
        raise BundleError(f"{MANIFEST_NAME} has more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BundleError(f"{MANIFEST_NAME} is not UTF-8 at byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise BundleError(f"{MANIFEST_NAME} is not valid TOML: {_shortened(str(error), MAX_SHOWN)}") from None
    except (RecursionError, ValueError):
        raise BundleError(
            f"{MANIFEST_NAME} is not valid TOML: a value is nested too deeply or too long"
        ) from None


def _refuse_unknown(table: dict[str, Any], known: tuple[str, ...], prefix: str) -> None:
    for key in table:
        if key not in known:
            expected = ", ".join(prefix + name for name in known)
            raise BundleError(
                f"{MANIFEST_NAME} has an unknown key {_shown(prefix + key)} (known are {expected})"
            )


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    if key not in document:
        raise BundleError(f"{MANIFEST_NAME} lacks the table [{key}]")
    value = document[key]
    if not isinstance(value, dict):
        raise BundleError(f"{key} in {MANIFEST_NAME} must be a table, not {_shown(value)}")
    return value


def _field(bot: dict[str, Any], key: str) -> Any:
    if key not in bot:
        raise BundleError(f"{MANIFEST_NAME} lacks bot.{key}")
    return bot[key]


def _label(bot: dict[str, Any], key: str) -> str:
    """A name or version: 1-40 printable characters, no space at either end."""
    value = _field(bot, key)
    if not isinstance(value, str):
        raise BundleError(f"bot.{key} in {MANIFEST_NAME} must be a string, not {_shown(value)}")
    if not 1 <= len(value) <= MAX_NAME or not value.isprintable() or value != value.strip():
        raise BundleError(
            f"bot.{key} in {MANIFEST_NAME} must be 1-{MAX_NAME} printable characters "
            f"without a space at either end, not {_shown(value)}"
        )
    return value


def _strings(bot: dict[str, Any], key: str) -> tuple[str, ...]:
    value = _field(bot, key)
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise BundleError(
            f"bot.{key} in {MANIFEST_NAME} must be a list of one or more strings, not {_shown(value)}"
        )
    return tuple(value)


def _command(bot: dict[str, Any]) -> tuple[str, ...]:
    words = _strings(bot, "command")
    if len(words) > MAX_WORDS:
        raise BundleError(f"bot.command in {MANIFEST_NAME} has {len(words)} words, more than {MAX_WORDS}")
    for word in words:
        if not word.isprintable() or len(word) > MAX_WORD:
            raise BundleError(
                f"a word of bot.command in {MANIFEST_NAME} must be printable and at most "
                f"{MAX_WORD} characters, not {_shown(word)}"
            )
    if not words[0]:
        raise BundleError(f"bot.command in {MANIFEST_NAME} starts with an empty word")
    return words


def _games(bot: dict[str, Any]) -> tuple[str, ...]:
    games = _strings(bot, "games")
    for number, code in enumerate(games):
        if code not in GAMES:
            raise BundleError(
                f"bot.games in {MANIFEST_NAME} names {_shown(code)}, which is none of {', '.join(GAMES)}"
            )
        if code in games[:number]:
            raise BundleError(f"bot.games in {MANIFEST_NAME} names {code!r} twice")
    return games


def _options(table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    if len(table) > MAX_WORDS:
        raise BundleError(f"[options] in {MANIFEST_NAME} has {len(table)} options, more than {MAX_WORDS}")
    return tuple((_option_name(name), _option_value(name, value)) for name, value in table.items())


def _option_name(name: str) -> str:
    words = name.split()
    if (
        not words
        or not name.isprintable()
        or len(name) > MAX_WORD
        or name != " ".join(words)
        or "value" in words
    ):
        raise BundleError(
            f"option {_shown(name)} in {MANIFEST_NAME} must be printable words other than 'value', "
            f"with one space between them"
        )
    if name.lower() in RESERVED_OPTIONS:
        raise BundleError(f"option {name!r} in {MANIFEST_NAME} is set by the server and cannot be given")
    return name


def _option_value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise BundleError(
            f"option {_shown(name)} in {MANIFEST_NAME} must be a string, a number or a truth value, "
            f"not {_shown(value)}"
        )
    if not value.isprintable() or len(value) > MAX_WORD:
        raise BundleError(
            f"option {_shown(name)} in {MANIFEST_NAME} must be printable and at most "
            f"{MAX_WORD} characters, not {_shown(value)}"
        )
    return value


def _shown(value: object) -> str:
    """An invalid value for a message, shortened."""
    return _shortened(repr(value), MAX_SHOWN)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
