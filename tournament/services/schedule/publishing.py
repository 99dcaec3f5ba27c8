"""Notices and feed entries about a tournament: announced, begun, a round finished, ended.

Drafts, validations and the endless tournaments of ladders are not published. All functions are part of the
caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import models
from django.utils import timezone

from engines.rules.registry import GAMES
from tournament.models import Bot, BotVersion, Ladder, Tournament, User
from tournament.models.webhooks import EventType
from tournament.sentences import as_sentence, enumerate_words, isolate, isolated
from tournament.services.accounts.notices import notify_about
from tournament.services.feeds import PublishedEvent, path_of, publish
from tournament.services.schedule.tables import tables_of
from tournament.services.webhooks.events import tell

MAX_NAMED = 5
"""Winners that one text names."""
_COLUMNS = {
    "kind": "format",
    "starts_at": "start",
    "entry_until": "end of entry",
    "book": "openings",
    "rated_off_terms": "what is rated",
}
"""The words for columns of ``Tournament`` where they are not its name."""
NEXT_DRAWN = "The next round is drawn."


@dataclass(frozen=True, slots=True)
class Placing:
    """A version's place in the table of one ladder; several may share a place."""

    version: BotVersion
    ladder: str
    place: int
    players: int

    @property
    def where(self) -> str:
        return GAMES[self.ladder].name


def tell_announced(tournament: Tournament) -> None:
    """A draft has become visible to everybody."""
    when = f"{tournament.starts_at:%-d %B %Y %H:%M} UTC" if tournament.starts_at else ""
    text = f"{_kind(tournament)}. It starts on {when}."
    if tournament.entry_until:
        text += f" Bots can be entered until {tournament.entry_until:%-d %B %Y %H:%M} UTC."
    _publish(tournament, "announced", "Announced", text)


def tell_changed(tournament: Tournament, changed: Sequence[str], removed: Sequence[BotVersion]) -> None:
    """An announced tournament has changed in these columns, or lost entries: owners of its bots are told."""
    tell_announced(tournament)
    name, texts = isolate(tournament.name), dict[User | None, str]()
    words = enumerate_words([_COLUMNS.get(one, one.replace("_", " ")) for one in changed])
    bots = Bot.objects.select_related("owner").exclude(owner=tournament.owner)
    if words and (tournament.is_rated or tournament.entry_until):
        for bot in bots.filter(versions__entries__tournament=tournament):
            texts[bot.owner] = f"{name}, which your bot is entered in, has changed: {words}."
    for bot in bots.filter(versions__in=removed):
        texts[bot.owner] = f"{isolate(bot.name)} is no longer entered in {name}: its organizer removed it."
    notify_about(tournament, {user: text for user, text in texts.items() if user is not None})


def tell_waiting(tournament: Tournament, why: str) -> None:
    """An announced tournament cannot start at its time because of a limit of its owner's account."""
    if tournament.owner is not None:
        text = f"Your tournament {isolate(tournament.name)} has not started yet. {as_sentence(why)}"
        notify_about(tournament, {tournament.owner: text}, is_warning=True)


def tell_begun(tournament: Tournament) -> None:
    """A tournament has started."""
    count = tournament.entries.count()
    _publish(tournament, "begun", "Begun", f"{_kind(tournament)}. {count} bots take part.")


def tell_rounds(tournament: Tournament, rounds: Mapping[str, int]) -> None:
    """Rounds of a Swiss or a knock-out are finished: the last one of each ladder, and more are to follow."""
    tables = _placings(tournament) if rounds and not tournament.format.has_bracket else []
    _tell_feeds(tournament, _round_events(tournament, rounds, tables))


def tell_ended(tournament: Tournament) -> None:
    """A tournament is finished, or halted because some games could not be played: it then has no winner."""
    if not _is_published(tournament):
        return
    is_finished = tournament.state == Tournament.State.FINISHED
    placings = _placings(tournament) if is_finished else []
    result = _winners(placings, "wins") if is_finished else "Some games could not be played."
    ladders = tuple(Ladder(code=code) for code in tournament.ladders)
    _publish(tournament, "ended", "Finished" if is_finished else "Ended", result, ladders)
    _tell_feeds(tournament, _bot_events(tournament, placings))
    texts = _texts(tournament, result, placings)
    notify_about(tournament, texts, is_warning=not is_finished)
    data = {"tournament": tournament.slug, "name": tournament.name, "state": str(tournament.state)}
    tell(texts, EventType.TOURNAMENT_FINISHED, tournament.get_absolute_url(), data)


def tell_cancelled(tournament: Tournament, reason: str, *, was_draft: bool) -> None:
    """A tournament is cancelled; with a reason, the site has cancelled it, and its owner is told."""
    if not was_draft:
        _publish(tournament, "cancelled", "Cancelled", as_sentence(reason) if reason else "")
    if reason and tournament.owner and _is_published(tournament):
        text = f"Your tournament {isolate(tournament.name)} is cancelled. {as_sentence(reason)}"
        notify_about(tournament, {tournament.owner: text}, is_warning=True)


def tell_continued(tournament: Tournament) -> None:
    """A cancelled tournament is played on."""
    _publish(tournament, "cancelled", "Continued", "It had been cancelled.")


def _is_published(tournament: Tournament) -> bool:
    return tournament.format.has_news


