"""Files of games that grow by members of gzip: the same games always give the same bytes."""

from __future__ import annotations

import datetime
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db.models import QuerySet
from msgspec.structs import astuple

from tournament import access
from tournament.models import GameRecord
from tournament.rows.fields import csv_text
from tournament.rows.games import GameRow, game_rows
from tournament.services.dumps.months import GAMES, RECORDS, DumpMonth
from tournament.services.file_states import FileState, delete_with_state, read_state, write_state

MEMBER = 100
"""Games of a member; the last one of a month has the rest."""
SYNC_BYTES = 8 << 20
"""Bytes after which a file is written to the disk."""
LEVEL = 6


@dataclass(frozen=True, slots=True)
class Member:
    """The next games of a file."""

    last: int
    """The completion sequence of the last one."""
    games: int
    text: str
    is_last: bool


def grow_records(month: DumpMonth, now: datetime.datetime) -> Iterator[None]:
    """Append the records that make whole members, and the others once the month is over."""

    def members(state: FileState) -> Iterator[Member]:
        begin = state.last or month.after
        found = _records(month, begin).values_list("game__sequence", "game__finished_at", "text")
        rows: list[Any] = list(found[:MEMBER])
        is_mine = _is_before_end(month, now)
        mine = list(takewhile(lambda row: is_mine(row[0], row[1]), rows))
        is_last = len(mine) < MEMBER
        if not is_last or month.final or now >= month.end:
            last = mine[-1][0] if mine else begin
            text = "\n".join(text for *_, text in mine)
            yield Member(last, len(mine), f"\n{text}" if state.size and text else text, is_last)

    return _grow(month.draft(RECORDS), month.records_key, members)


def _is_before_end(month: DumpMonth, now: datetime.datetime) -> Callable[[int, datetime.datetime], bool]:
    """Whether a game, by number and end, is before the end of the month.

    A final month stays as it was. An end in the future comes from a worker's wrong clock.
    """
    if month.final is not None:
        last = month.final.last
        return lambda number, _: number <= last
    return lambda _, ended: not month.end <= ended <= now


def grow_games(month: DumpMonth, newest: int, *, is_over: bool) -> Iterator[None]:
    """Append the rows of the games up to this number, in members as of the records."""

    def members(state: FileState) -> Iterator[Member]:
        begin = state.last or month.after
        found = _records(month, begin).filter(game__sequence__lte=newest)
        rows: list[Any] = list(found.values_list("game__sequence", "game")[:MEMBER])
        if len(rows) < MEMBER and not is_over:
            return
        values = [astuple(row) for row in game_rows(settings.SITE, [pk for _, pk in rows])]
        head = [] if state.size else [GameRow.__struct_fields__]
        last = rows[-1][0] if rows else begin
        yield Member(last, len(rows), csv_text([*head, *values]), len(rows) < MEMBER)

    return _grow(month.draft(GAMES), month.games_key, members)


def _records(month: DumpMonth, last: int) -> QuerySet[GameRecord]:
    return access.public_records(month.code).filter(game__sequence__gt=last)


def _grow(
    path: Path, key: Callable[[int], str], members: Callable[[FileState], Iterator[Member]]
) -> Iterator[None]:
    """Append members until there is none or the last one is there; pauses after each.

    Begins again if the file holds something else than these games.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    state = read_state(path)
    if state.key != key(state.last):
        delete_with_state(path)  # who reads the old file keeps it
        state = FileState()
    path.touch()
    stored = state
    with path.open("r+b") as file:
        file.truncate(state.size)
        file.seek(state.size)
        while not state.is_complete and (member := next(members(state), None)):
            if member.text:
                file.write(gzip.compress(member.text.encode(), LEVEL, mtime=0))
            games = state.games + member.games
            state = FileState(state.key, member.last, file.tell(), member.is_last, games=games)
            if state.size > stored.size + SYNC_BYTES:
                stored = _store(path, file, state, key)
            yield
        if state != stored:
            _store(path, file, state, key)


def _store(path: Path, file: BinaryIO, state: FileState, key: Callable[[int], str]) -> FileState:
    file.flush()
    os.fsync(file.fileno())
    write_state(path, replace(state, key=key(state.last)))
    return state
