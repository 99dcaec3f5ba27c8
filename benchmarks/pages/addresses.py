"""What is requested of a filled site: every address of the URL table with random ids, and common queries."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import Count
from django.urls import URLPattern, reverse

from engines.examples import load_examples
from engines.rules.registry import GAMES
from tournament.models import BotVersion, Bundle, Game, LadderRating, Pairing, Tournament, User
from tournament.urls import urlpatterns

GUEST: Final = ""
OWNER: Final = "owner-1"
STAFF: Final = "staff"
Kind = Tournament.Kind
Values = dict[str, Any]
Draw = Callable[["SiteFacts", random.Random], Values]

POSTED: Final = frozenset(
    name
    for name in (
        "bot-activity version-validate version-withdraw version-reinstate tournament-start"
        " tournament-announce tournament-pause tournament-resume tournament-cancel tournament-extend"
        " tournament-priority tournament-enter tournament-leave version-test-stop worker-quarantine"
        " worker-release log-out notices-read notice-read sessions-end session-end token-revoke"
        " api-upload api-workers"
    ).split()
)
"""Addresses that answer only to POST: they change something and redirect."""


@dataclass(frozen=True, slots=True)
class PageCase:
    """Requests of one kind. ``query`` names the query string's values; an empty visitor is a guest."""

    name: str
    """Of the address in the URL table."""
    label: str = ""
    visitor: str = GUEST
    values: Draw = lambda facts, source: {}
    query: Draw = lambda facts, source: {}
    polls: bool = False
    """Whether htmx asks, for the part that changes."""

    @property
    def title(self) -> str:
        who = f" ({self.visitor})" if self.visitor else ""
        return f"{self.name}{f': {self.label}' if self.label else ''}{who}"

    def path(self, facts: SiteFacts, source: random.Random) -> str:
        query = urlencode(self.query(facts, source))
        address = reverse(self.name, kwargs=self.values(facts, source))
        return f"{address}?{query}" if query else address


@dataclass
class SiteFacts:
    """Ids of a filled site, from which requests draw."""

    bots: list[tuple[str, int]] = field(default_factory=list)
    """The slugs and versions of valid bots."""
    own: list[tuple[str, int]] = field(default_factory=list)
    """Those of ``OWNER``."""
    pairs: list[tuple[str, str, str]] = field(default_factory=list)
    """The ladder and the slugs of two bots that have played there."""
    rated: list[tuple[str, str]] = field(default_factory=list)
    """Slugs of bots and ladders on which they are rated."""
    tournaments: dict[str, list[str]] = field(default_factory=dict)
    """Slugs by kind; ``large`` for round robins of 100 bots (of a small site: any), ``running`` for those
    that are played.
    """
    games: list[int] = field(default_factory=list)
    """Recorded games."""
    logged: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    bundles: list[str] = field(default_factory=list)
    openings: list[str] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)

    @classmethod
    def collect(cls, source: random.Random) -> SiteFacts:
        """From the database."""
        facts = cls()
        valid = BotVersion.objects.valid().order_by("pk")
        for slug, number, owner in valid.values_list("bot__slug", "number", "bot__owner__username"):
            facts.bots.append((slug, number))
            if owner == OWNER:
                facts.own.append((slug, number))
        facts.rated = list(LadderRating.objects.order_by("pk").values_list("version__bot__slug", "ladder"))
        facts.versions = list(LadderRating.objects.order_by("pk").values_list("version", flat=True))
        for slug, kind, state, entries in _tournaments():
            _note(facts, slug, kind, state, entries)
        facts.tournaments.setdefault("large", facts.tournaments["any"])
        last = Game.objects.order_by("-pk").values_list("pk", flat=True)[0]
        chosen = Game.objects.filter(
            pk__in=[source.randint(1, last) for _ in range(2000)], sequence__isnull=False
        )
        chosen = chosen.exclude(tournament__kind=Kind.VALIDATION)
        columns = ("pk", "key", "ladder", "white__bot__slug", "black__bot__slug")
        for pk, key, ladder, white, black in chosen.order_by("pk").values_list(*columns):
            facts.games.append(pk)
            facts.keys.append(key)
            if white != black:
                facts.pairs.append((ladder, white, black))
        facts.logged = list(chosen.filter(logs__isnull=False).distinct().values_list("pk", flat=True))
        facts.people = list(
            User.objects.filter(bots__versions__state="valid").distinct().values_list("username", flat=True)
        )
        facts.bundles = list(Bundle.objects.values_list("pk", flat=True)[:100])
        openings = Pairing.objects.filter(games__in=facts.games[:500]).exclude(opening="")
        facts.openings = sorted(set(openings.values_list("opening", flat=True)))
        return facts


