"""Tournaments: made in bulk as a draft, started, cancelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from tournament.models import Attempt, BotVersion, Entry, Game, Ladder, LiveGame, Pairing, Tournament, User
from tournament.services.schedule import (
    GAMES_A_PAIR,
    Plan,
    PlannedPairing,
    TournamentError,
    pairing_seed,
    plan_pairings,
    plan_round_robin,
    unique_slug,
)

__all__ = ["TournamentError", "cancel", "create_round_robin", "create_validation", "start"]

CHUNK = 500
"""Pairings stored at once: a large tournament is never held whole in memory."""
VALIDATION_TIME_CONTROL = "2+0.1"


@transaction.atomic
def create_round_robin(
    owner: User | None,
    *,
    name: str,
    versions: Sequence[BotVersion],
    ladders: Sequence[str],
    pairs: int,
    time_control: str,
    seed: int,
    opening_plies: int,
    rated: bool = True,
    ply_limit: int | None = None,
) -> Tournament:
    """Store a draft with all its games; raises ``TournamentError`` and stores nothing.

    Each pair is two games from one opening with both colours. The same seed gives the same
    openings, whoever plays.
    """
    plan = plan_round_robin(
        name=name,
        versions=versions,
        ladders=ladders,
        pairs=pairs,
        time_control=time_control,
        seed=seed,
        opening_plies=opening_plies,
        ply_limit=ply_limit,
    )
    tournament = _store(owner, plan, Tournament.Kind.ROUND_ROBIN, rated)
    _store_games(tournament, plan_pairings(plan), GAMES_A_PAIR)
    return tournament


@transaction.atomic
def create_validation(version: BotVersion) -> Tournament:
    """A draft in which a version plays itself once on every ladder it claims."""
    ladders = list(version.games)
    plan = Plan(
        name=f"Validation of {version}",
        players={code: [version] for code in ladders},
        versions=[version],
        pairs=1,
        time_control=VALIDATION_TIME_CONTROL,
        seed=version.pk,
        opening_plies=0,
        ply_limit=None,
    )
    pairings = (
        PlannedPairing(code, 1, number, version, version, (), pairing_seed(version.pk, code, 1, number))
        for number, code in enumerate(ladders, start=1)
    )
    tournament = _store(version.bot.owner, plan, Tournament.Kind.VALIDATION, rated=False)
    _store_games(tournament, pairings, games_a_pair=1)
    return tournament


def start(tournament: Tournament) -> None:
    """Let a draft be played; raises ``TournamentError`` for anything else."""
    now = timezone.now()
    drafts = Tournament.objects.filter(pk=tournament.pk, state=Tournament.State.DRAFT)
    if not drafts.update(state=Tournament.State.RUNNING, started_at=now):
        tournament.refresh_from_db()
        raise TournamentError(
            f"state: {tournament.name!r} is {tournament.state}, only a draft can be started"
        )
    tournament.refresh_from_db()


@transaction.atomic
def cancel(tournament: Tournament) -> None:
    """Play no more of it; games already recorded stay. Reports of games under way will be ignored.

    Raises ``TournamentError`` if it is over.
    """
    now = timezone.now()
    alive = Tournament.objects.filter(
        pk=tournament.pk, state__in=[Tournament.State.DRAFT, Tournament.State.RUNNING]
    )
    if not alive.update(state=Tournament.State.CANCELLED, finished_at=now):
        tournament.refresh_from_db()
        raise TournamentError(f"state: {tournament.name!r} is {tournament.state} already")
    open_games = Game.objects.filter(
        tournament=tournament, state__in=[Game.State.WAITING, Game.State.CLAIMED]
    )
    Attempt.objects.filter(game__tournament=tournament, ended_at__isnull=True).update(
        ended_at=now, end=Attempt.End.CANCELLED
    )
    LiveGame.objects.filter(game__tournament=tournament).delete()
    open_games.update(state=Game.State.CANCELLED, attempt=None)
    tournament.refresh_from_db()


def _store(owner: User | None, plan: Plan, kind: Tournament.Kind, rated: bool) -> Tournament:
    Ladder.objects.ensure()
    tournament = Tournament.objects.create(
        slug=unique_slug(slugify(plan.name)[:50].strip("-") or "tournament"),
        name=plan.name[:80],
        owner=owner,
        kind=kind,
        rated=rated,
        ladders=list(plan.players),
        pairs=plan.pairs,
        opening_plies=plan.opening_plies,
        time_control=plan.time_control,
        ply_limit=plan.ply_limit,
        seed=plan.seed,
    )
    Entry.objects.bulk_create(
        Entry(tournament=tournament, version=version, number=number)
        for number, version in enumerate(plan.versions, start=1)
    )
    return tournament


def _store_games(tournament: Tournament, planned: Iterable[PlannedPairing], games_a_pair: int) -> None:
    total = 0
    for chunk in _chunks(planned):
        pairings = Pairing.objects.bulk_create(_pairing(tournament, pairing) for pairing in chunk)
        games = [_game(tournament, pairing, n) for pairing in pairings for n in range(1, games_a_pair + 1)]
        total += len(Game.objects.bulk_create(games))
    tournament.games_total = total
    tournament.save(update_fields=["games_total"])


def _chunks(planned: Iterable[PlannedPairing]) -> Iterator[list[PlannedPairing]]:
    source = iter(planned)
    while chunk := list(islice(source, CHUNK)):
        yield chunk


def _pairing(tournament: Tournament, planned: PlannedPairing) -> Pairing:
    return Pairing(
        tournament=tournament,
        ladder_id=planned.ladder,
        round=planned.round,
        number=planned.number,
        first=planned.first,
        second=planned.second,
        opening=" ".join(planned.opening),
        seed=planned.seed,
    )


def _game(tournament: Tournament, pairing: Pairing, number: int) -> Game:
    """One game of a pair; the second swaps the colours."""
    white, black = (pairing.first, pairing.second) if number % 2 else (pairing.second, pairing.first)
    return Game(
        key=f"{tournament.slug}/{pairing.round}/{pairing.number}/{number}",
        pairing=pairing,
        tournament=tournament,
        ladder_id=pairing.ladder_id,
        number=number,
        white=white,
        black=black,
    )
