"""A site with something of everything, for tests of its pages."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import UUIDField
from django.db.models.functions import Coalesce
from django.test import Client
from django.utils import timezone

from engines.protocol import Score
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
    format_note,
    format_record,
)
from engines.rules.base import Result
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.support.schedule import make_version
from tests.support.seats import seat
from tournament.caches import cache
from tournament.models import (
    BotVersion,
    Game,
    GameLog,
    GameRecord,
    Ladder,
    LadderRating,
    LiveGame,
    Tournament,
    User,
)
from tournament.models.compressed import pack_log
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.tournaments import create_round_robin, start
from tournament.services.uploads.validation import start_games

LogIn = Callable[..., Client]
"""The fixture ``as_user`` of the tests of pages."""
LADDER = "dogon-kulei"
PASSWORD = "correct horse"
"""Of every user."""
HOSTILE = "<script>alert(1)</script>\u202e\x07"
"""What an engine may say: markup, a right-to-left override, a control character."""
STDERR = {"white": "white's secret stderr", "black": "black's secret stderr"}


@dataclass(frozen=True, slots=True)
class Site:
    """``owner`` owns White's bot and the tournaments, ``rival`` Black's."""

    owner: User
    rival: User
    staff: User
    white: BotVersion
    black: BotVersion
    running: Tournament
    draft: Tournament
    validation: Tournament
    played: Game
    live: Game


def fill_site() -> Site:
    cache.clear()  # its keys are numbers of rows, which begin anew in every database
    Ladder.objects.ensure()
    owner, rival = (User.objects.create_user(name, password=PASSWORD) for name in ("olga", "rita"))
    staff = User.objects.create_user("stan", password=PASSWORD, is_staff=True, is_superuser=True)
    white, black = add_version(owner, "Stone Age"), add_version(rival, "<b>Rival</b>\u202e")
    running = round_robin(owner, "Spring", [white, black])
    start(running)
    played, live = running.games.order_by("id")[:2]
    finish(played)
    go_live(live)
    validation = start_games(white, timezone.now())
    validation.state = Tournament.State.DRAFT  # no slot takes its games
    validation.save(update_fields=["state"])
    return Site(
        owner,
        rival,
        staff,
        white,
        black,
        running,
        round_robin(owner, "Draft", [white, black]),
        validation,
        Game.objects.get(pk=played.pk),
        Game.objects.get(pk=live.pk),
    )


def add_version(
    owner: User | None, name: str, games: Sequence[str] = tuple(GAMES), state: str = BotVersion.State.VALID
) -> BotVersion:
    """The next version of a bot, for all games unless told otherwise, without a label of its own."""
    return make_version(name, owner=owner, games=games, state=BotVersion.State(state), label="")


def round_robin(
    owner: User | None,
    name: str,
    versions: Sequence[BotVersion],
    pairs: int = 1,
    ladders: Sequence[str] = (LADDER,),
) -> Tournament:
    return create_round_robin(
        owner,
        name=name,
        versions=versions,
        ladders=ladders,
        pairs=pairs,
        time_control="60+0.5",
        seed=1,
        opening_plies=2,
        rated_off_terms=True,
    )


def played_moves(
    game: Game, most: int = 400, chance: random.Random | None = None
) -> tuple[History, list[RecordMove]]:
    """A game between players of the first legal move, half a second each; each expects the move after it.

    With ``chance`` moves, scores, times and nodes differ.
    """
    history = History(GAMES[game.ladder_id])
    moves = [RecordMove(token, book=True) for token in game.pairing.opening_moves]
    for move in moves:
        history.play(move.token)
    while not history.outcome.decided and len(moves) < most:
        legal = list(history.position.legal_moves())
        token = chance.choice(legal) if chance else legal[0]
        history.play(token)
        line = (token, *islice(history.position.legal_moves(), 1))
        moves.append(RecordMove(token, _note(len(moves), chance, line)))
    return history, moves


def _note(ply: int, chance: random.Random | None, line: tuple[str, ...]) -> MoveNote:
    if chance is None:
        return MoveNote(Score(centipawns=35), 12, 500, 1234, None, line)
    score = Score(centipawns=round((1 if ply % 2 else -1) * 4 * ply + chance.gauss(0, 60)))
    depth, ms, nodes = chance.randint(8, 24), chance.randint(20, 2400), chance.randint(5_000, 900_000)
    return MoveNote(score, depth, ms, nodes, None, line)


def ending_of(history: History) -> RecordOutcome:
    """The end of a game by the rules."""
    end = history.outcome
    scores = (end.white_score, end.black_score)
    return RecordOutcome(end.result, Termination.RULES, Fault.NONE, end.reason, *scores)


def record_text(game: Game, moves: Sequence[RecordMove], ending: RecordOutcome) -> str:
    record = build_record(
        moves,
        players=RecordPlayers(game.white.bot.name, game.black.bot.name),
        settings=RecordSettings(game.ladder_id, game.tournament.time_control),
        outcome=ending,
        event=RecordEvent(game_id=game.key),
    )
    return format_record(record)


def record_swings(game: Game) -> None:
    """Record the game anew: White's score falls from +3.00 to -3.00 at ply 5, and rises again at ply 11."""
    history, moves = played_moves(game)
    scores = {3: 300, 5: -300, 7: -300, 9: -300, 11: 300}
    notes = {ply: MoveNote(Score(centipawns=score)) for ply, score in scores.items()}
    moves = [RecordMove(move.token, notes.get(ply)) for ply, move in enumerate(moves, start=1)]
    GameRecord.objects.filter(game=game).update(text=record_text(game, moves, ending_of(history)))