def _tournaments() -> Iterator[tuple[str, str, str, int]]:
    rows = Tournament.objects.exclude(kind=Kind.VALIDATION).exclude(state=Tournament.State.DRAFT)
    yield from (
        rows.annotate(entered=Count("entries")).order_by("pk").values_list("slug", "kind", "state", "entered")
    )


def _note(facts: SiteFacts, slug: str, kind: str, state: str, entries: int) -> None:
    kinds = [kind]
    if kind not in {Kind.LADDER, Kind.VERSION_TEST}:
        kinds.append("any")
        if state == Tournament.State.RUNNING:
            kinds.append("running")
    if kind == Kind.ROUND_ROBIN and entries >= 100:
        kinds.append("large")
    for one in kinds:
        facts.tournaments.setdefault(one, []).append(slug)


# Draws


def _ladder(facts: SiteFacts, source: random.Random) -> Values:
    return {"code": source.choice(list(GAMES))}


def _bot(facts: SiteFacts, source: random.Random) -> Values:
    return {"slug": source.choice(facts.bots)[0]}


def _own_bot(facts: SiteFacts, source: random.Random) -> Values:
    return {"slug": source.choice(facts.own)[0]}


def _version(facts: SiteFacts, source: random.Random) -> Values:
    slug, number = source.choice(facts.bots)
    return {"slug": slug, "number": number}


def _own_version(facts: SiteFacts, source: random.Random) -> Values:
    slug, number = source.choice(facts.own)
    return {"slug": slug, "number": number}


def _two_bots(facts: SiteFacts, source: random.Random) -> Values:
    _, one, other = source.choice(facts.pairs)
    return {"slug": one, "other": other}


def _rated(facts: SiteFacts, source: random.Random) -> Values:
    slug, code = source.choice(facts.rated)
    return {"slug": slug, "code": code}


def _tournament(kind: str) -> Draw:
    return lambda facts, source: {"slug": source.choice(facts.tournaments[kind])}


def _game(facts: SiteFacts, source: random.Random) -> Values:
    return {"pk": source.choice(facts.games)}


def _person(facts: SiteFacts, source: random.Random) -> Values:
    return {"name": source.choice(facts.people)}


def _with(draw: Draw, **more: Any) -> Draw:
    """The same values and fixed ones."""
    return lambda facts, source: {**draw(facts, source), **more}


def _query(**fixed: Any) -> Draw:
    return lambda facts, source: fixed


def _example(facts: SiteFacts, source: random.Random) -> Values:
    code = source.choice(list(GAMES))
    return {"code": code, "name": source.choice(load_examples(code)).name, "ply": 0}


def _pair_filter(facts: SiteFacts, source: random.Random) -> Values:
    ladder, one, other = source.choice(facts.pairs)
    return {"bot": one, "opponent": other, "ladder": ladder}


def _bot_filter(facts: SiteFacts, source: random.Random) -> Values:
    return {"bot": source.choice(facts.bots)[0]}


def _ladder_filter(facts: SiteFacts, source: random.Random) -> Values:
    return {"ladder": source.choice(list(GAMES))}


def _from_the_middle(facts: SiteFacts, source: random.Random) -> Values:
    """The parameter of a list by ids, somewhere in its middle."""
    return {"before": source.choice(facts.games)}


def _of_a_version(facts: SiteFacts, source: random.Random) -> Values:
    return {"bot": source.choice(facts.versions)}


def _key(facts: SiteFacts, source: random.Random) -> Values:
    return {"id": source.choice(facts.keys)}


FILES: Final = (
    "games-export", "overall-scores", "bots-files", "tournaments-files", "version-tests-files", "corrections",
    "workers-files", "staff-log-files", "storage-files",
)  # fmt: skip
"""Addresses of lists as files."""

