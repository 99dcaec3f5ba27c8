"""Converts the words of a flag to its value; an error message quotes them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from engines.rules.base import MAX_NUMBER, RulesError, quote
from engines.rules.registry import find_game
from engines.timecontrol import TimeControlError, format_time_control, parse_time_control
from workers.jobs import MAX_OPENING_PLIES, DrawRule, ResignRule
from workers.match.options.options import Format, Openings, Order
from workers.match.options.words import Setting, split_pairs
from workers.sequential import Sprt
from workers.statistics import Model, StatisticsError

MAX_LABEL = 80
MAX_CPU = 4_095
MAX_MARGIN_MS = 60_000
MAX_STARTUP_SECONDS = 3_600

Word = TypeVar("Word", bound=StrEnum)


def _one(setting: Setting) -> str:
    if len(setting.words) != 1:
        setting.refuse(f"takes one word, not {len(setting.words)}")
    return setting.words[0]


def read_whole(least: int, most: int) -> Callable[[Setting], int]:
    def read(setting: Setting) -> int:
        return read_number(setting, _one(setting), least, most)

    return read


def read_number(setting: Setting, text: str, least: int, most: int) -> int:
    """A whole number in these bounds."""
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        setting.refuse(f"{quote(text)} is not a whole number from {least} to {most}")
    return int(text)


def read_switch(setting: Setting) -> bool:
    """``on`` or ``off``; no word means ``on``."""
    word = _one(setting) if setting.words else "on"
    if word not in ("on", "off"):
        setting.refuse(f"{quote(word)} is neither on nor off")
    return word == "on"


def _choice(setting: Setting, text: str, kind: type[Word]) -> Word:
    known = list(kind)
    if text not in known:
        setting.refuse(f"{quote(text)} is not one of {', '.join(known)}")
    return kind(text)


def read_form(setting: Setting) -> Format:
    return _choice(setting, _one(setting), Format)


def read_folder(setting: Setting) -> Path:
    text = _one(setting)
    if text.startswith("file="):
        setting.refuse("takes a folder, in which each game has a file")
    return _path(setting, text)


def _path(setting: Setting, text: str) -> Path:
    if not text:
        setting.refuse(f"{quote(text)} is not a path")
    return Path(text)


def read_file(setting: Setting) -> Path:
    """The path of a file, with a name at its end: other files are written beside it. ``file=`` is allowed."""
    path = _path(setting, _one(setting).removeprefix("file="))
    if not path.name:
        setting.refuse(f"{quote(str(path))} is a folder")
    return path


def read_label(setting: Setting) -> str:
    text = _one(setting)
    if len(text) > MAX_LABEL or not text.isprintable():
        setting.refuse(f"{quote(text)} must have at most {MAX_LABEL} characters, all printable")
    return text


def read_ladders(setting: Setting) -> tuple[str, ...]:
    if not setting.words:
        setting.refuse("names no game")
    for code in setting.words:
        try:
            find_game(code)
        except RulesError as error:
            setting.refuse(str(error))
    return setting.words


def read_time_control(setting: Setting) -> str:
    return read_control(setting, _one(setting))


def read_control(setting: Setting, text: str) -> str:
    """A time control in the normal form that records have."""
    try:
        return format_time_control(parse_time_control(text))
    except TimeControlError as error:
        setting.refuse(str(error))


def read_openings(setting: Setting) -> Openings:
    if setting.words == ("none",):
        return Openings()
    if len(setting.words) == 1 and setting.words[0].startswith("random:"):
        plies = setting.words[0].removeprefix("random:")
        return Openings(plies=read_number(setting, plies, 0, MAX_OPENING_PLIES))
    if not any(word.startswith("file=") for word in setting.words):
        setting.refuse("must be random:PLIES, none, or file=FILE [order=…] [start=N]")
    pairs = _keys(setting, needed=("file",), also=("order", "start"))
    return Openings(
        file=Path(pairs["file"]),
        order=_choice(setting, pairs.get("order", Order.SEQUENTIAL), Order),
        start=read_number(setting, pairs.get("start", "1"), 1, MAX_NUMBER),
    )


def read_sprt(setting: Setting) -> Sprt:
    pairs = _keys(setting, needed=("elo0", "elo1"), also=("alpha", "beta", "model"))
    numbers = {key: _real(setting, key, value) for key, value in pairs.items() if key != "model"}
    test = Sprt(**numbers, model=_choice(setting, pairs.get("model", Model.NORMALIZED), Model))
    try:
        test.check()
    except StatisticsError as error:
        setting.refuse(str(error))
    return test


def read_draw(setting: Setting) -> DrawRule:
    pairs = _keys(setting, needed=("movenumber", "movecount", "score"))
    least = {"movenumber": 1, "movecount": 1, "score": 0}
    return DrawRule(*(read_number(setting, pairs[key], least[key], MAX_NUMBER) for key in least))


def read_resign(setting: Setting) -> ResignRule:
    """``twosided=false``: the score of the losing engine is enough."""
    pairs = _keys(setting, needed=("movecount", "score"), also=("twosided",))
    moves, score = (read_number(setting, pairs[key], 1, MAX_NUMBER) for key in ("movecount", "score"))
    word = pairs.get("twosided", "true")
    if word not in ("true", "on", "false", "off"):  # a TOML file's true is on
        setting.refuse(f"twosided={quote(word)} is neither true nor false")
    return ResignRule(moves, score, two_sided=word in ("true", "on"))


def read_cpus(setting: Setting) -> tuple[int, ...]:
    """The numbers of CPUs: ``0-3,6``. Refuses those on which this process may not run."""
    if not setting.words:
        setting.refuse("names no CPU: leave it out (each game has a core of its own), or list CPUs, as 0-3,6")
    found: dict[int, None] = {}
    for part in _one(setting).split(","):
        first, hyphen, last = part.partition("-")
        low = read_number(setting, first, 0, MAX_CPU)
        high = read_number(setting, last, low, MAX_CPU) if hyphen else low
        found |= dict.fromkeys(range(low, high + 1))
    usable = os.sched_getaffinity(0)
    for cpu in found:
        if cpu not in usable:
            setting.refuse(f"CPU {cpu} is not one of this machine's: {', '.join(map(str, sorted(usable)))}")
    return tuple(found)


def _keys(setting: Setting, needed: Sequence[str], also: Sequence[str] = ()) -> dict[str, str]:
    """The last value of each key; a key of ``also`` may be missing."""
    pairs = split_pairs(setting, (*needed, *also))
    for key in needed:
        if key not in pairs:
            setting.refuse(f"{key}= is missing")
    return {key: values[-1] for key, values in pairs.items()}


def _real(setting: Setting, key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        setting.refuse(f"{key}={quote(text)} is not a number")
    return value
