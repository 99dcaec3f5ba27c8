"""Splits a command line or a TOML file into settings: each is a flag with its words and its place.

``workers.match.options.flags`` interprets the words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Self

from engines.rules.base import quote
from workers.match.options.hints import KEYS_ELSEWHERE
from workers.match.options.options import MatchOptionError

_FLAG = re.compile(r"--?([^\W\d].*)", re.DOTALL)
"""Any word that begins like an option is one, known or not: a value of another option never begins so."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One flag, without its hyphen, and the words after it; ``place`` says where it was given."""

    flag: str
    words: tuple[str, ...]
    place: str

    def at(self, key: str) -> Self:
        """This setting, for an error in the value of ``key``."""
        return replace(self, place=f"{self.place}: {key}")

    def refuse(self, why: str) -> NoReturn:
        raise MatchOptionError(f"{self.place}: {why}")


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
            for word in _scalars(value, f"{place} {key}"):
                yield f"{prefix}{key}={word}"


def _scalars(value: object, place: str) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        raise MatchOptionError(f"{place}: {quote(value)} contains a NUL")
    if isinstance(value, bool):
        yield "on" if value else "off"
    elif isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item, place)
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
