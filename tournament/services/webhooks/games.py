"""Events made from recorded games: lost games and best ratings, by the rules of the digest.

The sender reads the games that a ladder has recorded since it looked last, so recording games does nothing
for webhooks. The events are stored in the transaction that notes how far it has read: each once.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from django.db import transaction

from engines.arithmetic.ratings import SETTLED_GAMES
from tournament.models import BotVersion, Game, Ladder, LadderRating, RatingEvent, Webhook, WebhookProgress
from tournament.models.webhooks import EventType
from tournament.sentences import isolated
from tournament.services.accounts.digests import LostGame, find_lost, read_games
from tournament.services.webhooks.events import facts_of, tell

CHUNK = 500
"""Games of a ladder that one call reads."""
UNNOTED = 100
"""Games without an event that may be read again: noting them after each call would only cost."""
UNREAD = 1_000
"""The same if nobody has a webhook for such events, when games are not read at all."""


def make_events() -> int:
    """Make the events of games recorded since the last call; returns the number of deliveries. Repeatable."""
    made, owners = 0, None
    progress = dict(WebhookProgress.objects.values_list("ladder", "sequence"))
    for ladder in Ladder.objects.only("pk", "sequence"):
        since = progress.get(ladder.pk)
        if since is None:  # what was recorded before there were webhooks is not told
            WebhookProgress.objects.get_or_create(ladder=ladder, defaults={"sequence": ladder.sequence})
        elif ladder.sequence > since:
            owners = _owners() if owners is None else owners
            if owners:
                made += _make(ladder, since, min(ladder.sequence, since + CHUNK), owners)
            elif ladder.sequence - since > UNREAD:
                _note(ladder, since, ladder.sequence)
    return made


def _owners() -> set[int]:
    """The ids of users with a webhook for one of these events."""
    wanted = {EventType.GAME_LOST, EventType.RATING_RECORD}
    return {
        owner for owner, events in Webhook.objects.on().values_list("owner", "events") if wanted & {*events}
    }


@transaction.atomic
def _make(ladder: Ladder, since: int, until: int, owners: set[int]) -> int:
    """Make the events of the games after ``since`` up to ``until``."""
    made = _tell_lost(ladder, since, until, owners) + _tell_records(ladder, since, until, owners)
    if (made or until - since >= UNNOTED) and not _note(ladder, since, until):
        transaction.set_rollback(True)  # another sender has made them
        return 0
    return made


def _note(ladder: Ladder, since: int, until: int) -> int:
    return WebhookProgress.objects.filter(ladder=ladder, sequence=since).update(sequence=until)


def _tell_lost(ladder: Ladder, since: int, until: int, owners: set[int]) -> int:
    new = Game.objects.filter(ladder=ladder, sequence__gt=since, sequence__lte=until, annulled=False)
    games = read_games(new.order_by("sequence"))
    players = {pk for game in games for pk in (game.white, game.black)}
    versions = BotVersion.objects.select_related("bot__owner").in_bulk(players)
    lost = find_lost(
        games,
        versions,
        lambda loser, opponent: loser.bot.owner_id in owners and opponent.bot.owner_id != loser.bot.owner_id,
        CHUNK,
    )
    return sum(_tell_lost_game(ladder, one) for one in lost)


def _tell_lost_game(ladder: Ladder, lost: LostGame) -> int:
    owner, game = lost.version.bot.owner, lost.game
    if owner is None:
        return 0
    data = {
        **facts_of(lost.version),
        "opponent": lost.opponent.bot.name,
        "opponent_slug": lost.opponent.bot.slug,
        "opponent_version": lost.opponent.number,
        "game": game.pk,
        "ladder": ladder.pk,
        "result": game.result,
        "termination": game.termination,
    }
    path = f"{game.get_absolute_url()}{f'?ply={lost.turned}' if lost.turned else ''}"
    text = f"{isolated(lost.version)} lost a game of {ladder.name} against {isolated(lost.opponent)}."
    return tell({owner: text}, EventType.GAME_LOST, path, data, at=game.finished_at)


def _tell_records(ladder: Ladder, since: int, until: int, owners: set[int]) -> int:
    made = 0
    for best, at in _records(ladder, since, until, owners):
        version, owner = best.version, best.version.bot.owner
        if owner is None:
            continue
        data = {**facts_of(version), "ladder": ladder.pk, "rating": round(best.best, 2), "games": best.games}
        text = f"{isolated(version)} has its best rating so far on {ladder.name}: {best.best:.2f}."
        made += tell({owner: text}, EventType.RATING_RECORD, version.get_absolute_url(), data, at=at)
    return made


def _records(
    ladder: Ladder, since: int, until: int, owners: set[int]
) -> Iterator[tuple[LadderRating, datetime.datetime | None]]:
    """The ratings whose highest value is of one of these games, unless another version of the bot had more,
    with the time of the game. Not while the rating is provisional.
    """
    events = RatingEvent.objects.filter(ladder=ladder, sequence__gt=since, sequence__lte=until)
    rows = events.filter(version__bot__owner__in=owners).select_related("game").order_by("sequence")
    new: dict[int, list[RatingEvent]] = {}
    for event in rows:
        new.setdefault(event.version_id, []).append(event)
    rated = LadderRating.objects.filter(ladder=ladder).select_related("version__bot__owner")
    for one in rated.filter(version__in=new):
        of_best = [row for row in new[one.version_id] if row.after.conservative == one.best]
        if not of_best or one.games - len(new[one.version_id]) < SETTLED_GAMES:
            continue
        others = rated.filter(version__bot=one.version.bot, games__gte=SETTLED_GAMES, best__gt=one.best)
        if not others.exists():
            yield one, of_best[0].game.finished_at
