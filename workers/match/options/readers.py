"""Converts the words of a flag to its value; an error message quotes them."""

from __future__ import annotations

import math
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

MAX_TEXT = 80

Word = TypeVar("Word", bound=StrEnum)


def one_word(setting: Setting) -> str:
    if len(setting.words) != 1:
        setting.refuse(f"takes one word, not {len(setting.words)}")
    return setting.words[0]


def read_whole(least: int, most: int) -> Callable[[Setting], int]:
    return lambda setting: _number(setting, one_word(setting), least, most)


def _number(setting: Setting, text: str, least: int, most: int = MAX_NUMBER) -> int:
    """A whole number in these bounds."""
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        setting.refuse(f"{quote(text)} is not a whole number from {least} to {most}")
    return int(text)


def read_switch(setting: Setting) -> bool:
    """``on`` or ``off``; no word means ``on``."""
    word = one_word(setting) if setting.words else "on"
    if word not in ("on", "off"):
        setting.refuse(f"{quote(word)} is neither on nor off")
    return word == "on"


def _choice(setting: Setting, text: str, kind: type[Word]) -> Word:
    known = list(kind)
    if text not in known:
        setting.refuse(f"{quote(text)} is not one of {', '.join(known)}")
    return kind(text)


def read_form(setting: Setting) -> Format:
    return _choice(setting, one_word(setting), Format)


def read_path(setting: Setting) -> Path:
    """A path with a name at its end; ``file=`` before it is allowed."""
    path = Path(one_word(setting).removeprefix("file="))
    if not path.name:
        setting.refuse(f"{quote(str(path))} has no name at its end")
    return path


def read_label(setting: Setting) -> str:
    return check_text(setting, one_word(setting), "the text")


def check_text(setting: Setting, text: str, what: str, least: int = 0) -> str:
    if not least <= len(text) <= MAX_TEXT or not text.isprintable() or text != text.strip():
        setting.refuse(f"{what} {quote(text)} must have {least} to {MAX_TEXT} printable characters, no "
                       "space at either end")  # fmt: skip
    return text


def read_ladders(setting: Setting) -> tuple[str, ...]:
    if not setting.words:
        setting.refuse("names no game")
    try:
        return tuple(dict.fromkeys(find_game(code).code for code in setting.words))
    except RulesError as error:
        setting.refuse(str(error))


def read_time_control(setting: Setting) -> str:
    return read_control(setting, one_word(setting))


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
        return Openings(plies=_number(setting, plies, 0, MAX_OPENING_PLIES))
    if not any(word.startswith("file=") for word in setting.words):
        setting.refuse("must be random:PLIES, none, or file=FILE [order=…] [start=N]")
    pairs = _keys(setting, needed=("file",), also=("order", "start"))
    return Openings(
        file=Path(pairs["file"]),
        order=_choice(setting, pairs.get("order", Order.SEQUENTIAL), Order),
        start=_number(setting, pairs.get("start", "1"), 1),
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
    return DrawRule(*(_number(setting, pairs[key], least[key]) for key in least))


def read_resign(setting: Setting) -> ResignRule:
    """``twosided=false``: the score of the losing engine is enough."""
    pairs = _keys(setting, needed=("movecount", "score"), also=("twosided",))
    moves, score = (_number(setting, pairs[key], 1) for key in ("movecount", "score"))
    word = pairs.get("twosided", "true")
    if word not in ("true", "false"):
        setting.refuse(f"twosided={quote(word)} is neither true nor false")
    return ResignRule(moves, score, two_sided=word == "true")


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
