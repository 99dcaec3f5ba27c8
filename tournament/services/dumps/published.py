"""The dumps of a ladder as its page and the API show them, and their files by name."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from tournament.models import Dump, Ladder
from tournament.services.dumps.months import GAMES, GROWING, RATINGS, RECORDS, DumpMonth, running_month
from tournament.services.file_states import read_state

LIST, SIGNATURE = "-sha256.txt", ".sig"
ENDINGS = (RECORDS, GAMES, RATINGS)
_LIST = re.compile(r"-sha256(?:-([1-9][0-9]{0,8}))?\.txt(\.sig)?")


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file of a dump."""

    name: str
    size: int
    sha256: str = ""
    """Empty while it grows."""
    is_served: bool = True
    """Not if a later revision has another one of its name."""


@dataclass(frozen=True, slots=True)
class PublishedDump:
    """A revision of the dump of a month; of the running one without a revision."""

    month: datetime.date
    games: int
    files: tuple[PublishedFile, ...]
    revision: int | None = None
    reason: str = ""
    made_at: datetime.datetime | None = None
    list_name: str = ""
    """That of its list; ``.sig`` follows in that of the signature."""


def published_dumps(code: str) -> list[PublishedDump]:
    """All dumps of a ladder, the newest month and revision first."""
    running = running_month(Ladder.objects.get(pk=code), timezone.now())
    return [*(_running(running) if running else ()), *_final(code)]


def _running(month: DumpMonth) -> Iterator[PublishedDump]:
    """The month that is not final, if it has files."""
    states = {ending: read_state(month.draft(ending)) for ending in (RECORDS, GAMES)}
    files = tuple(PublishedFile(f"{month.name}{ending}", one.size) for ending, one in states.items())
    if all(one.size for one in files):
        yield PublishedDump(month.month, states[RECORDS].games, files)


def _final(code: str) -> Iterator[PublishedDump]:
    newest: Dump | None = None
    for row in Dump.objects.filter(ladder=code):
        if newest is None or newest.month != row.month:
            newest = row
        files = []
        for name in (f"{row.name}{ending}" for ending in ENDINGS):
            file = row.files[name]
            files.append(PublishedFile(name, file["size"], file["sha256"], file == newest.files[name]))
        number = "" if row is newest else f"-{row.revision}"
        list_name = f"{row.name}-sha256{number}.txt"
        yield PublishedDump(
            row.month, row.games, tuple(files), row.revision, row.reason, row.made_at, list_name
        )


def find_file(code: str, name: str) -> tuple[Path, int, str] | str | None:
    """The text of a list or a signature, or the path, the size and a tag of another file; None without one.

    The list without a number is that of the newest revision.
    """
    found = re.fullmatch(rf"{re.escape(code)}-([0-9]{{4}})-(0[1-9]|1[0-2])([-.].+)", name)
    if found is None or found[1] == "0000":
        return None
    ending = found[3]
    revisions = Dump.objects.filter(ladder=code, month=datetime.date(int(found[1]), int(found[2]), 1))
    if (of_list := _LIST.fullmatch(ending)) is not None:
        row = (revisions.filter(revision=of_list[1]) if of_list[1] else revisions).first()
        return None if row is None else row.signature if of_list[2] else row.listing
    if ending not in ENDINGS:
        return None
    if (row := revisions.first()) is not None:
        file = row.files[name]
        return row.path(name), file["size"], file["sha256"][:16]
    path = settings.DUMPS / GROWING / name
    state = read_state(path)
    tag = hashlib.sha256(state.key.encode()).hexdigest()[:16]
    return (path, state.size, tag) if state.size else None
