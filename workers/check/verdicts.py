"""Judges the output of an engine; pure. Each function returns a sentence on what is wrong, or None."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from engines.protocol import (
    INFO_FIELDS,
    VARIANT_OPTION,
    BestMove,
    IdName,
    Info,
    OptionDeclared,
    OptionType,
    UgiOk,
    last_info,
    parse_engine_line,
    parse_number,
)
from engines.rules.base import IllegalMove, Position, Side, quote
from engines.rules.registry import GAMES
from engines.visible import visible
from workers.engine.output import MAX_STDERR_BYTES
from workers.game.charges import Charge
from workers.game.fastpath.clock import NS_PER_MS
from workers.sandbox.limits import Limits

MARGIN_MS = 50
"""The default margin of a tournament on every move."""

LEAST_SCORES = 3
"""The fewest scores of each side that are judged: with fewer the sign may be chance."""
MATE = 1_000_000
GROWTH_BYTES = 2 << 20
"""Memory for one more move that is mentioned."""
LEAST_LEAK = 0.5
"""Threads, processes or files for one more move that are mentioned."""
LEAST_SAMPLES = 12
MEMORY_BYTES = Limits().memory
"""The memory of an engine on a site that has not changed it."""

_FURTHER = re.compile(r"\smultipv\s+0*(?:[2-9]|1\d)")
_FRAME = re.compile(r'\s*File "(?P<file>.+?)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?')
"""A line of a Python traceback that names a place."""
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?")
"""The last line of a traceback."""
_FOREIGN_FILES = ("<frozen ", "/lib/python3", "/site-packages/", "/engines/")
"""Parts of the paths of files from Python, from other packages or from our SDK."""
_SHOWN = 200
"""The most characters of an exception's message, and of each name in its traceback, that are shown."""


def judge_introduction(lines: Sequence[str]) -> str | None:
    """Judge the lines up to ``ugiok``, except options."""
    messages = [parse_engine_line(line) for line in lines]
    if not any(isinstance(message, IdName) and message.name for message in messages):
        return "it sends no 'id name'"
    if sum(isinstance(message, UgiOk) for message in messages) > 1:
        return "it sends ugiok more than once"
    return None


def judge_options(lines: Sequence[str]) -> str | None:
    """Judge the ``option`` lines among ``lines``."""
    seen: set[str] = set()
    for line in lines:
        if line.split()[:1] != ["option"]:
            continue
        option = parse_engine_line(line)
        if not isinstance(option, OptionDeclared):
            return f"an option needs a name and a type of check, spin, combo, button or string: {quote(line)}"
        if option.name.casefold() in seen:
            return f"option {quote(option.name)} is declared twice"
        seen.add(option.name.casefold())
        for wrong in _option_faults(option):
            return f"option {quote(option.name)} {wrong}: {quote(line)}"
    return None


def _option_faults(option: OptionDeclared) -> Iterator[str]:
    """What is wrong with one declaration, as the rest of a sentence."""
    if not all(map(str.isprintable, (option.name, option.default or "", *option.choices))):
        yield "has a character that is not printable"
    match option.type:
        case OptionType.CHECK:
            if option.default not in ("true", "false"):
                yield "is a check whose default is neither true nor false"
        case OptionType.SPIN:
            yield from _spin_faults(option)
        case OptionType.COMBO:
            if option.default not in option.choices:
                yield "is a combo whose default is not one of its vars"
    if option.name == VARIANT_OPTION:
        if option.type is not OptionType.COMBO:
            yield "must be a combo"
        elif not set(option.choices) & set(GAMES):
            yield f"has none of the ladders ({', '.join(GAMES)}) among its vars"


def _spin_faults(option: OptionDeclared) -> Iterator[str]:
    default = parse_number(option.default or "")
    if default is None or option.min is None or option.max is None:
        yield "is a spin and needs default, min and max, all numbers"
    elif not option.min <= default <= option.max:
        yield f"has the default {default}, which is not from {option.min} to {option.max}"


def judge_info(line: str, position: Position) -> str | None:
    """Judge one line of a search of ``position``; lines other than ``info`` are ignored."""
    info = parse_engine_line(line)
    if not isinstance(info, Info):
        return None
    words = line.partition(" string ")[0].split()
    for word, field in INFO_FIELDS.items():
        if word != "score" and word in words and (value := getattr(info, field)) is None:
            return f"{word!r} is not followed by a number in {quote(line)}"
        if word != "score" and word in words and value < 0:
            return f"{word!r} is negative in {quote(line)}"
    if "score" in words and info.score is None:
        return f"'score' is not followed by 'cp' or 'mate' and a number in {quote(line)}"
    return _judge_line_of_play(info.pv, position)


def judge_best_line(lines: Sequence[str], move: str) -> str | None:
    """Judge the last pv of a search: it begins with the ``bestmove``. Further lines of play do not count."""
    own = [line for line in lines if not _FURTHER.search(line.partition(" string ")[0])]
    pv = last_info(own).pv
    if not pv or pv[0] == move:
        return None
    return f"the last pv begins with {quote(pv[0])}, but the bestmove is {quote(move)}"


def _judge_line_of_play(pv: Sequence[str], position: Position) -> str | None:
    """Judge a pv: its moves must be legal one after the other, and must not go past the end of the game."""
    for place, token in enumerate(pv, start=1):
        if position.outcome().decided:
            return f"the pv {quote(' '.join(pv))} continues after the end of the game"
        try:
            position = position.play(token)
        except IllegalMove as error:
            return f"move {place} of the pv cannot be played: {error}"
    return None


