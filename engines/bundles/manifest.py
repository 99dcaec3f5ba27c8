"""``bot.toml``, the manifest of a bundle: the bot's name, its command, its games and options.

The site and the workers use the same strict reader: it refuses anything that ``engines/PROTOCOL.md`` does
not allow, and names it.
"""

from __future__ import annotations

import codecs
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
ELF = b"\x7fELF"
BEGINNING_BYTES = 256
"""How much of a program file ``explain_unstartable`` needs."""
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
    word, *arguments = manifest.command
    if manifest.program in files:
        return
    shown, begin = _shown(word), f"bot.command in {MANIFEST_NAME}"
    available = [word for word in INTERPRETERS if find(word) is not None]
    words = ", ".join(available)
    _require(
        word in INTERPRETERS,
        f"{begin} starts with {shown}, which is neither a file of the bundle nor one of {words}",
    )
    _require(word in available, f"{begin} needs {shown}, which is not available here: there is {words}")
    _require(bool(arguments), f"{begin} names no program for {shown} to run")
    script = arguments[0]
    is_there = script.startswith("-") or posixpath.normpath(script) in files
    _require(
        is_there or not INTERPRETERS[word], f"{begin} names {_shown(script)}, which is not in the bundle"
    )


def explain_misnamed(names: Collection[str]) -> str:
    """The rest of a sentence on a missing ``bot.toml``: what to do; empty if no name is alike."""
    for name in names:
        folder, _, own = name.rpartition("/")
        if own.casefold().removesuffix(".txt") == MANIFEST_NAME and not folder.startswith("__MACOSX"):
            steps = (
                [f"rename the file to {MANIFEST_NAME}{_hidden_ending(own)}"] if own != MANIFEST_NAME else []
            )
            steps += ["zip the content of the folder, not the folder"] if folder else []
            return f", but it has {name!r}: {' and '.join(steps)}"
    return ""


def _hidden_ending(name: str) -> str:
    return " (Windows may hide the ending .txt)" if name.casefold().endswith(".txt") else ", in small letters"


def explain_unstartable(name: str, beginning: bytes) -> str | None:
    """Why Linux cannot start a program file with this beginning, for its author; None if it may."""
    first_line, line_feed, _ = beginning.partition(b"\n")
    faults = {
        "has a Windows line end (CRLF) after '#!': save it with Unix line ends (LF)": line_feed
        and first_line.startswith(b"#!")
        and first_line.endswith(b"\r"),
        "has a byte order mark before '#!': save it as UTF-8 without one": beginning.startswith(
            codecs.BOM_UTF8 + b"#!"
        ),
        "is a Windows program: compile it for Linux": beginning.startswith(b"MZ"),
    }
    return next((f"{_shown(name)} {fault}" for fault, has_it in faults.items() if has_it), None)


def find_interpreter(word: str) -> str | None:
    """The path of an interpreter of ``INTERPRETERS``, or None; ``python3`` is the running one."""
    if word == "python3":
        return sys.executable
    return shutil.which(word) if word in INTERPRETERS else None


