"""Games of people against bots: the person's moves come from a page, the bot's from searches.

A bot's move is taken over when somebody looks at the game: until then it waits in its search.
"""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from engines.protocol import RESIGN
from engines.rules.base import IllegalMove, Outcome, Result
from engines.rules.history import History
from engines.rules.registry import find_game
from tournament.access import Visitor
from tournament.models import BotSearch, BotVersion, PersonGame, User
from tournament.queues import announce, search_topic
from tournament.services.locks import lock_row
from tournament.services.searching import (
    SearchRefused,
    check_asked,
    check_hours,
    check_user,
    check_workers,
    request_move,
)
from tournament.services.work.searches import end_searches

TIMES_MS = (500, 2_000, 5_000)
"""To choose from, for each move of the bot."""
MOST_OPEN = 10
"""Games of a person that are not over."""
MOST_KEPT = 1_000
"""Games of a person; each new one deletes the oldest that is over."""


class TooManyOpen(SearchRefused):
    """The person has as many open games as are permitted."""


def open_games(person: Visitor) -> QuerySet[PersonGame]:
    """The person's games that are not over, the newest first; none without an account."""
    return PersonGame.objects.filter(person=person.pk, ended_at__isnull=True).order_by("-started_at")


def list_open(person: Visitor) -> list[PersonGame]:
    """The same with their bots; of each ``is_awaited`` says whether the bot's move is awaited."""
    awaited = BotSearch.objects.filter(person_game=OuterRef("pk"), ended_at__isnull=True)
    games = open_games(person).annotate(is_awaited=Exists(awaited))
    return list(games.select_related("version__bot", "ladder"))


def history_of(game: PersonGame) -> History:
    history = History(find_game(game.ladder_id))
    for token in game.moves.split():
        history.play(token)
    return history


def start(
    person: User, version: BotVersion, ladder: str, *, is_white: bool, ms: int, now: datetime.datetime
) -> PersonGame:
    """Begin a game; raises ``SearchRefused``, of which ``TooManyOpen`` is one kind."""
    check_asked(version, ladder, person)
    check_user(person, now)
    with transaction.atomic():
        lock_row(User.objects.all(), person.pk)
        if open_games(person).count() >= MOST_OPEN:
            raise TooManyOpen(f"You have {MOST_OPEN} games that are not over: end one first.")
        game = PersonGame.objects.create(
            ladder_id=ladder, version=version, person=person, is_white=is_white, ms=ms, started_at=now
        )
        _go_on(game, history_of(game), now)
        games = person.person_games.order_by("-started_at").values_list("pk", flat=True)
        person.person_games.filter(pk__in=list(games[MOST_KEPT:]), ended_at__isnull=False).delete()
    return game


def play(game: PersonGame, token: str, now: datetime.datetime, *, shown: int | None = None) -> PersonGame:
    """Play the person's move, chosen after ``shown`` plies if that is given.

    Raises ``SearchRefused``, also if the game has gone on since, and ``IllegalMove``, also if it is the bot's
    turn.
    """
    check_hours(game.person, now)
    check_workers()
    with transaction.atomic():
        game = _locked(game)
        history = history_of(game)
        _check_shown(history, shown)
        if game.ended_at or history.position.side is not game.person_side:
            raise IllegalMove(token, history.position, "it is not your turn")
        history.play(token)
        _go_on(game, history, now)
    return game


def resign(game: PersonGame, now: datetime.datetime, *, shown: int | None = None) -> PersonGame:
    """End the game, as lost for the person in its turn, else as void; without effect if it is over.

    Raises ``SearchRefused`` if the game has gone on after ``shown`` plies.
    """
    with transaction.atomic():
        game = _locked(game)
        if game.ended_at:
            return game
        history = history_of(game)
        _check_shown(history, shown)
        if history.position.side is game.person_side:
            _end(game, Result.win_for(game.person_side.other), PersonGame.End.RESIGNED, now)
        else:
            _end(game, Result.UNDECIDED, PersonGame.End.VOID, now, "It was stopped during the bot's turn.")
    return game


def take_over(game: PersonGame, now: datetime.datetime) -> PersonGame:
    """Play the bot's move if its search has found one; end the game if it has none. May be repeated."""
    if game.ended_at:
        return game
    ply = game.plies
    search = game.searches.filter(plies=[ply], ended_at__isnull=False).first()
    if search is None:
        return game
    with transaction.atomic():
        game = _locked(game)
        if game.ended_at or game.plies != ply:
            return game
        history, token = history_of(game), search.found.get(str(ply), [""])[0]
        if search.is_fault:
            _end(game, Result.win_for(game.person_side), PersonGame.End.FAILED, now, search.why)
        elif search.why:
            _end(game, Result.UNDECIDED, PersonGame.End.VOID, now, search.why)
        elif token == RESIGN:
            _end(game, Result.win_for(game.person_side), PersonGame.End.RESIGNED, now)
        else:
            try:
                history.play(token)
            except IllegalMove:  # workers check moves
                why = f"A worker sent an illegal move: {token}."
                _end(game, Result.UNDECIDED, PersonGame.End.VOID, now, why)
            else:
                _go_on(game, history, now)
    return game


def open_search(game: PersonGame) -> BotSearch | None:
    """The search of the bot's next move, if it is the bot's turn."""
    return game.searches.filter(ended_at__isnull=True).order_by("-asked_at").first()


def _check_shown(history: History, shown: int | None) -> None:
    if shown not in (None, len(history.moves)):
        raise SearchRefused("The game has gone on since the page was shown: nothing was changed.")


def _locked(game: PersonGame) -> PersonGame:
    return lock_row(PersonGame.objects.select_related("version__bot", "person", "ladder"), game.pk)


def _go_on(game: PersonGame, history: History, now: datetime.datetime) -> None:
    """Store the moves; the game is over, or the bot's turn, or the person's."""
    game.moves = " ".join(history.moves)
    outcome: Outcome = history.outcome
    if outcome.decided:
        _end(game, outcome.result, PersonGame.End.RULES, now, str(outcome.reason))
        return
    game.save(update_fields=["moves"])
    transaction.on_commit(lambda: announce(search_topic(game.pk)))
    if history.position.side is not game.person_side:
        request_move(game, now)


def _end(
    game: PersonGame, result: Result, end: PersonGame.End, now: datetime.datetime, why: str = ""
) -> None:
    game.result, game.end, game.why, game.ended_at = str(result), end, why, now
    game.save(update_fields=["moves", "result", "end", "why", "ended_at"])
    transaction.on_commit(lambda: announce(search_topic(game.pk)))
    end_searches(game.searches.all(), "The game is over.", now)
