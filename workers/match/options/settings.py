"""Splits a command line or a TOML file into settings, which are flags with words, and converts the words.

An error message names the place and quotes the words. ``workers.match.options.flags`` has the flags.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

from engines.arithmetic.statistics import Model
from engines.rules.base import MAX_NUMBER, quote
from engines.rules.registry import find_game
from engines.timecontrol import format_time_control, parse_time_control
from workers.jobs import MAX_OPENING_PLIES, DrawRule, ResignRule
from workers.match.options.hints import KEYS_ELSEWHERE
from workers.match.options.options import MatchOptionError, Openings, Order
from workers.sequential import Sprt

MAX_CPU = 4_095

_MINUTES = re.compile(r"(?<![^;])([0-9]{1,4}):([0-5]?[0-9])(\.[0-9]{1,3})?(?=\+|;|$)")
"""A clock of minutes and seconds, as in ``1:30+1``."""
_TRUTH = ("off", "on")
"""How our own options are written for false and true."""
_UGI_TRUTH = ("false", "true")
"""How an engine's options are."""

_FLAG = re.compile(r"--?([^\W\d].*)", re.DOTALL)
"""Any word that begins like an option is one, known or not: a value of another option never begins so."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One flag, without its hyphen, and the words after it; ``place`` says where it was given."""

    flag: str
    words: tuple[str, ...]
    place: str

    def refuse(self, why: str) -> NoReturn:
        raise MatchOptionError(f"{self.place}: {why}")

    @contextmanager
    def refusing(self, key: str = "") -> Iterator[None]:
        """Refuse the setting, or the value of ``key``, after a ``ValueError``; its text says why."""
        try:
            yield
        except MatchOptionError:
            raise
        except ValueError as error:
            self.refuse(f"{key}: {error}" if key else str(error))


def split_arguments(arguments: Sequence[str]) -> list[Setting]:
    """The settings of a command line: each flag with the words up to the next flag.

    One or two hyphens are the same. Raises ``MatchOptionError`` for words that belong to no flag.
    """
    settings: list[Setting] = []
    for word in arguments:
        if flag := _FLAG.fullmatch(word):
            settings.append(Setting(flag[1], (), quote_word(f"-{flag[1]}")))
        elif not settings:
            raise MatchOptionError(f"{quote(word)}: an option begins with '-'")
        else:
            last = settings[-1]
            settings[-1] = Setting(last.flag, (*last.words, word), f"{last.place} {quote_word(word)}")
    return settings


def read_toml(path: Path) -> list[Setting]:
    """The settings of a TOML file: keys are flags without hyphens, tables their ``key=value`` words.

    Raises ``MatchOptionError`` for a file that cannot be read.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise MatchOptionError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise MatchOptionError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise MatchOptionError(f"{path}: tables are nested too deep") from None
    if "config" in document:
        raise MatchOptionError(f"{path}: config: not allowed in a file")
    return [setting for flag, value in document.items() for setting in _settings(path, flag, value)]


def _settings(path: Path, flag: str, value: object) -> Iterator[Setting]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        places = {f"{path}: [[{flag}]] {number}": item for number, item in enumerate(value, 1)}
    else:
        places = {f"{path}: [{flag}]" if isinstance(value, dict) else f"{path}: {flag}": value}
    for place, item in places.items():
        words = _pairs(item, place) if isinstance(item, dict) else _scalars(item, place)
        yield Setting(flag, tuple(words), place)


def _pairs(table: Mapping[str, object], place: str, prefix: str = "") -> Iterator[str]:
    """``key=value`` words. The key of an inner table has a dot; a list repeats its key."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _pairs(value, place, f"{prefix}{key}.")
        else:
            is_engine_s = f"{prefix}{key}".startswith("option.")
            for word in _scalars(value, f"{place} {key}", _UGI_TRUTH if is_engine_s else _TRUTH):
                yield f"{prefix}{key}={word}"


