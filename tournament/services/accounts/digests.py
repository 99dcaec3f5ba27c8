"""The digest of a user: what happened since a time to own bots and to what the user follows.

It holds only what everybody may see. The home page shows it, and it is sent by mail. About ten queries, each
of a limited number of rows.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When

from engines.arithmetic.ratings import SETTLED_GAMES, Rating
from engines.arithmetic.standings import GameScore
from engines.records import read_first_side, read_scores, turned_at
from engines.rules.base import Outcome, Reason, Result, Side
from engines.rules.registry import GAMES
from tournament import access
from tournament.models import (
    ActiveVersion,
    Bot,
    BotVersion,
    FeedEntry,
    Game,
    GameRecord,
    LadderRating,
    RatingEvent,
    Seat,
    User,
)
from tournament.models.feeds import feed_of, ids_of
from tournament.models.games import first_games

MAX_VERSIONS = 50
MAX_GAMES = 100
"""The latest ones, which are counted."""
MAX_LINES = 6
MAX_OPPONENTS = 3
"""Named in one line."""
MAX_LOST = 4
MAX_ENTRIES = 6


@dataclass(slots=True)
class PlayedLine:
    """The games of a version on a ladder."""

    version: BotVersion
    ladder: str
    first: int
    """The lowest number of these games on the ladder."""
    score: GameScore = field(default_factory=GameScore)
    opponents: Counter[int] = field(default_factory=Counter)
    """Games by the id of the opponent's version."""
    ratings: list[float] = field(default_factory=list)
    """The published ratings before the first rated game and after each; empty without one."""
    best: float | None = None
    """The highest rating, if it is one of these and the earlier games were enough for a settled rating."""
    bots: list[Bot] = field(default_factory=list)
    """The most frequent opponents."""
    more_bots: int = 0

    @property
    def where(self) -> str:
        return GAMES[self.ladder].name

    @property
    def change(self) -> float:
        return self.ratings[-1] - self.ratings[0]


class LostGame(NamedTuple):
    """A game that an own bot lost; ``turned`` is the ply since which its own score was negative, if known."""

    version: BotVersion
    opponent: BotVersion
    game: Game
    turned: int | None


@dataclass(frozen=True, slots=True)
class Digest:
    """What is new for a user, own bots first."""

    since: datetime.datetime
    has_subjects: bool
    """Whether the user has a bot or follows anything."""
    lines: Sequence[PlayedLine] = ()
    more_lines: int = 0
    """How many further versions played."""
    is_cut: bool = False
    """Whether more games were played than are counted."""
    lost: Sequence[LostGame] = ()
    entries: Sequence[FeedEntry] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.lines or self.entries)


class DigestedGame(NamedTuple):
    """What is counted of a recorded game; the players are ids of versions."""

    pk: int
    ladder: str
    white: int
    black: int
    result: Result
    sequence: int


def make_digest(user: User, since: datetime.datetime) -> Digest:
    """What happened since a time; nothing that is hidden from others, even of the user's own."""
    feeds = list(user.follows.values_list("feed", flat=True))
    versions = _versions(user, feeds)
    own = {version.bot for version in versions.values() if version.bot.owner_id == user.pk}
    entries = _entries([*feeds, feed_of(user), *map(feed_of, own)], since)
    games = _games(versions, since)
    counted = games[:MAX_GAMES]
    lines = _lines(versions, counted)
    lines.sort(key=lambda line: (line.version.bot not in own, -line.score.games, line.version.pk))
    shown = lines[:MAX_LINES]
    players = BotVersion.objects.select_related("bot").in_bulk(
        {pk for game in counted for pk in (game.white, game.black)}
    )
    for line in shown:
        _name_opponents(line, players)
    _rate(shown, counted)
    return Digest(
        since,
        has_subjects=bool(feeds or versions),
        lines=shown,
        more_lines=len(lines) - len(shown),
        is_cut=len(games) > MAX_GAMES,
        lost=find_lost(
            counted,
            players,
            lambda loser, opponent: loser.bot in own and opponent.bot not in own,
            MAX_LOST,
        ),
        entries=entries,
    )


def _versions(user: User, feeds: Sequence[str]) -> dict[int, BotVersion]:
    """The active and the newest versions of own bots, of followed ones, and of those of followed people."""
    bots = Q(bot__owner=user) | Q(bot__in=ids_of(feeds, Bot)) | Q(bot__owner__in=ids_of(feeds, User))
    validated = BotVersion.objects.filter(state__in=BotVersion.VALIDATED)
    newer = validated.filter(bot=OuterRef("bot"), number__gt=OuterRef("number"))
    active = ActiveVersion.objects.filter(version=OuterRef("pk"), enabled=True)
    found = access.visible_versions(access.PUBLIC, validated.filter(bots)).filter(
        Exists(active) | ~Exists(newer)
    )
    own_first = Case(When(bot__owner=user, then=0), default=1)
    return {one.pk: one for one in found.select_related("bot").order_by(own_first, "-pk")[:MAX_VERSIONS]}


