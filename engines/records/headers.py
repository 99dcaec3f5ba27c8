"""Checks the headers of a record against each other and against the number of moves, without a replay.

The writer refuses a record at the first disagreement; the verifier lists all and then replays the moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engines.records.model import REQUIRED, Record
from engines.rules.base import MAX_NUMBER, OtherRules, PositionError, Reason, Result, Side, UnknownGame, quote
from engines.rules.history import History
from engines.rules.registry import GAMES, find_game
from engines.terminations import Fault, Termination
from engines.timecontrol import TimeControl, TimeControlError, parse_time_control

SIDE_CONTROLS = ("WhiteTimeControl", "BlackTimeControl")
"""The headers of a game in which the players have different time controls."""

FIRST_RULES = 1
"""The version of the rules of records without the header RulesVersion."""

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An error in a record; ``line`` is 0 if it belongs to no line."""

    field: str
    sentence: str
    line: int = 0


def start_history(record: Record) -> History:
    """The game of ``record`` before its first move, with the match rules it was played under.

    Raises ``RulesError`` for an unknown game, another version of its rules, or an invalid position or ply
    limit.
    """
    check_rules_version(record)
    game = find_game(record.header("Game"))
    start = game.position.parse(record.header("FEN")) if record.has("FEN") else None
    limit = record.header("PlyLimit")
    return History(game, start, int(limit) if _is_ply_limit(limit) else None)


def check_rules_version(record: Record) -> None:
    """Raises ``OtherRules`` for a game that was played by other rules than those of this program."""
    stated = record.header("RulesVersion", str(FIRST_RULES))
    game = GAMES.get(record.header("Game"))
    if game is not None and stated != str(game.rules_version):
        raise OtherRules(
            f"the game was played by version {quote(stated)} of the rules of {game.name},"
            f" and this program has version {game.rules_version}: it cannot be checked"
        )


def side_controls(record: Record) -> tuple[TimeControl, TimeControl]:
    """White's and Black's time control; raises ``TimeControlError``."""
    shared = record.header("TimeControl")
    white, black = (parse_time_control(record.header(name, shared)) for name in SIDE_CONTROLS)
    return white, black


def check_headers(record: Record) -> Iterator[Disagreement]:
    """All disagreements between headers, in the order of the headers.

    For a game played by another version of the rules this is the only one.
    """
    try:
        check_rules_version(record)
    except OtherRules as error:
        yield Disagreement("RulesVersion", str(error))
        return
    for name in REQUIRED:
        if not record.has(name):
            yield Disagreement(name, f"header {name} is missing")
    yield from _check_game(record)
    yield from _check_numbers(record)
    yield from _check_end(record)


def _wrong(record: Record, name: str, why: str) -> Disagreement:
    value = quote(record.header(name)) if record.has(name) else "missing"
    return Disagreement(name, f"header {name} is {value}{why}")


def _check_game(record: Record) -> Iterator[Disagreement]:
    try:
        start_history(record)
    except UnknownGame as error:
        if record.has("Game"):
            yield Disagreement("Game", f"header Game: {error}")
    except PositionError as error:
        yield Disagreement("FEN", f"header FEN: {error}")
    set_up = record.header("SetUp", "0")
    if set_up not in ("0", "1") or (set_up == "1") != record.has("FEN"):
        yield _wrong(record, "SetUp", ': it must be "1" if FEN is given, and "0" or missing otherwise')
    if record.has("TimeControl"):
        try:
            parse_time_control(record.header("TimeControl"))
        except TimeControlError as error:
            yield Disagreement("TimeControl", f"header TimeControl: {error}")


def _check_numbers(record: Record) -> Iterator[Disagreement]:
    plies = len(record.moves)
    if record.header("PlyCount", str(plies)) != str(plies):
        yield _wrong(record, "PlyCount", f", but there are {plies} moves")
    if record.has("PlyLimit") and not _is_ply_limit(record.header("PlyLimit")):
        yield _wrong(record, "PlyLimit", f": not a number from 1 to {MAX_NUMBER}")
    marked = _count_book(record)
    if marked is None:
        yield Disagreement("OpeningPlies", "there is a book move after a move that was chosen")
    elif record.header("OpeningPlies", "0") != str(marked):
        yield _wrong(record, "OpeningPlies", f", but there are {marked} book moves")


def _is_ply_limit(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and text != "0"


def _count_book(record: Record) -> int | None:
    """The number of book moves at the start; None if there is a later one."""
    book = [move.book for move in record.moves]
    count = sum(book)
    return count if all(book[:count]) else None


def _check_end(record: Record) -> Iterator[Disagreement]:
    """Check that result, termination and fault are compatible."""
    if record.header("Result", record.result) != record.result:
        yield _wrong(record, "Result", f", but the moves end with {str(record.result)!r}")
    termination, fault = find_termination(record), find_fault(record)
    if record.header("Termination") == UNTERMINATED:
        if record.result is not Result.UNDECIDED:
            yield _wrong(record, "Termination", f", but the result is {str(record.result)!r}")
        if record.header("Fault", Fault.NONE) != Fault.NONE:
            yield _wrong(record, "Fault", ", but the game goes on")
        return
    for name, value in (("Termination", termination), ("Fault", fault)):
        if record.has(name) and value is None:
            yield _wrong(record, name, ": it is not a known value")
    if termination is not None:
        yield from _check_reason(record, termination)
        if (record.result is Result.UNDECIDED) != (termination is Termination.VOID):
            sentence = (
                f"the result {str(record.result)!r} is impossible with termination {str(termination)!r}"
            )
            yield Disagreement("Result", sentence)
        if fault is not None:
            yield from _check_fault(record.result, termination, fault)


def find_termination(record: Record) -> Termination | None:
    """The value of the header; None if it is missing or unknown."""
    return _TERMINATIONS.get(record.header("Termination"))


def find_fault(record: Record) -> Fault | None:
    """The value of the header; None if it is missing or unknown."""
    return _FAULTS.get(record.header("Fault"))


UNTERMINATED = "unterminated"
"""The termination of a record of a game that goes on; the word of PGN."""
_TERMINATIONS: dict[str, Termination] = {word.value: word for word in Termination}
_FAULTS: dict[str, Fault] = {word.value: word for word in Fault}
MATCH_REASONS = {Termination.REPETITION: Reason.REPETITION, Termination.PLY_LIMIT: Reason.PLY_LIMIT}
"""Terminations by the match rules, with their reasons."""


def _check_reason(record: Record, termination: Termination) -> Iterator[Disagreement]:
    reason = record.header("Reason")
    if termination is Termination.RULES:
        if not reason:
            yield Disagreement("Reason", "header Reason is missing, though the rules ended the game")
    elif reason != MATCH_REASONS.get(termination, "") and record.has("Reason"):
        yield _wrong(record, "Reason", f", but the termination is {str(termination)!r}")


def _check_fault(result: Result, termination: Termination, fault: Fault) -> Iterator[Disagreement]:
    if termination.is_forfeit:
        if not any(fault is Fault.of(side) and result is Result.win_for(side.other) for side in Side):
            yield Disagreement(
                "Fault",
                f"a forfeit by {str(termination)!r} with fault {str(fault)!r} cannot have "
                f"the result {str(result)!r}",
            )
        return
    expected = Fault.INFRASTRUCTURE if termination is Termination.VOID else Fault.NONE
    if fault is not expected:
        sentence = (
            f"header Fault is {str(fault)!r}, but termination {str(termination)!r} means {str(expected)!r}"
        )
        yield Disagreement("Fault", sentence)
