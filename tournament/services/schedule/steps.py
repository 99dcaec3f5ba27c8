"""Large changes of a schedule in steps, each a short transaction; the beat takes those that are left.

SQLite lets one transaction write at a time: a change of 100,000 games at once makes all others wait for
seconds. A step is deleted in the transaction that takes it. So a process that is killed leaves it to the
next beat, and no game is made twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from django.db import transaction
from django.db.models import F, Min

from tournament.models import Attempt, BotVersion, Game, ScheduleStep, Tournament
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.locks import lock_tournament
from tournament.services.schedule.pairings import (
    PlannedPairing,
    entered_versions,
    insert_pairings,
    plan_cycles,
    store_pairings,
)
from tournament.services.schedule.terms import meetings, players_of
from tournament.services.schedule.walkovers import give_to_opponents
from tournament.services.stopping import end_attempts

PAIRINGS_A_STEP = 1_000
GAMES_A_STEP = GAMES_A_PAIR * PAIRINGS_A_STEP
"""A tenth of a second on SQLite: other writers wait no longer for one step."""
Kind = ScheduleStep.Kind


def queue_cycles(tournament: Tournament, first: int, cycles: int) -> None:
    """Have the games of ``cycles`` cycles made; ``first`` counts from 0.

    Part of the transaction that locks the tournament. Call ``take_steps_of`` after it.
    """
    players = players_of(entered_versions(tournament), tournament.ladders).values()
    met = sum(meetings(tournament.kind, len(entered)) for entered in players)
    games = GAMES_A_PAIR * cycles * met
    tournament.steps.create(kind=Kind.PLAN, first_cycle=first, cycles=cycles, games=games)
    _add_games(tournament, games)


def schedule_pairings(tournament: Tournament, planned: Sequence[PlannedPairing]) -> None:
    """Store the pairings of a round with their games, or have them stored in steps if they are many.

    Part of the transaction that locks the tournament.
    """
    if len(planned) <= PAIRINGS_A_STEP:
        store_pairings(tournament, planned, GAMES_A_PAIR)
        _end_games_of_withdrawn(planned)
    else:
        _queue(tournament, _packed(planned))
        _add_games(tournament, GAMES_A_PAIR * len(planned))


def cancel_games(tournament: Tournament, now: datetime) -> None:
    """Stop the games that are played and cancel those that wait, many of them in steps.

    Part of the transaction that has cancelled the tournament.
    """
    end_attempts(Attempt.objects.filter(game__tournament=tournament), Attempt.End.CANCELLED, now)
    tournament.steps.all().delete()
    if not _cancel_some(tournament):
        tournament.steps.create(kind=Kind.CANCEL)


def games_to_make(tournament: Tournament) -> int:
    """How many of the tournament's games are not made yet."""
    return sum(tournament.steps.values_list("games", flat=True))


def first_steps() -> Iterator[ScheduleStep]:
    """The first step of each tournament that has any, the oldest first."""
    firsts = ScheduleStep.objects.filter(tournament__isnull=False).values("tournament")
    of_tournaments = firsts.annotate(first=Min("id")).values_list("first", flat=True)
    of_versions = ScheduleStep.objects.filter(tournament__isnull=True).values_list("id", flat=True)
    for pk in sorted([*of_tournaments, *of_versions]):
        if step := ScheduleStep.objects.select_related("tournament").filter(pk=pk).first():
            yield step


def take_steps_of(tournament: Tournament) -> None:
    """Take the first steps at once, so that a small schedule is complete; outside a transaction.

    Raises ``TournamentError`` if its openings cannot be drawn.
    """
    steps = tournament.steps.select_related("tournament")
    while (step := steps.order_by("id").first()) and take_step(step) and step.kind == Kind.PLAN:
        pass


def take_step(step: ScheduleStep) -> bool:
    """Take a step; False if it was taken already. Raises ``TournamentError`` as ``take_steps_of`` does."""
    match step.kind:
        case Kind.PLAN:
            return _plan(step)
        case Kind.STORE:
            return _store(step)
        case Kind.CANCEL:
            return _cancel(step)
        case _:
            return _withdraw(step)


