"""Correct records of random games, for tests that change, write, read and verify them."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engines.records import (
    Fault,
    Record,
    RecordEvent,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    read_records,
)
from engines.rules import GAMES, History
from engines.rules.base import Reason, Result

_BY_REASON = {Reason.REPETITION: Termination.REPETITION, Reason.PLY_LIMIT: Termination.PLY_LIMIT}


@functools.cache
def random_moves(code: str, seed: int) -> tuple[str, ...]:
    """The moves of a random game to its end."""
    rng = random.Random(seed)
    history = History(GAMES[code])
    while not history.outcome.decided:
        *_, token = itertools.islice(history.position.legal_moves(), rng.randrange(1, 40))
        history.play(token)
    return tuple(history.moves)


def finished_record(code: str, number: int = 1, **more: Any) -> Record:
    """The first, second, … random game that its rules ended."""
    ended = (
        record
        for seed in itertools.count(1)
        if (record := record_of(code, random_moves(code, seed), **more)).header("Termination") == "rules"
    )
    return next(itertools.islice(ended, number - 1, None))


def record_of(
    code: str,
    moves: tuple[str, ...],
    *,
    fen: str | None = None,
    ply_limit: int | None = None,
    book: int = 0,
    termination: Termination | None = None,
    **more: Any,
) -> Record:
    """A record of ``moves`` that agrees with itself; an undecided game is resigned unless told otherwise."""
    game = GAMES[code]
    history = History(game, None if fen is None else game.position.parse(fen), ply_limit)
    for token in moves:
        history.play(token)
    outcome, loser = history.outcome, history.position.side
    if outcome.decided:
        termination = _BY_REASON.get(outcome.reason, Termination.RULES)
    termination = termination or Termination.RESIGNATION
    result = outcome.result if outcome.decided else Result.win_for(loser.other)
    fields: dict[str, Any] = {
        "game": code,
        "white": "Stone Age",
        "black": 'The "Quoted" \\ Bot',
        "result": result,
        "termination": termination,
        "reason": outcome.reason,
        "fault": Fault.of(loser) if termination.is_forfeit else Fault.NONE,
        "time_control": "60+0.5",
        "white_version": "1",
        "black_version": "2",
        "game_id": "spring/1/4/1",
        "date": "2026.11.21",
        "fen": fen,
        "ply_limit": ply_limit,
        "white_score": outcome.white_score,
        "black_score": outcome.black_score,
    }
    further = more.pop("more", ())
    fields |= more
    groups = [_taken(group, fields) for group in (RecordPlayers, RecordSettings, RecordOutcome, RecordEvent)]
    assert not fields, f"no header is made of {fields}"
    players, settings, ending, event = groups
    played = [RecordMove(token, book=ply < book) for ply, token in enumerate(moves)]
    return build_record(played, players=players, settings=settings, outcome=ending, event=event, more=further)


def _taken(group: Any, fields: dict[str, Any]) -> Any:
    """A group of values made of those fields that it has, which are taken out."""
    names = [name for name in group._fields if name in fields]
    return group(**{name: fields.pop(name) for name in names})


def with_headers(record: Record, changes: Mapping[str, str | None]) -> Record:
    """The record with headers changed or added, or left out where the value is None."""
    headers = {**dict(record.headers), **changes}
    kept = tuple((name, value) for name, value in headers.items() if value is not None)
    return replace(record, headers=kept)


def read_text(text: str) -> list[Record | Exception]:
    return list(read_records(text.splitlines(keepends=True), "games.pgn"))


def read_one(text: str) -> Record:
    (record,) = read_text(text)
    assert isinstance(record, Record), record
    return record
