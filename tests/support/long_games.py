"""Games of hundreds of plies, whose pages are the heaviest of all."""

from __future__ import annotations

import random
import uuid
from typing import Final

from django.utils import timezone

from engines.protocol.score import Score
from engines.records import MoveNote, RecordMove, format_note
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.support.filled_site import Site, ending_of, record_text, round_robin, set_done
from tournament.models import Game, GameRecord, LiveGame
from tournament.services.schedule.tournaments import start

ENDLESS: Final = ("dualma", max(rules.ply_limit for rules in GAMES.values()))
"""A ladder whose random games do not end, and the largest limit of all ladders."""
SEEDS: Final = 6

LongGame = tuple[History, list[RecordMove]]


def longest(code: str, most: int) -> LongGame:
    """The longest of some random games of at most so many plies."""
    return max((_random_game(code, most, seed) for seed in range(SEEDS)), key=lambda found: len(found[1]))


def _random_game(code: str, most: int, seed: int) -> LongGame:
    """Random moves, each with a score, a depth, a time and nodes of its own."""
    chance, history = random.Random(seed), History(GAMES[code], ply_limit=most)
    moves: list[RecordMove] = []
    while not history.outcome.decided:
        token = chance.choice(list(history.position.legal_moves()))
        history.play(token)
        score = Score(centipawns=chance.randint(-999, 999))
        note = MoveNote(score, chance.randint(5, 30), chance.randint(1, 9999), chance.randint(1, 10**7))
        moves.append(RecordMove(token, note))
    return history, moves


def let_play(site: Site, code: str, long: LongGame) -> Game:
    """A live game, whose worker has sent these moves."""
    game = _new_game(site, code)
    Game.objects.filter(pk=game.pk).update(state=Game.State.CLAIMED, attempt=uuid.uuid4())
    sent = [[move.token, format_note(move.note or MoveNote())] for move in long[1]]
    LiveGame.objects.create(game=game, moves=sent, updated_at=timezone.now())
    return game


def let_end(site: Site, code: str, long: LongGame) -> Game:
    """A recorded game with these moves."""
    game, (history, moves) = _new_game(site, code), long
    ending = ending_of(history)
    set_done(game, ending, len(moves))
    GameRecord.objects.create(game=game, text=record_text(game, moves, ending))
    return game


def _new_game(site: Site, code: str) -> Game:
    event = round_robin(site.owner, f"Long {code}", [site.white, site.black], 1, [code])
    start(event)
    return event.games.earliest("pk")