def _parse_toml(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_MANIFEST_BYTES:
        raise BundleError(f"{MANIFEST_NAME} is over {MAX_MANIFEST_BYTES // 1024} KiB")
    if data.count(b".") > MAX_DOTS:
        raise BundleError(f"{MANIFEST_NAME} has more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        alike = ": it looks like UTF-16, save it as UTF-8" if is_wide else ""
        raise BundleError(f"{MANIFEST_NAME} is not UTF-8 at byte {error.start}{alike}") from None
    except tomllib.TOMLDecodeError as error:
        raise BundleError(f"{MANIFEST_NAME} is not valid TOML: {shortened(str(error), MAX_SHOWN)}") from None
    except (RecursionError, ValueError):
        raise BundleError(
            f"{MANIFEST_NAME} is not valid TOML: a value is nested too deeply or too long"
        ) from None


def _require(is_met: bool, sentence: str) -> None:
    if not is_met:
        raise BundleError(sentence)


def _require_value(is_valid: bool, what: str, wanted: str, value: object) -> None:
    # A valid value is not shown: one that is nested deeply takes long.
    if not is_valid:
        raise BundleError(f"{what} in {MANIFEST_NAME} must be {wanted}, not {_shown(value)}")


def _refuse_unknown(table: dict[str, Any], known: tuple[str, ...], prefix: str) -> None:
    expected = ", ".join(prefix + name for name in known)
    for key in table:
        _require(
            key in known,
            f"{MANIFEST_NAME} has an unknown key {_shown(prefix + key)} (known are {expected})",
        )


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    _require(key in document, f"{MANIFEST_NAME} lacks the table [{key}]")
    value: dict[str, Any] = document[key]
    _require_value(isinstance(value, dict), key, "a table", value)
    return value


def _field(bot: dict[str, Any], key: str) -> Any:
    _require(key in bot, f"{MANIFEST_NAME} lacks bot.{key}")
    return bot[key]


def _label(bot: dict[str, Any], key: str) -> str:
    """A name or version: 1-40 printable characters, no space at either end."""
    value = _field(bot, key)
    _require_value(isinstance(value, str), f"bot.{key}", "a string", value)
    is_plain = 1 <= len(value) <= MAX_NAME and value.isprintable() and value == value.strip()
    wanted = f"1-{MAX_NAME} printable characters without a space at either end"
    _require_value(is_plain, f"bot.{key}", wanted, value)
    return str(value)


def _strings(bot: dict[str, Any], key: str) -> tuple[str, ...]:
    value = _field(bot, key)
    are_strings = isinstance(value, list) and value and all(isinstance(word, str) for word in value)
    _require_value(bool(are_strings), f"bot.{key}", "a list of one or more strings", value)
    return tuple(value)


def _command(bot: dict[str, Any]) -> tuple[str, ...]:
    words, begin = _strings(bot, "command"), f"bot.command in {MANIFEST_NAME}"
    _require(len(words) <= MAX_WORDS, f"{begin} has {len(words)} words, more than {MAX_WORDS}")
    for word in words:
        _require_value(_is_word(word), "a word of bot.command", _WORD, word)
    _require(words[0] != "", f"{begin} starts with an empty word")
    return words


_WORD = f"printable and at most {MAX_WORD} characters"


def _is_word(text: str) -> bool:
    return text.isprintable() and len(text) <= MAX_WORD


def _games(bot: dict[str, Any]) -> tuple[str, ...]:
    games, begin = _strings(bot, "games"), f"bot.games in {MANIFEST_NAME}"
    for number, code in enumerate(games):
        _require(code in GAMES, f"{begin} names {_shown(code)}, which is none of {', '.join(GAMES)}")
        _require(code not in games[:number], f"{begin} names {code!r} twice")
    return games


def _options(table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    _require(
        len(table) <= MAX_WORDS,
        f"[options] in {MANIFEST_NAME} has {len(table)} options, more than {MAX_WORDS}",
    )
    return tuple((_option_name(name), _option_value(name, value)) for name, value in table.items())


def _option_name(name: str) -> str:
    words, begin = name.split(), f"option {_shown(name)} in {MANIFEST_NAME}"
    is_name = bool(words) and _is_word(name) and name == " ".join(words) and "value" not in words
    _require(is_name, f"{begin} must be printable words other than 'value', with one space between them")
    _require(name.lower() not in RESERVED_OPTIONS, f"{begin} is set by the server and cannot be given")
    return name


def _option_value(name: str, value: Any) -> str:
    what = f"option {_shown(name)}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    _require_value(isinstance(value, str), what, "a string, a number or a truth value", value)
    _require_value(_is_word(value), what, _WORD, value)
    return str(value)


def _shown(value: object) -> str:
    """An invalid value for a message, shortened."""
    return shortened(repr(value), MAX_SHOWN)


def shortened(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