def _scalars(value: object, place: str, truth: tuple[str, str] = _TRUTH) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        raise MatchOptionError(f"{place}: {quote(value)} contains a NUL")
    if isinstance(value, bool):
        yield truth[value]
    elif isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item, place, truth)
    else:
        raise MatchOptionError(f"{place}: a value of type {type(value).__name__} is not allowed here")


def split_pairs(setting: Setting, known: Collection[str]) -> dict[str, list[str]]:
    """The ``key=value`` words of a setting by key. A word of ``known`` that ends in ``.`` is a prefix.

    Raises ``MatchOptionError`` for a word that is not a pair and for an unknown key.
    """
    pairs: dict[str, list[str]] = {}
    for word in setting.words:
        key, equals, value = word.partition("=")
        if hint := KEYS_ELSEWHERE.get(setting.flag, {}).get(key):
            setting.refuse(f"unknown key {quote(key)}; {hint}")
        if not equals:
            setting.refuse(f"{quote(word)} is not KEY=VALUE")
        if not any(key.startswith(name) if name.endswith(".") else key == name for name in known):
            names = ", ".join(f"{name}NAME" if name.endswith(".") else name for name in known)
            setting.refuse(f"unknown key {quote(key)} (known are {names})")
        pairs.setdefault(key, []).append(value)
    return pairs


def quote_word(word: str) -> str:
    """A word of a command line, in quotes if it has a space or a quote or is not printable."""
    return word if word.isprintable() and re.fullmatch(r"[^\s'\"]+", word) else quote(word)


# Values

Reader = Callable[[str], Any]
"""Converts one word of a setting, or the value of one key; raises ``ValueError``."""


def one(read: Reader) -> Callable[[Setting], Any]:
    """Reads a flag that takes one word."""
    return lambda setting: read(only_word(setting))


def only_word(setting: Setting) -> str:
    if len(setting.words) != 1:
        setting.refuse(f"takes one word, not {len(setting.words)}")
    return setting.words[0]


def whole(least: int, most: int = MAX_NUMBER) -> Reader:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise ValueError(f"{quote(text)} is not a whole number from {least} to {most}")
        return int(text)

    return read