VALUES: Final[dict[str, Draw]] = {
    **dict.fromkeys(
        ("ladder", "ladder-compare", "ladder-feed", "ladder-records", "rules", "hard-positions"), _ladder
    ),
    "ladder-ratings": _with(_ladder, kind="csv"),
    **dict.fromkeys(("bot", "bot-feed", "bot-compare"), _bot),
    "bot-history": _rated,
    "bot-comparison": _two_bots,
    **dict.fromkeys(("bot-ratings", "bot-results"), _with(_bot, kind="csv")),
    **dict.fromkeys(("comparison-results", "comparison-estimates"), _with(_two_bots, kind="csv")),
    **dict.fromkeys(("version", "bundle", "api-version"), _version),
    **dict.fromkeys(("tournament", "tournament-feed", "tournament-records"), _tournament("any")),
    "tournament-standings": _with(_tournament("any"), kind="csv"),
    "tournament-crosstable": _with(_tournament("any"), kind="json"),
    "tournament-pairings": _with(_tournament(Kind.SWISS.value), kind="csv"),
    **dict.fromkeys(("version-test", "version-test-ratios"), _tournament(Kind.VERSION_TEST)),
    "version-test-pairs": _with(_tournament(Kind.VERSION_TEST), kind="csv"),
    "person-ratings": _with(_person, kind="csv"),
    **dict.fromkeys(("person", "person-feed"), _person),
    **dict.fromkeys(("game", "game-embed", "game-record"), _game),
    **dict.fromkeys(("game-svg", "game-png"), _with(_game, ply=7)),
    "game-log": lambda facts, source: {"pk": source.choice(facts.logged), "side": "white"},
    **dict.fromkeys(FILES, _query(kind="csv")),
    "queue-files": _query(name="bots", kind="csv"),
    "example-svg": _example,
    "account_confirm_email": _query(key="none"),
    "account_reset_password_from_key": _query(uidb36="1", key="none"),
    "api-bundle": lambda facts, source: {"sha256": source.choice(facts.bundles)},
    "api-nothing": _query(rest="none"),
    "boards-css-hashed": _query(digest="0123456789ab"),
}
"""How the arguments of an address are drawn."""

VISITORS: Final = {
    "upload": OWNER, "tournament-new": OWNER, "version-test-new": OWNER, "bundle": STAFF, "game-log": STAFF,
    "staff-log": STAFF, "annulments": STAFF, "storage": STAFF,
    "staff-log-files": STAFF, "storage-files": STAFF, "metrics": STAFF,
    "tokens": OWNER, "sessions": OWNER, "account": OWNER, "password-change": OWNER,
    "account_email": OWNER, "account_reauthenticate": OWNER, "mfa_index": OWNER, "mfa_activate_totp": OWNER,
    "mfa_reauthenticate": OWNER, "mfa_deactivate_totp": OWNER, "mfa_view_recovery_codes": OWNER,
    "mfa_generate_recovery_codes": OWNER, "api-about": STAFF, "api-version": STAFF, "api-bundles": STAFF,
    "api-bundle": STAFF,
}  # fmt: skip
"""Who asks for an address; guests for all others."""

QUERIES: Final[dict[str, Draw]] = {
    "bot-compare": lambda facts, source: {"with": source.choice(facts.bots)[0]},
    "ladder-compare": lambda facts, source: {
        "one": source.choice(facts.versions),
        "other": source.choice(facts.versions),
    },
    "game-engines": _key,
}
"""Query strings without which an address has nothing to show."""


def _tournament_cases() -> Iterator[PageCase]:
    for kind in ("large", Kind.SWISS.value, Kind.KNOCK_OUT.value, Kind.GAUNTLET.value, "running"):
        yield PageCase("tournament", kind, values=_tournament(kind))
    large, ladder = _tournament("large"), _tournament(Kind.LADDER.value)
    yield PageCase("tournament", "large, full table", values=large, query=_query(table="full"))
    for label, values in (("large", large), ("a ladder's", ladder)):
        for result in ("forfeit", "draw", "halted", "all"):
            yield PageCase("tournament", f"{label}, {result}", values=values, query=_query(result=result))
        yield PageCase("tournament", f"{label}, of a bot", values=values, query=_of_a_version)
        yield PageCase("tournament", f"{label}, older games", values=values, query=_from_the_middle)
    yield PageCase("tournament", "a ladder's", values=ladder)
    yield PageCase("tournament", "large", STAFF, values=large)
    yield PageCase(
        "tournament", "poll", values=_tournament("running"), query=_query(seen="running"), polls=True
    )
    yield PageCase("tournament-standings", "large", values=_with(large, kind="json"))
    yield PageCase("tournament-crosstable", "large", values=_with(large, kind="csv"))


