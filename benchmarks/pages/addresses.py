"""What is requested of a filled site: every address of the tests' table, and common queries."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet

from engines.rules.registry import GAMES
from tests.support.addresses import EXPECTED
from tournament.models import BotVersion, Bundle, Game, GameLog, LadderRating, Pairing, Tournament, User

GUEST, OWNER, STAFF = "", "owner-1", "staff"
Kind = Tournament.Kind
PLACES: Final = {
    "stone-age/1": "{bot}/1", "stone-age": "{bot}", "brivalb": "{other}", "nobody": "{other}",
    "one=0&other=0": "one={version}&other={other_version}", "0" * 64: "{bundle}", "olga": "{person}",
    "{draft}": "{any}", "{drafted}": "{game}", "{played}/log": "{logged}/log", "{played}": "{game}",
    "{played_key}": "{key}", "{staged}": "{swiss}", "{tested}": "{version-test}",
}  # fmt: skip
"""Rows of the tests' site in their table of addresses, and the placeholders that take their places."""
QUERIES: Final = """
/tournaments/{large}/ large            | /tournaments/{large}/?table=full large, full table
/tournaments/{swiss}/ swiss            | /tournaments/{knock-out}/ knock-out
/tournaments/{gauntlet}/ gauntlet      | /tournaments/{running}/ running
/tournaments/{large}/?result=forfeit large, forfeits | /tournaments/{large}/?bot={version} large, of a bot
/tournaments/{ladder-event}/ a ladder's games
/tournaments/{ladder-event}/?result=forfeit a ladder's games, forfeits
/tournaments/{ladder-event}/?bot={version} a ladder's games, of a bot
/tournaments/{ladder-event}/?before={game} a ladder's games, older
/tournaments/{large}/standings.json large | /tournaments/{large}/crosstable.csv large
/games/?ladder={ladder} ladder         | /games/?bot={bot} bot
/games/?bot={bot}&result=lost lost     | /games/?bot={bot}&fault=bot its forfeits
/games/?bot={bot}&opponent={other} two bots | /games/?fault=either forfeits
/games/?ladder={ladder}&termination=crash crashes | /games/?ladder={ladder}&sort=longest longest
/games/?rated=no not rated             | /games/?opening={opening} opening
/games/?tournament={any} tournament    | /games/?owner={person} owner
/games/?annulled=yes annulled          | /games/?min_plies=200 long
/games/games.jsonl?ladder={ladder} export | /games/games.pgn?ladder={ladder} export
/ladders/{ladder}/?page=2 second page  | /bots/?page=5 page 5
/bots/{bot}/?opponents=all all opponents
"""
"""Common queries with their titles."""
POLLED: Final = ("/tournaments/{running}/?seen=running", "/queue/", "/")
"""What htmx requests again and again."""


@dataclass(frozen=True, slots=True)
class PageCase:
    """Requests of one kind: a path with placeholders; an empty visitor is a guest."""

    title: str
    template: str
    visitor: str = GUEST
    polls: bool = False


class SiteFacts:
    """Ids of a filled site; ``facts[placeholder]`` draws one."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        rated = list(LadderRating.objects.order_by("pk").values_list("version", "version__bot__slug"))
        events = Tournament.objects.exclude(kind=Kind.VALIDATION).exclude(state=Tournament.State.DRAFT)
        rows = list(events.order_by("pk").values_list("slug", "kind", "state", "games_total"))
        last = Game.objects.order_by("-pk").values_list("pk", flat=True)[0]
        games = Game.objects.filter(
            pk__in=[source.randint(1, last) for _ in range(2000)], result__isnull=False
        )
        games = games.exclude(tournament__kind=Kind.VALIDATION)
        shown = [row for row in rows if row[1] not in {Kind.LADDER, Kind.VERSION_TEST}]
        largest = max(total for *_, total in shown)
        logged = GameLog.objects.exclude(game__tournament__kind=Kind.VALIDATION)
        slugs = [slug for _, slug in rated]
        self._values: dict[str, list[Any]] = {
            **{kind: [row[0] for row in rows if row[1] == kind] for kind in Kind.values},
            "any": [row[0] for row in shown],
            "large": [row[0] for row in shown if row[3] >= 0.5 * largest],
            "running": [row[0] for row in shown if row[2] == Tournament.State.RUNNING],
            "ladder-event": [row[0] for row in rows if row[1] == Kind.LADDER],
            "game": list(games.values_list("pk", flat=True)),
            "key": list(games.values_list("key", flat=True)),
            "logged": list(logged.values_list("game", flat=True)[:500]),
            "ladder": list(GAMES),
            "bot": slugs[::2],
            "other": slugs[1::2],
            "version": [pk for pk, _ in rated[::2]],
            "other_version": [pk for pk, _ in rated[1::2]],
            "bundle": list(Bundle.objects.values_list("pk", flat=True)[:100]),
            "person": list(_owners().values_list("username", flat=True)),
            "opening": list(Pairing.objects.exclude(opening="").values_list("opening", flat=True)[:500]),
        }

    def __getitem__(self, name: str) -> Any:
        return self._source.choice(self._values[name])


def _owners() -> QuerySet[User]:
    return User.objects.filter(bots__versions__in=BotVersion.objects.valid()).distinct()


def page_cases() -> Sequence[PageCase]:
    """Every address of the tests' table that answers to GET, then the common queries."""
    return [*_table(), *_queries(), *(PageCase(f"{path}, poll", path, polls=True) for path in POLLED)]


def _table() -> Iterator[PageCase]:
    for name, (path, (guest, _, owner, staff)) in EXPECTED.items():
        if path.startswith("POST "):
            continue
        for row, place in PLACES.items():
            path = path.replace(row, place)
        if "chain" not in path:
            path = path.replace("dogon-kulei", "{ladder}")
        is_public = guest == 200 or (
            name.startswith(("game", "tournament", "version")) and name != "game-log"
        )
        visitor = GUEST if is_public and owner != 302 else OWNER if (guest, owner) == (302, 200) else STAFF
        yield PageCase(name, path, GUEST if staff == 302 else visitor)


def _queries() -> Iterator[PageCase]:
    for cell in QUERIES.replace("\n", " | ").split(" | "):
        if path := cell.strip().partition(" ")[0]:
            title = cell.strip().partition(" ")[2]
            yield PageCase(f"{path.split('?')[0].strip('/')}: {title}", path)