def read_real(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{quote(text)} is not a number")
    return value


def choice(kind: type[StrEnum]) -> Reader:
    def read(text: str) -> StrEnum:
        if text not in list(kind):
            raise ValueError(f"{quote(text)} is not one of {', '.join(kind)}")
        return kind(text)

    return read


def label(most: int, least: int = 0) -> Reader:
    """Text of one line, without a space at either end if it must not be empty."""

    def read(text: str) -> str:
        if not least <= len(text) <= most or not text.isprintable() or (least and text != text.strip()):
            length, edges = (f"{least} to", ", no space at either end") if least else ("at most", "")
            raise ValueError(f"{quote(text)} must have {length} {most} characters, all printable{edges}")
        return text

    return read


def read_switch(setting: Setting) -> bool:
    """No word means ``on``."""
    return _read_truth(only_word(setting)) if setting.words else True


def _read_truth(text: str) -> bool:
    if text not in ("on", "off", "true", "false"):
        raise ValueError(f"{quote(text)} is neither on nor off")
    return text in ("on", "true")


def _read_path(text: str) -> Path:
    if not text:
        raise ValueError(f"{quote(text)} is not a path")
    return Path(text)


def read_folder(text: str) -> Path:
    if text.startswith("file="):
        raise ValueError("takes a folder, in which each game has a file")
    return _read_path(text)


def read_file(text: str) -> Path:
    """The path of a file, with a name at its end: other files are written beside it. ``file=`` is allowed."""
    path = _read_path(text.removeprefix("file="))
    if not path.name:
        raise ValueError(f"{quote(str(path))} is a folder")
    return path


def read_ladders(setting: Setting) -> tuple[str, ...]:
    if not setting.words:
        raise ValueError("names no game")
    return tuple(find_game(code).code for code in setting.words)


def read_control(text: str) -> str:
    """A time control in the normal form that records have; a clock may be given as minutes and seconds."""
    return format_time_control(parse_time_control(_MINUTES.sub(_seconds_of, text)))


def _seconds_of(clock: re.Match[str]) -> str:
    return f"{60 * int(clock[1]) + int(clock[2])}{clock[3] or ''}"


def read_cpus(setting: Setting) -> tuple[int, ...]:
    """The numbers of CPUs: ``0-3,6``. Refuses those on which this process may not run."""
    if not setting.words:
        raise ValueError(
            "names no CPU: leave it out (each game has a core of its own), or list CPUs, as 0-3,6"
        )
    found: dict[int, None] = {}
    for part in only_word(setting).split(","):
        first, hyphen, last = part.partition("-")
        low = whole(0, MAX_CPU)(first)
        found |= dict.fromkeys(range(low, 1 + (whole(low, MAX_CPU)(last) if hyphen else low)))
    usable = os.sched_getaffinity(0)
    for cpu in found:
        if cpu not in usable:
            raise ValueError(f"CPU {cpu} is not one of this machine's: {', '.join(map(str, sorted(usable)))}")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Table:
    """Reads ``KEY=VALUE`` words into a dataclass ``make``, and gives the words for such a value.

    ``keys`` have the name of the field and its reader; a field with a default may be missing.
    """

    make: type[Any]
    keys: Mapping[str, tuple[str, Reader]]
    check: Callable[[Any], None] = lambda value: None
    """Raises ``ValueError`` for values that do not fit each other."""

    def __call__(self, setting: Setting) -> Any:
        needed = {each.name for each in dataclasses.fields(self.make) if each.default is dataclasses.MISSING}
        pairs = split_pairs(setting, self.keys)
        values = {}
        for key, (name, read) in self.keys.items():
            if key in pairs:
                with setting.refusing(key):
                    values[name] = read(pairs[key][-1])
            elif name in needed:
                setting.refuse(f"{key}= is missing")
        made = self.make(**values)
        self.check(made)
        return made

    def words(self, value: object) -> dict[str, object]:
        """The value of each key; empty for None."""
        return {} if value is None else {key: getattr(value, name) for key, (name, _) in self.keys.items()}


_MOVES = ("moves", whole(1))
DRAW = Table(
    DrawRule,
    {"movenumber": ("move_number", whole(1)), "movecount": _MOVES, "score": ("score", whole(0))},
)
RESIGN = Table(
    ResignRule,
    {"movecount": _MOVES, "score": ("score", whole(1)), "twosided": ("two_sided", _read_truth)},
)
_REALS = {key: (key, read_real) for key in ("elo0", "elo1", "alpha", "beta")}
SPRT = Table(Sprt, _REALS | {"model": ("model", choice(Model))}, Sprt.check)
BOOK = Table(
    Openings,
    {
        "file": ("file", _read_path),
        "order": ("order", choice(Order)),
        "start": ("start", whole(1)),
        "plies": ("plies", whole(0, MAX_OPENING_PLIES)),
    },
)


def read_openings(setting: Setting) -> Openings:
    if setting.words == ("none",):
        return Openings()
    if len(setting.words) == 1 and setting.words[0].startswith("random:"):
        plies = setting.words[0].removeprefix("random:")
        return Openings(whole(0, MAX_OPENING_PLIES)(plies))
    if not any(word.startswith("file=") for word in setting.words):
        raise ValueError("must be random:PLIES, none, or file=FILE [order=…] [start=N] [plies=N]")
    openings: Openings = BOOK(setting)
    return openings


def openings_words(openings: Openings) -> object:
    """The words, or the table, from which ``read_openings`` reads these openings."""
    return BOOK.words(openings) if openings.file is not None else f"random:{openings.plies}"
