"""Recorded games with results, forfeits and times, rated by the services: for pages that count games."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence

from django.utils import timezone

from engines.records import Fault, MoveNote, RecordMove, RecordOutcome, Termination
from engines.rules.base import Result, Side
from tests.support.filled_site import LADDER, played_moves, record_text, round_robin, set_done
from tournament.models import BotVersion, Game, GameRecord, Ladder, Tournament, User
from tournament.services.results.ratings import RatedRow, rate
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.tournaments import start

FAULTS = (Termination.TIME, Termination.CRASH, Termination.ILLEGAL_MOVE)
PLIES = 8


def play_rated(
    owner: User | None,
    name: str,
    versions: Sequence[BotVersion],
    *,
    pairs: int = 3,
    ladders: Sequence[str] = (LADDER,),
    seed: int = 7,
) -> list[Game]:
    """A round robin whose games are all recorded; the seed decides results, some of them forfeits."""
    event = round_robin(owner, name, versions, pairs, ladders)
    start(event)
    chance = random.Random(seed)
    games = Game.objects.filter(tournament=event).with_players().select_related("pairing").order_by("pk")
    with rescored(event.games.all()):
        for game in games:
            _record(game, chance)
    Tournament.objects.filter(pk=event.pk).update(
        state=Tournament.State.FINISHED, games_done=event.games_total
    )
    return list(games.all())


def _record(game: Game, chance: random.Random) -> None:
    ladder = Ladder.objects.get(pk=game.ladder_id)
    ladder.sequence += 1
    ladder.save()
    result = chance.choice([Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW])
    termination, fault = Termination.ADJUDICATION, Fault.NONE
    if result is not Result.DRAW and chance.random() < 0.3:
        loser = Side.BLACK if result is Result.WHITE_WINS else Side.WHITE
        termination, fault = chance.choice(FAULTS), Fault.of(loser)
    rated, number = game.tournament.format.rates(game), ladder.sequence
    ending = RecordOutcome(result, termination, fault)
    finished_at = timezone.now() + datetime.timedelta(minutes=number)
    set_done(game, ending, PLIES, sequence=number, rated=rated, finished_at=finished_at)
    GameRecord.objects.create(game=game, text=record_text(game, _timed_moves(game, chance), ending))
    if rated:
        rate(game.ladder_id, [RatedRow.of(game, number, result)])


def _timed_moves(game: Game, chance: random.Random) -> list[RecordMove]:
    """Moves that have each its own time, a multiple of a millisecond."""
    moves = played_moves(game, PLIES)[1]
    timed = (
        RecordMove(move.token, MoveNote(ms=chance.randrange(1, 2000))) for move in moves if not move.book
    )
    return [*(move for move in moves if move.book), *timed]