def _tell_feeds(tournament: Tournament, events: Iterable[PublishedEvent]) -> None:
    """Publish events, but not of what users' own workers play: their owners alone are told of it."""
    if not tournament.own_workers:
        publish(events, timezone.now())


def _publish(
    tournament: Tournament, event: str, what: str, text: str, ladders: Sequence[models.Model] = ()
) -> None:
    """Publish in the feeds of the tournament, of its owner and of these ladders."""
    if not _is_published(tournament):
        return
    feeds: list[models.Model] = [tournament, *ladders]
    if tournament.owner is not None:
        feeds.append(tournament.owner)
    title, key = f"{what}: {isolate(tournament.name)}", f"{path_of(tournament)}/{event}"
    _tell_feeds(tournament, [PublishedEvent(key, title, text, tuple(feeds), tournament=tournament)])


def _round_events(
    tournament: Tournament, rounds: Mapping[str, int], placings: Sequence[Placing]
) -> Iterator[PublishedEvent]:
    of_total = f" of {tournament.rounds}" if tournament.rounds else ""
    for code, number in rounds.items():
        where = f" ({GAMES[code].name})" if len(tournament.ladders) > 1 else ""
        leads = _winners([one for one in placings if one.ladder == code], "leads", "lead")
        yield PublishedEvent(
            f"{path_of(tournament)}/rounds/{code}/{number}",
            f"Round {number}{of_total} is finished{where}: {isolate(tournament.name)}",
            f"{leads} {NEXT_DRAWN}".strip(),
            (tournament,),
            tournament=tournament,
        )


def _bot_events(tournament: Tournament, placings: Sequence[Placing]) -> Iterator[PublishedEvent]:
    """For the feed of each bot that took part, its places."""
    for version, places in _by_version(placings).items():
        yield PublishedEvent(
            f"{path_of(tournament)}/ended/{version.bot.slug}",
            f"{isolated(version)} {_places(places)}: {isolate(tournament.name)}",
            f"{_kind(tournament)}. {_winners(placings, 'wins')}",
            (version.bot,),
            tournament=tournament,
        )


def _texts(tournament: Tournament, result: str, placings: Sequence[Placing]) -> dict[User, str]:
    """What the organizer and the owners of the bots are told, one line a user.

    The owner of a bot is told of an unrated tournament only if owners could enter their bots: otherwise
    everybody could send him any number of notices.
    """
    end = f"{isolate(tournament.name)} has ended."
    if len(tournament.ladders) > 1 and placings:
        result = _best(placings)
    texts = {tournament.owner: f"{end} {result}"} if tournament.owner else {}
    own: dict[User, list[Placing]] = {}
    for placing in placings:
        owner = placing.version.bot.owner
        if owner is not None and (owner in texts or tournament.is_rated or tournament.entry_until):
            own.setdefault(owner, []).append(placing)
    for owner, places in own.items():
        begin, best = texts.get(owner, end), _best(places)
        texts[owner] = begin if best in begin else f"{begin} {best}"
    return texts


def _best(placings: Sequence[Placing]) -> str:
    """The version with the most first places, else with the highest place."""
    version, places = min(
        _by_version(placings).items(),
        key=lambda one: (-sum(place.place == 1 for place in one[1]), min(place.place for place in one[1])),
    )
    firsts = sum(place.place == 1 for place in places)
    what = _places(places) if len(places) == 1 else f"wins on {firsts} of {len(places)} ladders"
    return f"{isolated(version)} {what}."


def _placings(tournament: Tournament) -> list[Placing]:
    """By ladder, the best first."""
    entries = tournament.entries.select_related("version__bot__owner").order_by("number")
    tables = tables_of(tournament, [entry.version for entry in entries])
    return [
        Placing(table.versions[row.player], table.ladder, row.rank, len(table.crosstable.rows))
        for table in tables
        for row in table.crosstable.rows
    ]


def _by_version(placings: Iterable[Placing]) -> dict[BotVersion, list[Placing]]:
    found: dict[BotVersion, list[Placing]] = {}
    for placing in placings:
        found.setdefault(placing.version, []).append(placing)
    return found


def _winners(placings: Sequence[Placing], verb: str, plural: str = "share the first place") -> str:
    """Who is first, one sentence a ladder; empty without placings."""
    ladders = list(dict.fromkeys(placing.ladder for placing in placings))
    sentences = []
    for code in ladders:
        names = [isolated(one.version) for one in placings if one.ladder == code and one.place == 1]
        named = names[:MAX_NAMED] + ([f"{len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else [])
        where = f"{GAMES[code].name}: " if len(ladders) > 1 else ""
        sentences.append(f"{where}{enumerate_words(named)} {verb if len(names) == 1 else plural}.")
    return " ".join(sentences)


def _places(places: Sequence[Placing]) -> str:
    """``wins``, or ``takes place 2 of 5``; with the ladders if there are several."""
    texts = []
    for one in places:
        what = "wins" if one.place == 1 else f"takes place {one.place} of {one.players}"
        texts.append(f"{what} in {one.where}" if len(places) > 1 else what)
    return enumerate_words(texts)


def _kind(tournament: Tournament) -> str:
    """The format and the ladders."""
    games = enumerate_words([GAMES[code].name for code in tournament.ladders if code in GAMES])
    kind = tournament.get_kind_display()
    return f"{kind[:1].upper()}{kind[1:]} of {games}"
