"""Makes the dumps of ladders in short steps: extends that of the running month, and makes others final.

A dump is made final when its month is over: its files get their names in the transaction that stores its
row. A keeper that is killed goes on, and the same state gives the same bytes. After annulments the games and
ratings are written again: other bytes are the next revision.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
from collections.abc import Generator, Iterator
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from engines.files import atomic_file
from engines.rules.registry import GAMES as LADDERS
from tournament import access
from tournament.models import Dump, Ladder
from tournament.models.dumps import DumpFile
from tournament.services.dumps.growing import MEMBER, SYNC_BYTES, grow_games, grow_records
from tournament.services.dumps.months import (
    GAMES,
    RATINGS,
    RECORDS,
    DumpMonth,
    newest_dumps,
    running_month,
)
from tournament.services.dumps.ratings import ratings_text
from tournament.services.file_states import delete_with_state, read_state
from tournament.services.locks import lock
from tournament.services.signing import sign
from tournament.services.stepwise import StepwiseMaker

CORRECTED = "Games of this month were annulled, or count again."
RATED = "Ratings changed, because games of an earlier month were annulled or count again."
REMADE = "The files were lost, and made again with other bytes."

log = logging.getLogger("tournament.dumps")
Files = dict[str, DumpFile]


class DumpMaker(StepwiseMaker[DumpMonth]):
    """Makes the dumps that are due."""

    log = log

    def due(self) -> Iterator[DumpMonth]:
        return due_months(timezone.now())

    def begin(self, key: DumpMonth) -> Iterator[None]:
        return make(key, timezone.now())


def due_months(now: datetime.datetime) -> Iterator[DumpMonth]:
    """Final months whose files are lost or of before an annulment, and running ones with new games."""
    for ladder in Ladder.objects.order_by("code"):
        if not ladder.sequence or ladder.is_outdated or ladder.code not in LADDERS:
            continue
        for row in newest_dumps(ladder.code):
            if row.corrected != ladder.revision or not row.is_stored:
                yield DumpMonth(ladder.code, row.month, ladder.revision, row.after, row)
        month = running_month(ladder, now)
        if month is not None and (now >= month.end or _is_behind(month, ladder)):
            yield month


def _is_behind(month: DumpMonth, ladder: Ladder) -> bool:
    """Whether there are games for another member, or the table lacks a member or corrections."""
    records, games = read_state(month.draft(RECORDS)), read_state(month.draft(GAMES))
    if records.games - games.games >= MEMBER or (games.last and games.key != month.games_key(games.last)):
        return True
    last = records.last or month.after
    if ladder.sequence - last < MEMBER:  # with games that are in no dump
        return False
    return access.public_records(ladder.code).filter(game__sequence__gt=last)[MEMBER - 1 : MEMBER].exists()


def make(month: DumpMonth, now: datetime.datetime) -> Iterator[None]:
    """Extend the files of a month; if it is over, store its row. Pauses after each chunk."""
    known = month.final
    records, files = f"{month.name}{RECORDS}", Files()
    if known is not None and known.has_file(records):  # records never change
        files[records], endings = known.files[records], [GAMES, RATINGS]
        last, is_over = known.last, True
    else:
        yield from grow_records(month, now)
        endings = [RECORDS, GAMES, RATINGS]
        state = read_state(month.draft(RECORDS))
        last, is_over = state.last, state.is_complete
    yield from grow_games(month, last, is_over=is_over)
    if not is_over:
        return
    text = yield from ratings_text(month.code, last)
    with atomic_file(month.draft(RATINGS)) as file:
        file.write(text.encode())
    for ending in endings:
        files[f"{month.name}{ending}"] = yield from _measured(month.draft(ending))
    games = read_state(month.draft(GAMES)).games
    _store(month, _row(month, files, last=last, games=games), endings)
    _delete_old(month)


def _measured(path: Path) -> Generator[None, None, DumpFile]:
    """The SHA-256 and the bytes of a file; pauses after each chunk."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(SYNC_BYTES):
            digest.update(chunk)
            size += len(chunk)
            yield
    return {"sha256": digest.hexdigest(), "size": size}


def _row(month: DumpMonth, files: Files, *, last: int, games: int) -> Dump:
    """The next revision, with its signed list."""
    known = month.final
    revision = known.revision + 1 if known else 1
    reason = _reason(known, files, month.corrected) if known else ""
    head = f"# {month.name} of {settings.SITE}, revision {revision}"
    if known:
        head += f", after that with SHA-256 {hashlib.sha256(known.listing.encode()).hexdigest()}: {reason}"
    lines = [head, *(f"{file['sha256']}  {name}" for name, file in files.items())]
    listing = "".join(f"{line}\n" for line in lines)
    return Dump(
        ladder_id=month.code,
        month=month.month,
        revision=revision,
        reason=reason,
        after=month.after,
        last=last,
        games=games,
        corrected=month.corrected,
        files=files,
        listing=listing,
    )


def _reason(known: Dump, files: Files, corrected: int) -> str:
    """Why the files differ from those of the revision before."""
    if known.corrected == corrected or files[(records := f"{known.name}{RECORDS}")] != known.files[records]:
        return REMADE
    games = f"{known.name}{GAMES}"
    return RATED if files[games] == known.files[games] else CORRECTED


@transaction.atomic
def _store(month: DumpMonth, row: Dump, made: list[str]) -> None:
    """Give the files that were made their names and store the row; nothing if games were annulled since.

    The same bytes are no new revision.
    """
    (ladder,) = lock(Ladder.objects.filter(pk=month.code))
    if ladder.revision != month.corrected:
        return
    for ending in made:
        path = row.path(f"{month.name}{ending}")
        path.parent.mkdir(exist_ok=True)
        month.draft(ending).replace(path)
    for ending in (RECORDS, GAMES, RATINGS):
        delete_with_state(month.draft(ending))
    known = month.final
    if known is not None and known.files == row.files:
        Dump.objects.filter(pk=known.pk).update(corrected=row.corrected)
        return
    row.made_at = timezone.now()
    row.signature = sign(row.listing.encode()).decode()
    row.save()
    log.info("the dump %s is made, %d games", row, row.games)


def _delete_old(month: DumpMonth) -> None:
    """Delete the files of older revisions that the newest does not have. May be repeated."""
    revisions = list(Dump.objects.filter(ladder=month.code, month=month.month))
    for row in revisions[1:]:
        for name, file in row.files.items():
            if file != revisions[0].files[name]:
                row.path(name).unlink(missing_ok=True)
