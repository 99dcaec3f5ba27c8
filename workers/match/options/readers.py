"""Converts the words of a flag to its value; an error message quotes them."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from engines.rules.base import MAX_NUMBER, RulesError, quote
from engines.rules.registry import find_game
from engines.timecontrol import TimeControlError, format_time_control, parse_time_control
from workers.jobs import MAX_OPENING_PLIES, DrawRule, ResignRule
from workers.match.options.options import Openings, Order
from workers.match.options.words import Setting, split_pairs
from workers.sequential import Sprt
from workers.statistics import Model

MAX_CPU = 4_095

Reader = Callable[[Setting, str], Any]
"""Converts one word of a setting, or the value of one key."""


def one(read: Reader) -> Callable[[Setting], Any]:
    """Reads a flag that takes one word."""
    return lambda setting: read(setting, only_word(setting))


def only_word(setting: Setting) -> str:
    if len(setting.words) != 1:
        setting.refuse(f"takes one word, not {len(setting.words)}")
    return setting.words[0]


def whole(least: int, most: int = MAX_NUMBER) -> Reader:
    def read(setting: Setting, text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            setting.refuse(f"{quote(text)} is not a whole number from {least} to {most}")
        return int(text)

    return read


def read_real(setting: Setting, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        setting.refuse(f"{quote(text)} is not a number")
    return value


def choice(kind: type[StrEnum]) -> Reader:
    def read(setting: Setting, text: str) -> StrEnum:
        if text not in list(kind):
            setting.refuse(f"{quote(text)} is not one of {', '.join(kind)}")
        return kind(text)

    return read


def label(most: int, least: int = 0) -> Reader:
    """Text of one line, without a space at either end if it must not be empty."""

    def read(setting: Setting, text: str) -> str:
        if not least <= len(text) <= most or not text.isprintable() or (least and text != text.strip()):
            length, edges = (f"{least} to", ", no space at either end") if least else ("at most", "")
            setting.refuse(f"{quote(text)} must have {length} {most} characters, all printable{edges}")
        return text

    return read


def read_switch(setting: Setting) -> bool:
    """``on`` or ``off``; no word means ``on``."""
    word = only_word(setting) if setting.words else "on"
    if word not in ("on", "off"):
        setting.refuse(f"{quote(word)} is neither on nor off")
    return word == "on"


def _read_truth(setting: Setting, text: str) -> bool:
    if text not in ("true", "on", "false", "off"):  # a TOML file's true is on
        setting.refuse(f"{quote(text)} is neither true nor false")
    return text in ("true", "on")


def _read_path(setting: Setting, text: str) -> Path:
    if not text:
        setting.refuse(f"{quote(text)} is not a path")
    return Path(text)


def read_folder(setting: Setting, text: str) -> Path:
    if text.startswith("file="):
        setting.refuse("takes a folder, in which each game has a file")
    return _read_path(setting, text)


def read_file(setting: Setting, text: str) -> Path:
    """The path of a file, with a name at its end: other files are written beside it. ``file=`` is allowed."""
    path = _read_path(setting, text.removeprefix("file="))
    if not path.name:
        setting.refuse(f"{quote(str(path))} is a folder")
    return path


def read_ladders(setting: Setting) -> tuple[str, ...]:
    if not setting.words:
        setting.refuse("names no game")
    for code in setting.words:
        try:
            find_game(code)
        except RulesError as error:
            setting.refuse(str(error))
    return setting.words


def read_control(setting: Setting, text: str) -> str:
    """A time control in the normal form that records have."""
    try:
        return format_time_control(parse_time_control(text))
    except TimeControlError as error:
        setting.refuse(str(error))


def read_cpus(setting: Setting) -> tuple[int, ...]:
    """The numbers of CPUs: ``0-3,6``. Refuses those on which this process may not run."""
    if not setting.words:
        setting.refuse("names no CPU: leave it out (each game has a core of its own), or list CPUs, as 0-3,6")
    found: dict[int, None] = {}
    for part in only_word(setting).split(","):
        first, hyphen, last = part.partition("-")
        low = whole(0, MAX_CPU)(setting, first)
        high = whole(low, MAX_CPU)(setting, last) if hyphen else low
        found |= dict.fromkeys(range(low, high + 1))
    usable = os.sched_getaffinity(0)
    for cpu in found:
        if cpu not in usable:
            setting.refuse(f"CPU {cpu} is not one of this machine's: {', '.join(map(str, sorted(usable)))}")
    return tuple(found)


@dataclasses.dataclass(frozen=True, slots=True)
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
                values[name] = read(setting.at(key), pairs[key][-1])
            elif name in needed:
                setting.refuse(f"{key}= is missing")
        made = self.make(**values)
        try:
            self.check(made)
        except ValueError as error:
            setting.refuse(str(error))
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
    {"file": ("file", _read_path), "order": ("order", choice(Order)), "start": ("start", whole(1))},
)


def read_openings(setting: Setting) -> Openings:
    if setting.words == ("none",):
        return Openings()
    if len(setting.words) == 1 and setting.words[0].startswith("random:"):
        plies = setting.words[0].removeprefix("random:")
        return Openings(whole(0, MAX_OPENING_PLIES)(setting, plies))
    if not any(word.startswith("file=") for word in setting.words):
        setting.refuse("must be random:PLIES, none, or file=FILE [order=…] [start=N]")
    openings: Openings = BOOK(setting)
    return openings


def openings_words(openings: Openings) -> object:
    """The words, or the table, from which ``read_openings`` reads these openings."""
    return BOOK.words(openings) if openings.file is not None else f"random:{openings.plies}"
