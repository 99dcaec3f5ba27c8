"""Games of people against bots: the person's moves come from a page, the bot's from searches.

A bot's move is taken over when the game's page is requested or the person moves: until then it waits in its
search.
"""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from engines.protocol import RESIGN
from engines.rules.base import IllegalMove, Outcome, Result
from engines.rules.history import History, replay_until_end
from engines.rules.registry import find_game
from tournament.models import BotSearch, BotVersion, PersonGame, User
from tournament.queues import announce, search_topic
from tournament.services.locks import in_order, lock_row
from tournament.services.searches.asking import (
    DAY,
    Guest,
    SearchRefused,
    check_asked,
    check_guest_game,
    check_hours,
    check_user,
    check_workers,
    games_from,
    request_move,
)
from tournament.services.work.searches import end_searches

TIMES_MS = (500, 2_000, 5_000)
"""The choices for each move of the bot."""
MAX_OPEN = 10
"""Games of a person that are not over."""
GUEST_GAMES = 24
"""Games that visitors of one network without accounts begin on one day."""
MAX_KEPT = 1_000
"""Games of a person; each new one deletes the oldest that is over."""


class TooManyOpen(SearchRefused):
    """The person has as many open games as are permitted."""


def games_of(person: User | Guest) -> QuerySet[PersonGame]:
    """The games of a person, the newest first."""
    if isinstance(person, User):
        games = person.person_games.all()
    elif person.key:
        # The exclusion is for the index.
        games = PersonGame.objects.filter(guest=person.key).exclude(guest="")
    else:
        games = PersonGame.objects.none()
    return games.order_by("-started_at")


def open_games(person: User | Guest) -> QuerySet[PersonGame]:
    """The person's games that are not over, the newest first."""
    return games_of(person).filter(ended_at__isnull=True)


def list_open(person: User | Guest) -> list[PersonGame]:
    """The same with their bots; of each ``is_awaited`` says whether the bot's move is awaited."""
    awaited = BotSearch.objects.filter(person_game=OuterRef("pk"), ended_at__isnull=True)
    games = open_games(person).annotate(is_awaited=Exists(awaited))
    return list(games.select_related("version__bot", "ladder"))


def history_of(game: PersonGame) -> History:
    return replay_until_end(find_game(game.ladder_id), game.moves.split())


def start(
    person: User | Guest, version: BotVersion, ladder: str, *, is_white: bool, ms: int, now: datetime.datetime
) -> PersonGame:
    """Begin a game; raises ``SearchRefused``, of which ``TooManyOpen`` is one kind."""
    user = person if isinstance(person, User) else None
    check_asked(version, ladder, user)
    if user is not None:
        check_user(user, now)
    with transaction.atomic():
        if user is not None:
            lock_row(User.objects.all(), user.pk)
        if open_games(person).count() >= MAX_OPEN:
            raise TooManyOpen(f"You have {MAX_OPEN} games that are not over: end one first.")
        game = PersonGame(
            ladder_id=ladder, version=version, person=user, is_white=is_white, ms=ms, started_at=now
        )
        if isinstance(person, Guest):
            _check_guest(person, now)
            game.guest, game.network = person.key, person.network
            check_guest_game(game, now)
        game.save(force_insert=True)
        _go_on(game, history_of(game), now)
        games = games_of(person).values_list("pk", flat=True)
        games_of(person).filter(pk__in=list(games[MAX_KEPT:]), ended_at__isnull=False).delete()
    return game


def _check_guest(guest: Guest, now: datetime.datetime) -> None:
    """Check that not too many games were begun from the visitor's network; raises ``SearchRefused``."""
    if games_from(guest.network).filter(started_at__gt=now - DAY).count() >= GUEST_GAMES:
        raise SearchRefused(
            f"Without an account, {GUEST_GAMES} games a day are begun from one network: log in for more."
        )


def give_to(user: User, key: str) -> None:
    """Give a user who logs in or signs up the games of the guest with this key."""
    if key:
        with transaction.atomic():
            in_order(games_of(Guest(key, ""))).update(person=user, guest="", network="")


def play(game: PersonGame, token: str, now: datetime.datetime, *, shown: int | None = None) -> PersonGame:
    """Play the person's move, chosen after ``shown`` plies if that is given.

    Raises ``SearchRefused``, also if the game has gone on since, and ``IllegalMove``, also if it is the bot's
    turn.
    """
    if game.person is None:
        check_guest_game(game, now)
    else:
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


def take_back(game: PersonGame, now: datetime.datetime, *, shown: int | None = None) -> PersonGame:
    """Take back the person's last move, and the bot's answer to it if there is one.

    Raises ``SearchRefused`` if there is none, the game is over, or it has gone on after ``shown`` plies.
    """
    with transaction.atomic():
        game = _locked(game)
        _check_shown(history_of(game), shown)
        kept = last_own(game)
        if game.ended_at or kept is None:
            raise SearchRefused("There is no move of yours to take back.")
        end_searches(game.searches.all(), "The move before it was taken back.", now)
        game.moves = " ".join(game.moves.split()[:kept])
        game.taken_back += 1
        game.save(update_fields=["moves", "taken_back"])
        transaction.on_commit(lambda: announce(search_topic(game.pk)))
    return game


def last_own(game: PersonGame) -> int | None:
    """How many moves were played before the person's last one; None if the person has played none."""
    first = find_game(game.ladder_id).first is game.person_side
    own = range(0 if first else 1, game.plies, 2)
    return own[-1] if own else None


def take_over(game: PersonGame, now: datetime.datetime) -> PersonGame:
    """Play the bot's move if its search has found one; end the game if it has none. May be repeated."""
    if game.ended_at or _answer(game) is None:
        return game
    with transaction.atomic():
        game = _locked(game)
        search = None if game.ended_at else _answer(game)
        if search is None:
            return game
        history, token = history_of(game), search.found.get(str(game.plies), [""])[0]
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


def _answer(game: PersonGame) -> BotSearch | None:
    """The search of the bot's next move, if it has ended: the newest one, unless its move was taken back."""
    search = game.searches.order_by("-asked_at").first()
    is_next = search is not None and search.ended_at is not None and search.plies == [game.plies]
    return search if is_next else None


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