def _plan(step: ScheduleStep) -> bool:
    """Draw the pairings, which takes up to seconds, before the transaction begins."""
    assert step.tournament is not None
    parts = _packed(plan_cycles(step.tournament, step.first_cycle, step.cycles))
    with transaction.atomic():
        tournament = _begin(step)
        if tournament is None:
            return False
        if len(parts) == 1 and not tournament.steps.exists():
            _insert(tournament, parts[0])
        else:
            _queue(tournament, parts)
    return True


@transaction.atomic
def _store(step: ScheduleStep) -> bool:
    tournament = _begin(step)
    if tournament is not None:
        _insert(tournament, step.pairings)
    return tournament is not None


@transaction.atomic
def _cancel(step: ScheduleStep) -> bool:
    tournament = _begin(step)
    if tournament is not None and not _cancel_some(tournament):
        tournament.steps.create(kind=Kind.CANCEL)
    return tournament is not None


def _withdraw(step: ScheduleStep) -> bool:
    """End some open games of the version, in a transaction for each tournament."""
    assert step.version_id is not None
    version = BotVersion.objects.select_related("bot").get(pk=step.version_id)
    if version.state != BotVersion.State.WITHDRAWN or give_to_opponents(version, GAMES_A_STEP):
        ScheduleStep.objects.filter(pk=step.pk).delete()
    return True


def _begin(step: ScheduleStep) -> Tournament | None:
    """The step's tournament, locked, and the step deleted; None if it was taken or dropped meanwhile."""
    assert step.tournament_id is not None
    tournament = lock_tournament(step.tournament_id)
    taken, _ = ScheduleStep.objects.filter(pk=step.pk).delete()
    return tournament if taken else None


def _packed(planned: Iterable[PlannedPairing]) -> list[str]:
    """The pairings as JSON, a text for each step."""
    source, parts = iter(planned), []
    while part := list(islice(source, PAIRINGS_A_STEP)):
        parts.append(json.dumps([_values(pairing) for pairing in part]))
    return parts


def _values(pairing: PlannedPairing) -> tuple[object, ...]:
    """As ``dataclasses.astuple``, which takes twenty times as long."""
    one = pairing
    return one.ladder, one.round, one.number, one.first, one.second, one.opening, one.seed


def _unpacked(text: str) -> list[PlannedPairing]:
    return [
        PlannedPairing(ladder, round_number, number, first, second, tuple(opening), seed)
        for ladder, round_number, number, first, second, opening, seed in json.loads(text)
    ]


def _queue(tournament: Tournament, parts: Sequence[str]) -> None:
    """Add a step for each text of pairings."""
    last = GAMES_A_PAIR * len(_unpacked(parts[-1]))
    games = [GAMES_A_STEP] * (len(parts) - 1) + [last]
    ScheduleStep.objects.bulk_create(
        ScheduleStep(tournament=tournament, kind=Kind.STORE, pairings=text, games=count)
        for text, count in zip(parts, games, strict=True)
    )


def _insert(tournament: Tournament, text: str) -> None:
    planned = _unpacked(text)
    insert_pairings(tournament, planned, GAMES_A_PAIR)
    _end_games_of_withdrawn(planned)


def _end_games_of_withdrawn(planned: Sequence[PlannedPairing]) -> None:
    """New games of versions that were withdrawn after the start are never played."""
    players = {player for pairing in planned for player in (pairing.first, pairing.second)}
    for version in BotVersion.objects.filter(pk__in=players, state=BotVersion.State.WITHDRAWN):
        ScheduleStep.objects.create(kind=Kind.WITHDRAW, version=version)


def _add_games(tournament: Tournament, games: int) -> None:
    Tournament.objects.filter(pk=tournament.pk).update(games_total=F("games_total") + games)
    tournament.games_total += games


def _cancel_some(tournament: Tournament) -> bool:
    """Cancel the first games that wait; True if none is left."""
    waiting = Game.objects.filter(tournament=tournament, state=Game.State.WAITING).order_by("id")
    ids = list(waiting.values_list("id", flat=True)[: GAMES_A_STEP + 1])
    if ids:
        waiting.filter(id__lte=ids[:GAMES_A_STEP][-1]).order_by().update(state=Game.State.CANCELLED)
    return len(ids) <= GAMES_A_STEP
