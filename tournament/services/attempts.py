"""How an attempt ends without a result: its game is played again, or halts and a person is told."""

from __future__ import annotations

import datetime
import logging

from django.db import transaction
from django.db.models import F

from tournament.models import Attempt, Game, LiveGame, Tournament
from tournament.services.finishing import count_finished

MAX_VOIDS = 3
MAX_LOST = 10

log = logging.getLogger("tournament.attempts")


@transaction.atomic
def give_back(
    attempt: Attempt, end: Attempt.End, now: datetime.datetime, *, evidence: str = "", hopeless: bool = False
) -> bool:
    """End an open attempt as void, lost or released; False if it had ended already.

    The game waits again under the same key, or halts: after three voids, ten lost leases, or at
    once if ``hopeless``.
    """
    game = Game.objects.select_related("tournament").get(pk=attempt.game_id)
    Tournament.objects.select_for_update().get(pk=game.tournament_id)
    still_open = Attempt.objects.filter(pk=attempt.pk, ended_at__isnull=True)
    if not still_open.update(ended_at=now, end=end, evidence=evidence):
        return False
    LiveGame.objects.filter(game=game).delete()
    mine = Game.objects.filter(pk=game.pk, attempt=attempt.pk, state=Game.State.CLAIMED)
    mine.update(
        state=Game.State.WAITING,
        attempt=None,
        voids=F("voids") + int(end == Attempt.End.VOID),
        lost=F("lost") + int(end == Attempt.End.LOST),
    )
    game.refresh_from_db()
    if why := _why_halt(game, evidence, hopeless):
        _halt(game, why)
    return True


def _why_halt(game: Game, evidence: str, hopeless: bool) -> str:
    """The sentence that stands on a game's page when it is given up; empty to go on."""
    if game.state != Game.State.WAITING:
        return ""
    if hopeless:
        return evidence
    if game.voids >= MAX_VOIDS:
        return f"given up after {game.voids} attempts without a result, the last: {evidence}"
    if game.lost >= MAX_LOST:
        return f"given up after {game.lost} attempts of which no worker told the end"
    return ""


def _halt(game: Game, why: str) -> None:
    log.error("game %s halts: %s", game.key, why)
    Game.objects.filter(pk=game.pk).update(state=Game.State.HALTED, evidence=why)
    count_finished(game.tournament_id)
