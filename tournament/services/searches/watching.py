"""The third voice of a game that people watch: the strongest other bot evaluates the latest position.

There is one search a game. It goes on to the game's next positions while somebody watches, and slots take it
while nothing else waits.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.db import IntegrityError, transaction

from engines.rules.base import Position
from tournament import access
from tournament.models import BotSearch, BotVersion, Game
from tournament.services.locks import lock
from tournament.services.searches.asking import SearchRefused, answering, check_workers
from tournament.services.work.messages import send_search
from tournament.services.work.searches import LIVE, WATCHED

MS = 1_000
"""The milliseconds for a position."""
PAUSE = datetime.timedelta(minutes=1)
"""The time until the next try after a search that failed."""


def voice_of(game: Game) -> BotSearch | None:
    """The search of a game that people watch; None if there is none yet."""
    searches = BotSearch.objects.filter(asker=f"{LIVE}{game.pk}").select_related("version__bot", "job")
    return searches.order_by("-asked_at").first()


def is_due(voice: BotSearch | None, plies: int, now: datetime.datetime) -> bool:
    """Whether ``request_voice`` is to be called for the position after ``plies`` moves."""
    if voice is None:
        return True
    if voice.ended_at is None:
        return not voice.is_held and (voice.plies[-1] != plies or voice.asked_at < now - WATCHED / 3)
    if voice.why:
        return voice.ended_at < now - PAUSE
    return bool(voice.plies[-1] != plies)


def request_voice(
    game: Game, positions: Sequence[Position], moves: Sequence[str], now: datetime.datetime
) -> BotSearch | None:
    """Have the game's search evaluate the last of its positions; None if no bot or no worker can do it.

    No bot that plays in the game evaluates it.
    """
    if positions[-1].outcome().decided:
        return voice_of(game)
    try:
        check_workers()
        with transaction.atomic():
            _request(game, positions[0], moves, now)
            transaction.on_commit(send_search)
    except SearchRefused:
        return None
    except IntegrityError:
        pass  # another process has requested it
    return voice_of(game)


def _request(game: Game, start: Position, moves: Sequence[str], now: datetime.datetime) -> None:
    known = voice_of(game)
    locked = lock(BotSearch.objects.filter(pk=known.pk)) if known else []
    search = locked[0] if locked else BotSearch(ladder_id=game.ladder_id, asker=f"{LIVE}{game.pk}", ms=MS)
    if search.is_held:  # also after its last evaluation, until the slot says that it has finished
        return
    if not locked or search.why or not access.may_ask(None, search.version.bot):
        search.version = _strongest_other(game)
    plies = len(moves)
    said = search.last_ply
    is_known = said is not None and said < plies and search.moves.split()[:said] == list(moves[:said])
    search.found = {str(said): search.found[str(said)]} if is_known else {}
    search.start = "" if start == type(start).initial() else str(start)
    search.moves = " ".join(moves)
    search.plies = [*([said] if is_known else []), plies]
    search.asked_at, search.ended_at, search.job = now, None, None
    search.why, search.is_fault, search.tries = "", False, 0
    search.save()


def _strongest_other(game: Game) -> BotVersion:
    """Raises ``SearchRefused``."""
    players = {game.white.bot_id, game.black.bot_id}
    for version in answering(game.ladder_id, access.PUBLIC):
        if version.bot_id not in players:
            return version
    raise SearchRefused("No other bot answers here.")
