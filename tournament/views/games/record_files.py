"""The files of records that are downloaded whole: a ladder's and a tournament's.

A download is served from a file, so that it needs no thread and no snapshot of the database while its client
reads. Records never change, so a ladder's file only grows: the games since the last download are appended.
A tournament's file, in the order of its schedule, is written again when more games have been recorded. The
folder may be deleted at any time.
"""

from __future__ import annotations

import fcntl
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from engines.files import atomic_file
from tournament.models import Game, Ladder, Tournament
from tournament.services.file_states import FileState, delete_with_state, read_state, write_state
from tournament.services.results.record_texts import ladder_pages, tournament_pages
from tournament.views.downloads import PGN_TYPE, TEXT_TYPE, FileDownload, served_file

WRITING_SECONDS = 20.0
"""The longest time for which one request writes; the next one continues."""
REST = 10
"""The file of a running tournament is written again after this many times the time its writing took."""
UNUSED_SECONDS = 7 * 24 * 3600
"""Age at which a tournament's file is deleted; the next download writes it again."""
_WAIT = "This file is being written: try again in some seconds.\n"
MAX_WRITERS = 2
_writers = threading.BoundedSemaphore(MAX_WRITERS)
"""Writes at a time in this process, so that most threads stay free for other pages."""


class NotWritten(Exception):
    """The file is being written: ask again in some seconds."""


def served_records(request: HttpRequest, find: Callable[[], FileDownload], name: str) -> HttpResponseBase:
    """The file of records that ``find`` returns, or the part of it that the request asks for.

    While the file is being written, the response is 503, and browsers ask again by themselves.
    """
    try:
        return served_file(request, find(), name, PGN_TYPE)
    except NotWritten:
        headers = {"Retry-After": "5", "Refresh": "5"}
        return HttpResponse(_WAIT, content_type=TEXT_TYPE, status=503, headers=headers)


def _served(path: Path, state: FileState) -> FileDownload:
    if not state.is_complete:
        raise NotWritten
    return FileDownload(path, state.size, hashlib.sha256(state.key.encode()).hexdigest()[:16])


def ladder_file(code: str) -> FileDownload:
    """A ladder's records in the order of completion, up to date; raises ``NotWritten``."""
    path = settings.RECORDS / f"ladder-{code}.pgn"
    newest = Ladder.objects.values_list("sequence", flat=True).get(pk=code)
    state = read_state(path)
    if not (state.is_complete and state.last == newest and state.key == _ladder_key(code, newest)):
        with _sole_writer(path) as is_mine:
            if is_mine:
                _extend(path, code, newest)
        state = read_state(path)
    return _served(path, state)


def _ladder_key(code: str, sequence: int) -> str:
    """Identifies the game with this number, and so all before it: a database may be replaced by another."""
    row = Game.objects.filter(ladder_id=code, sequence=sequence).values_list("pk", "attempt", "finished_at")
    return " ".join(map(str, row.first() or ()))


def _extend(path: Path, code: str, newest: int) -> None:
    """Append the records up to number ``newest``; raises ``NotWritten`` if that takes too long."""
    deadline = time.monotonic() + WRITING_SECONDS
    state = read_state(path)
    if state.last > newest or state.key != _ladder_key(code, state.last):
        path.unlink(missing_ok=True)  # who reads the old file keeps it
        state = FileState()
    path.touch()
    with path.open("r+b") as file:
        file.truncate(state.size)
        file.seek(state.size)
        for last, texts in ladder_pages(code, state.last, newest):
            for text in texts:
                file.write(f"\n{text}".encode() if file.tell() else text.encode())
            file.flush()
            is_complete = state.is_complete or last == newest
            write_state(path, FileState(_ladder_key(code, last), last, file.tell(), is_complete))
            if last < newest and time.monotonic() > deadline:
                raise NotWritten
    if not newest:
        write_state(path, FileState(is_complete=True))


def tournament_file(tournament: Tournament) -> FileDownload:
    """A tournament's records in the order of its schedule; raises ``NotWritten``.

    While it runs, the newest games may be missing for ten times the time that writing the file takes.
    """
    path = settings.RECORDS / f"tournament-{tournament.pk}.pgn"
    state = read_state(path)
    key = f"{tournament.created_at} {tournament.games_done} {tournament.state}"
    if state.key != key and not _is_fresh(path, tournament, state):
        with _sole_writer(path) as is_mine:
            if is_mine:
                _delete_unused(path.parent)
                _replace(path, tournament, key)
        state = read_state(path)
    if not _is_of(state, tournament):
        raise NotWritten
    status = path.stat()  # the file may have been replaced since
    return FileDownload(path, status.st_size, f"{status.st_mtime_ns:x}")


def _is_fresh(path: Path, tournament: Tournament, state: FileState) -> bool:
    """Whether the file of a running tournament is too new to be written again."""
    if tournament.is_over or not _is_of(state, tournament):
        return False
    return time.time() - path.stat().st_mtime < REST * state.seconds


def _is_of(state: FileState, tournament: Tournament) -> bool:
    return state.key.startswith(f"{tournament.created_at} ")


def _replace(path: Path, tournament: Tournament, key: str) -> None:
    began = time.monotonic()
    with atomic_file(path, mode=0o600) as file:
        for texts in tournament_pages(tournament):
            for text in texts:
                file.write(f"\n{text}".encode() if file.tell() else text.encode())
    write_state(path, FileState(key, seconds=time.monotonic() - began))


@contextmanager
def _sole_writer(path: Path) -> Iterator[bool]:
    """Whether this thread may write the file: nobody else does, and not too many other files are written."""
    if not _writers.acquire(blocking=False):
        yield False
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
    finally:
        _writers.release()


def _delete_unused(folder: Path) -> None:
    """Delete the files of tournaments that were written long ago."""
    for path in folder.glob("tournament-*.pgn"):
        if time.time() - path.stat().st_mtime > UNUSED_SECONDS:
            delete_with_state(path)