def set_done(game: Game, ending: RecordOutcome, plies: int, **more: Any) -> None:
    """Store how a game ended; ``more`` are other columns of its row."""
    usual = {"sequence": 1000 + game.pk, "finished_at": timezone.now(), **ending._asdict()}
    Game.objects.filter(pk=game.pk).update(state=Game.State.DONE, plies=plies, **(usual | more))
    seat(pk=game.pk)


def finish(game: Game, sequence: int = 1) -> None:
    """Record a game, rate its players, keep what their engines said."""
    history, moves = played_moves(game)
    ending = ending_of(history)
    with rescored(Game.objects.filter(pk=game.pk)):
        set_done(game, ending, len(moves), sequence=sequence, rated=True, evidence=HOSTILE)
    GameRecord.objects.create(game=game, text=record_text(game, moves, ending))
    for side, stderr in STDERR.items():
        content = pack_log(f"{stderr} {HOSTILE}", f"< id name {HOSTILE}\n")
        GameLog.objects.create(game=game, side=side, content=content)
    rating = {"mu": 25.0, "sigma": 5.0, "conservative": 10.0, "games": 1, "wins": 1}
    for version in (game.white, game.black):
        LadderRating.objects.get_or_create(ladder_id=game.ladder_id, version=version, defaults=rating)
    Ladder.objects.filter(pk=game.ladder_id).update(sequence=sequence)
    Tournament.objects.filter(pk=game.tournament_id).update(games_done=sequence)


def go_live(game: Game, plies: int = 5, chance: random.Random | None = None) -> None:
    """Let a worker be playing it; with ``chance`` moves and what the engines say of them differ."""
    _, moves = played_moves(game, plies, chance)
    pairs = [[move.token, _comment(move, chance)] for move in moves]
    attempt = Coalesce("attempt", uuid.uuid4(), output_field=UUIDField())
    Game.objects.filter(pk=game.pk).update(state=Game.State.CLAIMED, attempt=attempt)
    LiveGame.objects.update_or_create(game=game, defaults={"moves": pairs, "updated_at": timezone.now()})


def _comment(move: RecordMove, chance: random.Random | None) -> str:
    if move.book:
        return "book"
    return format_note(move.note) if chance and move.note else "+0.35/12 0.500s"


def decide_games(event: Tournament, result_of: Callable[[Game], Result] | None = None) -> Tournament:
    """Decide all games of a running tournament; without ``result_of`` the version entered earlier wins."""
    numbers = dict(event.entries.values_list("version", "number"))

    def stronger(game: Game) -> Result:
        is_white = numbers[game.white_id] < numbers[game.black_id]
        return Result.WHITE_WINS if is_white else Result.BLACK_WINS

    while games := list(event.games.filter(state=Game.State.WAITING)):
        with rescored(event.games.all()):
            for game in games:
                result = (result_of or stronger)(game)
                set_done(game, RecordOutcome(result, Termination.RULES, Fault.NONE), 20)
        count_finished(event.pk, len(games))
        advance_all()
    event.refresh_from_db()
    return event