def judge_time(charge: Charge, limit_ms: int) -> str | None:
    """Judge the time of an answer; all its times are named if the machine withheld some."""
    used_ms = charge.used_ns // NS_PER_MS
    if used_ms <= limit_ms + MARGIN_MS:
        return None
    measured = f" ({charge.sentence})" if charge.extension_ns else ""
    return f"the answer took {used_ms} ms of {limit_ms}{measured}; only {MARGIN_MS} ms more are granted"


def judge_scores(scores: Sequence[tuple[Side, int]]) -> str | None:
    """Judge scores of positions that the mover wins at once, each with the side to move."""
    for side in Side:
        own = [score for mover, score in scores if mover is side]
        others = [score for mover, score in scores if mover is not side]
        if min(len(own), len(others)) >= LEAST_SCORES and min(own) > 0 > max(others):
            name = side.name.title()
            return (
                f"its scores are always from {name}'s side: where the mover wins at once they were "
                f"{_listed(own)} if that was {name}, and {_listed(others)} if not"
            )
    return None


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def find_score(lines: Iterable[str]) -> int | None:
    """The last score of a search in hundredths; a mate is more than any other. None without a score."""
    found = None
    for message in map(parse_engine_line, lines):
        if isinstance(message, Info) and (score := message.score) is not None:
            found = score.centipawns if score.mate is None else (MATE if score.mate > 0 else -MATE)
    return found


def judge_end(line: str, result: str, position: Position) -> str | None:
    """Judge the ``bestmove`` line of a search in a position that is over with ``result``.

    A move names a cell, or another part of the game's moves; 'none', '0000' and 'resign' do not.
    """
    message = parse_engine_line(line)
    known = {*position.board(), *position.words()}
    if not isinstance(message, BestMove) or known.isdisjoint(position.parts(message.move)):
        return None
    return f"the game is over in this position ({result}), and it answers with the move {quote(message.move)}"


def judge_memory(samples: Sequence[int], usual_moves: int) -> tuple[str, bool] | None:
    """Judge the memory after each move of a game: a sentence, and whether a usual game is lost by it.

    Growth counts only as far as it goes on in every part of the game: tables fill, and some languages
    collect garbage seldom.
    """
    growth = int(_steady_growth(samples))
    if growth < GROWTH_BYTES:
        return None
    sentence = (
        f"with every move it used {growth >> 20} MB more memory, "
        f"after {len(samples)} moves {samples[-1] >> 20} MB"
    )
    loss = f": a site that allows {MEMORY_BYTES >> 20} MB ends it within a usual game"
    return _judge_growth(samples, growth, usual_moves, MEMORY_BYTES, sentence, loss)


def judge_leaks(what: str, samples: Sequence[int], moves: int, most: int) -> tuple[str, bool] | None:
    """Judge the number of threads, processes or files after each move: as ``judge_memory``, in a long game.

    ``moves`` are the player's in a long game, because a process is kept from game to game; ``most`` is the
    limit of a site.
    """
    growth = _steady_growth(samples)
    if growth < LEAST_LEAK:
        return None
    sentence = (
        f"its {what} grow with every move: there were {samples[0]}, "
        f"and {samples[-1]} after {len(samples)} moves"
    )
    return _judge_growth(samples, growth, moves, most, sentence, f"; a site allows {most}")


def _judge_growth(
    samples: Sequence[int], growth: float, moves: int, most: int, sentence: str, loss: str
) -> tuple[str, bool]:
    """The sentence; with ``loss`` if the growth goes over ``most`` within so many moves."""
    is_lost = samples[-1] + growth * max(0, moves - len(samples)) > most
    return sentence + loss * is_lost, is_lost


def _steady_growth(samples: Sequence[float]) -> float:
    """The least growth a move in any third of the moves after the first quarter; 0 with few samples."""
    if len(samples) < LEAST_SAMPLES:
        return 0
    places = [len(samples) * quarter // 4 for quarter in (1, 2, 3)] + [len(samples) - 1]
    return min((samples[end] - samples[begin]) / (end - begin) for begin, end in pairwise(places))


def judge_log(stderr_bytes: int, moves: int, ply_limit: int) -> str | None:
    """Judge the amount of standard error in ``moves`` of its own moves, extrapolated to the ply limit."""
    expected = stderr_bytes * (ply_limit / 2) / moves if moves else 0
    if expected <= MAX_STDERR_BYTES:
        return None
    return (
        f"{stderr_bytes} bytes of standard error in {moves} moves: in a long game that would be over the "
        f"{MAX_STDERR_BYTES >> 20} MiB with which it loses"
    )


def explain_exception(stderr: str) -> str | None:
    """Advice on the last Python exception in standard error; None if there is none."""
    found = find_exception(stderr)
    return None if found is None else f"its Python program raised {found}: look there first"


def find_exception(stderr: str) -> str | None:
    """The last Python exception in standard error, and its place; None if there is none.

    The place is the line of the author's own code that is nearest to the exception.
    """
    frames: list[re.Match[str]] = []
    found = None
    for line in stderr.splitlines():
        if (frame := _FRAME.fullmatch(line)) is not None:
            frames.append(frame)
        elif frames and line[:1].strip():
            if _EXCEPTION.fullmatch(line):
                found = line, frames
            frames = []
    if found is None:
        return None
    said, frames = found
    own = [frame for frame in frames if not any(part in frame["file"] for part in _FOREIGN_FILES)]
    last = (own or frames)[-1]
    place = f"line {last['line']} of {visible(last['file'], _SHOWN)}"
    if last["function"] not in (None, "<module>"):
        place += f" ({visible(last['function'], _SHOWN)})"
    return f"{visible(said, _SHOWN)} in {place}"
