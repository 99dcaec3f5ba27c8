"""The rows that the evidence of tournaments and of ladders share, read in pages of a few hundred."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from engines.evidence.format import (
    FORMAT,
    AttemptEnd,
    CorrectionEffect,
    EventState,
    EvidenceAttempt,
    EvidenceCorrection,
    EvidenceEvent,
    EvidenceFile,
    EvidenceGame,
    EvidenceKind,
    EvidenceManifest,
    EvidenceState,
    EvidenceVersion,
    EvidenceWorker,
    write_line,
)
from engines.records import Fault
from engines.release import RELEASE
from tournament.models import Attempt, BotVersion, Bundle, Evidence, Game, Tournament, Worker
from tournament.models.games import GameQuerySet
from tournament.services.evidence.tables import name_of
from workers.jobs import name_of as name_of_worker

PAGE = 500
"""Rows of one query, and of one chunk."""
CHUNK = 1 << 20
"""Bytes of a bundle that are copied at once."""
_GAME = (
    *("key", "tournament__slug", "ladder", "pairing__round", "pairing__number", "number", "white", "black"),
    *("pairing__seed", "pairing__opening", "pairing__fen", "state", "sequence", "fault", "evidence"),
    *("annulled", "rated", "played_by__name", "started_at", "finished_at"),
)
_STATES = {
    Game.State.DONE: EvidenceState.DONE,
    Game.State.HALTED: EvidenceState.HALTED,
    Game.State.CANCELLED: EvidenceState.CANCELLED,
}
Names = Mapping[int, str]
"""Versions by id."""


def in_lines(rows: Iterable[object]) -> Iterator[bytes]:
    """Lines of JSON in chunks of ``PAGE``."""
    lines: list[bytes] = []
    for row in rows:
        lines.append(write_line(row))
        if len(lines) == PAGE:
            yield b"".join(lines)
            lines.clear()
    yield b"".join(lines)


def as_moment(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat()


def next_row(previous: Evidence | None, reason: str, **columns: Any) -> Evidence:
    """The row of the revision after ``previous``, without what is known only of its archive.

    ``reason`` is why there is another than the first.
    """
    if previous is None:
        return Evidence(revision=1, **columns)
    return Evidence(revision=previous.revision + 1, reason=reason, **columns)


def manifest_of(
    row: Evidence, previous: Evidence | None, files: Mapping[str, EvidenceFile], *, at: datetime.datetime
) -> EvidenceManifest:
    """The manifest of the revision ``row``, whose subject last changed ``at``."""
    subject = row.tournament or row.ladder
    assert subject is not None
    return EvidenceManifest(
        evidence=FORMAT,
        kind=EvidenceKind.TOURNAMENT if row.tournament else EvidenceKind.LADDER,
        site=settings.SITE,
        name=subject.slug if isinstance(subject, Tournament) else subject.code,
        title=subject.name,
        revision=row.revision,
        previous=previous.manifest_sha256 if previous else None,
        reason=row.reason,
        at=as_moment(at),
        release=RELEASE,
        files=files,
    )


def event_of(tournament: Tournament, names: Names) -> EvidenceEvent:
    """The terms of a tournament."""
    return EvidenceEvent(
        name=tournament.slug,
        title=tournament.name,
        format=tournament.kind,
        state=EventState(tournament.state),
        ladders=tuple(tournament.ladders),
        seed=tournament.seed,
        pairs=tournament.pairs,
        rounds=tournament.rounds,
        extra_pairs=tournament.extra_pairs,
        opening_plies=tournament.opening_plies,
        book={code: tuple(lines) for code, lines in tournament.book.items()},
        time_control=tournament.time_control,
        ply_limit=tournament.ply_limit,
        rated=tournament.rated,
        off_terms=tournament.off_terms,
        rated_off_terms=tournament.rated_off_terms,
        seeds={code: _named(ids, names) for code, ids in tournament.seeds.items()},
        absent={
            code: {number: _named(ids, names) for number, ids in rounds.items()}
            for code, rounds in tournament.absent.items()
        },
        criteria=tuple(criterion.name.lower() for criterion in tournament.format.order),
        started=as_moment(tournament.started_at) if tournament.started_at else None,
        finished=as_moment(tournament.finished_at) if tournament.finished_at else None,
    )


def _named(ids: Iterable[int], names: Names) -> tuple[str, ...]:
    return tuple(names[pk] for pk in ids)


def version_rows(versions: Iterable[BotVersion], published: Collection[str]) -> Iterator[EvidenceVersion]:
    """Of versions with their bots, owners and bundles; ``published`` are the bundles that are included."""
    for version in sorted(versions, key=lambda one: (one.bot.name, one.number)):
        yield EvidenceVersion(
            version=name_of(version),
            owner=version.bot.owner.username if version.bot.owner else None,
            bundle_sha256=version.bundle_id,
            bytes=version.bundle.size,
            published=version.bundle_id in published,
            licence=version.licence,
        )


def published_among(versions: Iterable[BotVersion]) -> list[str]:
    """The bundles of those that everybody may download, and that are there, in order."""
    shown = BotVersion.objects.published().filter(pk__in=[version.pk for version in versions])
    bundles = Bundle.objects.filter(versions__in=shown).distinct()
    return sorted(bundle.sha256 for bundle in bundles if bundle.path.exists())


def game_rows(games: GameQuerySet, names: Names, order: str, played: Counter[str]) -> Iterator[EvidenceGame]:
    """In the order of ``pk`` or ``sequence``; counts the games of each worker in ``played``."""
    last, columns = 0, games.order_by(order).values_list(order, *_GAME)
    while rows := list(columns.filter(**{f"{order}__gt": last})[:PAGE]):
        last = rows[-1][0]
        for _, *values in rows:
            row = _game(names, *values)
            if row.worker:
                played[row.worker] += 1
            yield row


def _game(names: Names, *values: Any) -> EvidenceGame:
    (
        key, event, ladder, round_number, pairing, number, white, black, seed, opening, position,
        state, sequence, fault, evidence, annulled, rated, worker, started, finished,
    ) = values  # fmt: skip
    is_halted, is_done = state == Game.State.HALTED, state == Game.State.DONE
    return EvidenceGame(
        game=key,
        event=event,
        ladder=ladder,
        round=round_number,
        pairing=pairing,
        number=number,
        white=names[white],
        black=names[black],
        seed=seed,
        opening=opening,
        position=position,
        state=_STATES.get(state, EvidenceState.WAITING),
        sequence=sequence,
        fault=fault if is_halted and fault in {Fault.WHITE, Fault.BLACK} else "",
        reason=evidence if is_halted else "",
        annulled=annulled,
        rated=rated,
        worker=worker or "",
        started=as_moment(started) if is_done and started else None,
        finished=as_moment(finished) if is_done and finished else None,
    )


def attempt_chunks(games: GameQuerySet, order: str) -> Iterator[bytes]:
    """The lines of all attempts without a result, in the order of their ends.

    ``order`` is ``pk`` or ``sequence``, by which the games are read.
    """
    rows: list[tuple[datetime.datetime, str, EvidenceAttempt]] = []
    last, columns_of_games = 0, games.order_by(order).values_list(order, "pk", "key")
    while page := list(columns_of_games.filter(**{f"{order}__gt": last})[:PAGE]):
        last, keys = page[-1][0], {pk: key for _, pk, key in page}
        failed = Attempt.objects.filter(game__in=keys, end__in=[Attempt.End.VOID, Attempt.End.LOST])
        columns = ("pk", "game", "end", "evidence", "ended_at", "worker", "job__worker")
        for pk, game, end, reason, at, slot, worker in failed.values_list(*columns):
            name = name_of_worker(slot) or worker or ""
            row = EvidenceAttempt(keys[game], AttemptEnd(end), reason, as_moment(at), name)
            rows.append((at, str(pk), row))
        yield b""
    yield from in_lines(row for *_, row in sorted(rows, key=lambda one: one[:2]))


def correction_rows(games: GameQuerySet, order: str) -> Iterator[EvidenceCorrection]:
    """As published, in the order of ``pk`` or ``sequence`` of the games."""
    chosen = games.filter(correction__isnull=False).order_by(order)
    columns = ("key", "correction__effect", "correction__reason", "correction__at")
    last = 0
    while rows := list(chosen.filter(**{f"{order}__gt": last}).values_list(order, *columns)[:PAGE]):
        last = rows[-1][0]
        for _, key, effect, reason, at in rows:
            yield EvidenceCorrection(key, CorrectionEffect(effect), reason, as_moment(at))


def worker_rows(played: Mapping[str, int]) -> Iterator[EvidenceWorker]:
    known = {
        name: (release, level)
        for name, release, level in Worker.objects.filter(name__in=played).values_list(
            "name", "version", "level"
        )
    }
    for name in sorted(played):
        yield EvidenceWorker(name, *known.get(name, ("", "")), played[name])


def record_chunks(pages: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Records with an empty line between them."""
    is_first = True
    for texts in pages:
        content = "\n".join(texts)
        if content:
            yield (content if is_first else f"\n{content}").encode()
            is_first = False


def bundle_chunks(sha256: str) -> Iterator[bytes]:
    """The content of a bundle."""
    with Bundle(sha256=sha256).path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