def _games(versions: Iterable[int], since: datetime.datetime) -> list[DigestedGame]:
    """The latest games, one more than are counted."""
    latest = _latest(versions, since)
    found = {game.pk: game for game in read_games(Game.objects.filter(pk__in=latest))}
    return [found[pk] for pk in latest if pk in found]


def read_games(games: QuerySet[Game]) -> list[DigestedGame]:
    """Those of these games that everybody sees in lists."""
    rows = access.visible_games(access.PUBLIC, games).values_list(
        "pk", "ladder_id", "white_id", "black_id", "result", "sequence"
    )
    return [
        DigestedGame(pk, ladder, white, black, Result(result or "*"), sequence or 0)
        for pk, ladder, white, black, result, sequence in rows
    ]


def _latest(versions: Iterable[int], since: datetime.datetime) -> list[int]:
    """The ids of the games, the latest first."""
    counted = Game.objects.filter(pk=OuterRef("game"), annulled=False)
    seats = Seat.objects.filter(Exists(counted), version__in=versions, finished_at__gt=since)
    return first_games(seats, ["-finished_at", "-game"], MAX_GAMES + 1)


def _lines(versions: dict[int, BotVersion], games: Iterable[DigestedGame]) -> list[PlayedLine]:
    lines: dict[tuple[int, str], PlayedLine] = {}
    for game in games:
        for own, other in ((game.white, game.black), (game.black, game.white)):
            if own in versions:
                line = lines.setdefault(
                    (own, game.ladder), PlayedLine(versions[own], game.ladder, game.sequence)
                )
                line.first = min(line.first, game.sequence)
                line.score.add(game.result, as_white=own == game.white)
                line.opponents[other] += 1
    return list(lines.values())


def _name_opponents(line: PlayedLine, versions: dict[int, BotVersion]) -> None:
    games: Counter[Bot] = Counter()
    for pk, count in line.opponents.items():
        games[versions[pk].bot] += count
    line.bots = [bot for bot, _ in games.most_common(MAX_OPPONENTS)]
    line.more_bots = len(games) - len(line.bots)


def _rate(lines: Iterable[PlayedLine], games: Sequence[DigestedGame]) -> None:
    by_player = {(line.version.pk, line.ladder): line for line in lines}
    events = RatingEvent.objects.filter(game__in=[game.pk for game in games] if by_player else [])
    rows = events.order_by("sequence").values_list(
        "version", "ladder", "mu_before", "sigma_before", "mu_after", "sigma_after"
    )
    for version, ladder, *numbers in rows:
        if line := by_player.get((version, ladder)):
            line.ratings = line.ratings or [Rating(*numbers[:2]).conservative]
            line.ratings.append(Rating(*numbers[2:]).conservative)
    rated = LadderRating.objects.filter(version__in={version for version, _ in by_player})
    for version, ladder, count, best in rated.values_list("version", "ladder", "games", "best"):
        if line := by_player.get((version, ladder)):
            new = line.ratings[1:]
            line.best = best if best in new and count - len(new) >= SETTLED_GAMES else None


def find_lost(
    games: Iterable[DigestedGame],
    versions: Mapping[int, BotVersion],
    counts: Callable[[BotVersion, BotVersion], bool],
    limit: int,
) -> list[LostGame]:
    """The first games of which ``counts`` says, from the loser and the opponent, that they count as lost."""
    lost: dict[int, tuple[Side, BotVersion, BotVersion]] = {}
    for one in games:
        winner = Outcome(one.result, Reason.NONE).winner
        if winner is None:
            continue
        players = (one.black, one.white) if winner is Side.WHITE else (one.white, one.black)
        loser, opponent = (versions[pk] for pk in players)
        if counts(loser, opponent) and len(lost) < limit:
            lost[one.pk] = winner.other, loser, opponent
    found, records = Game.objects.in_bulk(lost), GameRecord.objects.in_bulk(lost)
    texts = {pk: record.text for pk, record in records.items()}
    return [
        LostGame(loser, opponent, found[pk], _turned(texts.get(pk, ""), side))
        for pk, (side, loser, opponent) in lost.items()
    ]


def _turned(record: str, loser: Side) -> int | None:
    """The loser's ply since which its own score was negative to the end; None if it never turned."""
    if not record:
        return None
    first = 0 if read_first_side(record) is loser else 1
    turned = turned_at(read_scores(record)[first::2])
    return None if turned is None else first + 2 * turned + 1


def _entries(feeds: Sequence[str], since: datetime.datetime) -> list[FeedEntry]:
    """The latest events of these feeds, each once."""
    entries = FeedEntry.objects.filter(feed__in=feeds, updated_at__gt=since)
    rows = access.public_entries(entries).select_related("version__bot", "tournament", "ladder")
    by_key: dict[str, FeedEntry] = {}
    for entry in rows.order_by("-updated_at", "-id")[: 8 * MAX_ENTRIES]:
        by_key.setdefault(entry.key, entry)
    return list(by_key.values())[:MAX_ENTRIES]