def _game_cases() -> Iterator[PageCase]:
    filters: dict[str, Draw] = {
        "ladder": _ladder_filter,
        "bot": _bot_filter,
        "bot, lost": lambda facts, source: {**_bot_filter(facts, source), "result": "lost"},
        "bot, its forfeits": lambda facts, source: {**_bot_filter(facts, source), "fault": "bot"},
        "bot and opponent": _pair_filter,
        "forfeits": _query(fault="either"),
        "forfeits by White": _query(fault="white"),
        "ladder, forfeits": lambda facts, source: {**_ladder_filter(facts, source), "fault": "either"},
        "crashes": _query(termination="crash"),
        "ladder, crashes": lambda facts, source: {**_ladder_filter(facts, source), "termination": "crash"},
        "longest": _query(sort="longest"),
        "ladder, longest": lambda facts, source: {**_ladder_filter(facts, source), "sort": "longest"},
        "oldest": _query(sort="oldest"),
        "not rated": _query(rated="no"),
        "opening": lambda facts, source: {"opening": source.choice(facts.openings)},
        "tournament": lambda facts, source: {"tournament": source.choice(facts.tournaments["any"])},
        "tournament, round": lambda facts, source: {
            "tournament": source.choice(facts.tournaments["any"]),
            "round": 1,
        },
        "annulled": _query(annulled="yes"),
        "counted, of a tournament": lambda facts, source: {
            "tournament": source.choice(facts.tournaments["any"]),
            "annulled": "no",
        },
        "pairs of a version test": lambda facts, source: {
            "tournament": source.choice(facts.tournaments[Kind.VERSION_TEST]),
            "pair": "counted",
        },
        "owner": lambda facts, source: {"owner": source.choice(facts.people)},
        "long games": _query(min_plies=200),
    }
    for label, query in filters.items():
        yield PageCase("games", label, query=query)
    for kind in ("jsonl", "pgn"):
        yield PageCase("games-export", kind, values=_query(kind=kind), query=_ladder_filter)


def _other_cases() -> Iterator[PageCase]:
    yield PageCase("ladder", "page 2", values=_ladder, query=_query(page=2))
    yield PageCase("ladder-ratings", "json", values=_with(_ladder, kind="json"))
    yield PageCase("bots", "page 5", query=_query(page=5))
    yield PageCase("bot", "own", OWNER, values=_own_bot)
    yield PageCase("bot", "all opponents", values=_bot, query=_query(opponents="all"))
    yield PageCase("version", "own", OWNER, values=_own_version)
    yield PageCase(
        "game", "with logs", STAFF, values=lambda facts, source: {"pk": source.choice(facts.logged)}
    )
    yield PageCase("workers", "", STAFF)
    yield PageCase("queue", "own bots", OWNER)
    yield PageCase("queue", "poll", polls=True)
    yield PageCase("home", "poll", polls=True)
    yield PageCase("person", "own", OWNER, values=_query(name=OWNER))
    yield PageCase(
        "version-test",
        "poll",
        values=_tournament(Kind.VERSION_TEST.value),
        query=_query(seen="running"),
        polls=True,
    )


def page_cases() -> Sequence[PageCase]:
    """Every address of the URL table that answers to GET, then the common queries."""
    names = dict.fromkeys(str(one.name) for one in urlpatterns if isinstance(one, URLPattern))
    nothing: Draw = _query()
    table = [
        PageCase(name, "", VISITORS.get(name, GUEST), VALUES.get(name, nothing), QUERIES.get(name, nothing))
        for name in names
        if name not in POSTED
    ]
    return [*table, *_tournament_cases(), *_game_cases(), *_other_cases()]
