"""Ends an attempt without a result: its game waits again, or is halted."""

from __future__ import annotations

import datetime
import logging

from django.db import transaction

from tournament.models import Attempt, Game, Worker
from tournament.services.locks import lock_tournaments
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import rescored
from tournament.services.stopping import end_attempts
from workers.failures import MAX_LOST, MAX_VOIDS

log = logging.getLogger("tournament.attempts")


@transaction.atomic
def end_attempt(
    attempt: Attempt,
    end: Attempt.End,
    now: datetime.datetime,
    *,
    evidence: str = "",
    counts: bool = True,
    worker: str = "",
) -> bool:
    """End an open attempt as void or released; False if it had ended already.

    The game waits again under the same key. It does not halt, because voids and losses may still be
    discounted: call ``halt_after_failures`` for that. ``counts=False``: the void is the worker's fault and
    does not count against the game. ``worker`` is stored as the attempt's worker.
    """
    tournaments = Game.objects.filter(pk=attempt.game_id).values_list("tournament", flat=True)
    lock_tournaments(set(tournaments))
    told = {"evidence": evidence, **({"worker": worker} if worker else {})}
    return bool(end_attempts(Attempt.objects.filter(pk=attempt.pk), end, now, counts=counts, **told))


@transaction.atomic
def halt_after_failures(game: Game, evidence: str, *, hopeless: bool = False) -> bool:
    """Halt a waiting game after three voids or ten lost leases, or at once if ``hopeless``.

    Failures of one worker are not enough while another may play it. Returns whether it was halted.
    """
    lock_tournaments([game.tournament_id])
    game.refresh_from_db()
    if game.state != Game.State.WAITING:
        return False
    if hopeless:
        _halt(game, evidence)
    elif game.voids >= MAX_VOIDS and not _may_succeed(game, Attempt.End.VOID):
        _halt(game, f"given up after {game.voids} attempts without a result, the last: {evidence}")
    elif game.lost >= MAX_LOST and not _may_succeed(game, Attempt.End.LOST):
        _halt(game, f"given up after {game.lost} attempts whose workers did not report the end")
    else:
        return False
    return True


def _may_succeed(game: Game, end: Attempt.End) -> bool:
    """Whether all attempts with this end were one worker's, and another takes such games."""
    if game.tournament.own_workers:
        return False
    failed = game.attempts.filter(end=end).values_list("job__worker", flat=True)
    return Worker.objects.has_another(failed, game.tournament.format.work)


def _halt(game: Game, why: str) -> None:
    log.error("game %s halts: %s", game.key, why)
    halted = Game.objects.filter(pk=game.pk)
    with rescored(halted):
        halted.update(state=Game.State.HALTED, evidence=why)
    count_finished(game.tournament_id)
