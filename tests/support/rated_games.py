"""Recorded games with results, forfeits and times, rated by the services: for pages that count games."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence

from django.utils import timezone

from engines.records import (
    Fault,
    MoveNote,
    RecordEvent,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    format_record,
)
from engines.rules.base import Reason, Result, Side
from tests.support.filled_site import LADDER, played_moves, round_robin
from tournament.models import BotVersion, Game, GameRecord, Ladder, Tournament, User
from tournament.services.results.ratings import RatedRow, rate
from tournament.services.results.storing import may_be_rated
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
    rated = may_be_rated(game)
    Game.objects.filter(pk=game.pk).update(
        state=Game.State.DONE,
        result=result,
        termination=termination,
        fault=fault,
        plies=PLIES,
        sequence=ladder.sequence,
        rated=rated,
        finished_at=timezone.now() + datetime.timedelta(minutes=ladder.sequence),
    )
    GameRecord.objects.create(game=game, text=_text(game, result, termination, fault, chance))
    if rated:
        rate(game.ladder_id, [RatedRow.of(game, ladder.sequence, result)])


def _text(game: Game, result: Result, termination: Termination, fault: Fault, chance: random.Random) -> str:
    """A record in which each move has its own time, a multiple of a millisecond."""
    _, moves = played_moves(game, PLIES)
    timed = [
        move if move.book else RecordMove(move.token, MoveNote(ms=chance.randrange(1, 2000)))
        for move in moves
    ]
    record = build_record(
        timed,
        players=RecordPlayers(game.white.bot.name, game.black.bot.name),
        settings=RecordSettings(game.ladder_id, game.tournament.time_control),
        outcome=RecordOutcome(result, termination, fault, Reason.NONE, None, None),
        event=RecordEvent(game_id=game.key),
    )
    return format_record(record)
