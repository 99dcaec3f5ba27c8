"""Splits a command line into settings: each is a flag with its words and its place.

``workers.match.options.flags`` interprets the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from engines.rules.base import quote
from workers.match.options.hints import ELSEWHERE

_FLAG = re.compile(r"--?([^\W\d].*)", re.DOTALL)
"""Any word that begins like an option is one, known or not: a value of another option never begins so."""


class MatchError(ValueError):
    """A match cannot start or continue; the text is a sentence for the user."""


class MatchOptionError(MatchError):
    """An invalid option; the text begins with its place and quotes it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One flag, without its hyphen, and the words after it; ``place`` says where it was given."""

    flag: str
    words: tuple[str, ...]
    place: str

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


def split_pairs(setting: Setting, known: Sequence[str]) -> dict[str, list[str]]:
    """The ``key=value`` words of a setting by key. A word of ``known`` that ends in ``.`` is a prefix.

    Raises ``MatchOptionError`` for a word that is not a pair and for an unknown key.
    """
    pairs: dict[str, list[str]] = {}
    for word in setting.words:
        key, equals, value = word.partition("=")
        if not equals:
            setting.refuse(f"{quote(word)} is not KEY=VALUE")
        if not any(key.startswith(name) if name.endswith(".") else key == name for name in known):
            names = ", ".join(f"{name}NAME" if name.endswith(".") else name for name in known)
            setting.refuse(f"unknown key {quote(key)}; {ELSEWHERE.get(key) or f'known are {names}'}")
        pairs.setdefault(key, []).append(value)
    return pairs


def quote_word(word: str) -> str:
    """A word of a command line, in quotes if it has a space or a quote or is not printable."""
    return word if word.isprintable() and re.fullmatch(r"[^\s'\"]+", word) else quote(word)
