"""What every tournament format answers. A format has no state and writes nothing.

``TournamentFormat`` has the answers of an ordinary tournament. Each format is a class in a module of this
package and overrides what is different.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from django.template.defaultfilters import pluralize

from engines.arithmetic.standings import Crosstable, format_points
from engines.formats import EventFormat
from engines.formats.rated import UNRATED, OwnedBot, Unrated, why_shared, why_unrated
from engines.pairing.knockout import KnockoutMatch
from engines.pairing.results import Absences, MeetingResult
from engines.rules.registry import GAMES
from workers.jobs import Work

if TYPE_CHECKING:
    from tournament.models import Bot, BotVersion, Game, Tournament

MAX_ROUNDS = 100
COLOURS = "The two games of a pair have the same opening and opposite colours."


class TournamentError(ValueError):
    """Invalid terms of a tournament: one sentence that begins with the field's name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A whole number that only some formats have, with its field in the form for a new tournament."""

    name: str
    """The name of the field and of the column of ``Tournament``."""
    label: str
    least: int
    most: int
    initial: int
    help_text: str
    missing: str = ""
    """The error if the field is empty; without one, empty means 0."""


class GameEffect(Enum):
    """What may follow a recorded game, see ``services.results.effects``."""

    RATINGS = auto()
    """It changes the ratings of its ladder, unless it repeats another."""
    FORFEITS = auto()
    """A version that loses too many games in a row by its own fault is withdrawn."""
    PROGRESS = auto()
    """It is one of the tournament's games that are over; the last one may end the tournament."""


BY_STAFF = "staff rates it although"


@dataclass(frozen=True, slots=True)
class VersionVerdict:
    """What a validation decides about its version."""

    state: Literal["valid", "refused", "waiting"]
    """The new state; a version that waits is tried again."""
    reason: str = ""
    """One sentence for the owner; empty for a valid version."""


@dataclass(frozen=True, slots=True)
class StandingsTable:
    """The tables of one ladder of a tournament."""

    ladder: str
    versions: dict[int, BotVersion]
    """The players by id, in the order of their seeds or entries."""
    crosstable: Crosstable
    met: list[MeetingResult] = field(default_factory=list)
    """The meetings so far, players being seeds; empty unless the rounds are paired one by one."""
    absent: Absences = field(default_factory=dict)
    """The seeds without whom each round was drawn."""
    bracket: list[list[KnockoutMatch]] = field(default_factory=list)
    """Only for a knock-out that has begun."""
    ratings: dict[int, float] = field(default_factory=dict)
    """mu - 3 sigma by version, from this tournament's games alone; empty unless computed with them."""

    def seeded(self, seed: int) -> BotVersion:
        return list(self.versions.values())[seed - 1]


@dataclass(frozen=True, slots=True)
class Winners:
    """Whom the top of a finished tournament's page names on one ladder, by version ids."""

    title: str
    players: Sequence[int]
    note: str = ""


REGISTERED: list[TournamentFormat] = []
"""One of each format that is loaded."""


class TournamentFormat(EventFormat):
    """The format of a tournament; a subclass with a ``code`` is registered when it is defined.

    ``code`` is the value of ``Tournament.kind``.
    """

    label: ClassVar[str]
    """Its name within a sentence."""
    choice: ClassVar[str] = ""
    """Its line in the form for a new tournament; empty if users do not make it there."""
    sort_key: ClassVar[int] = 100
    """Its place among the formats: lower ones come first."""
    page: ClassVar[str] = "tournament"
    """The name of its page's address."""
    work: ClassVar[Work] = Work.GAMES
    """Which workers play its games."""

    def __init_subclass__(cls) -> None:
        if "code" in vars(cls):
            REGISTERED.append(cls())

    # Who sees it

    is_listed: ClassVar[bool] = True
    """Lists of tournaments show it."""
    has_news: ClassVar[bool] = True
    """Feeds and notices tell its start and its end."""

    @property
    def is_public(self) -> bool:
        """Everybody may see its games, once it has begun; if not, the logs of all are kept for long."""
        return self.work is Work.GAMES

    # Its schedule

    is_endless: ClassVar[bool] = False
    """More games always follow."""
    is_sequential: ClassVar[bool] = False
    """Its pairs are made a few at a time, until a sequential test is decided; all other games come first."""
    extends: ClassVar[Literal["", "pairs", "rounds"]] = ""
    """What can be added to it after its start."""
    games_vary: ClassVar[bool] = False
    """It may take more games than the fewest that decide it."""

    # Its terms

    parameters: ClassVar[Sequence[Parameter]] = ()

    @property
    def own_fields(self) -> list[str]:
        """The fields of the form for a new tournament that only this format has."""
        return [*(["challenger"] if self.has_challenger else []), *(own.name for own in self.parameters)]

    @property
    def ends_with_its_games(self) -> bool:
        """It is over once all games that it has are."""
        return not (self.is_staged or self.is_endless or self.is_sequential)

    # Its results

    @property
    def has_places(self) -> bool:
        """Its players have places, and its page has tables."""
        return self.has_cycles or self.is_staged

    openings_note: ClassVar[str] = ""
    """Ends the sentence about its openings."""
    template: ClassVar[str] = "formats/table.html"
    """Draws ``cross``, the tables of one ladder, on its page."""

    def check_size(self, players: Mapping[str, Sequence[Any]]) -> None:
        """Check that those who play on each ladder are not too many; raises ``TournamentError``."""

    def check_players(self, players: Mapping[str, Sequence[Any]]) -> None:
        """Check that those who play on each ladder are enough; raises ``TournamentError``."""
        for code, entered in players.items():
            if len(entered) < 2:
                who = f"only {str(entered[0])!r} plays" if entered else "none of the bots plays"
                raise TournamentError(f"ladders: {who} {code!r}, it needs two")

    def why_unrated(self, game: Game) -> Unrated | None:
        """Why a game is not rated; None if it may be.

        Validations, version tests and what users' own workers play are unrated; of others their owner
        decides, and the terms of the ladder. Of games that repeat each other only the first is rated
        (``services.results.storing``), and annulled games are not (``services.annulments``).
        """
        event = game.tournament
        return why_unrated(
            owned(game.white.bot),
            owned(game.black.bot),
            is_event_rated=event.rated and not event.own_workers,
            off_terms=None if event.rated_off_terms else event.off_terms.get(game.ladder_id),
        )

    def explain(self, why: Unrated) -> str:
        """The same in words."""
        return f"the {self.label} is not rated" if why is Unrated.EVENT else UNRATED[why]

    def describe_rated(self, bots: Sequence[Bot], event: Tournament) -> str:
        """Whether the games of a tournament are rated if these bots are entered, in words."""
        if not event.rated:
            return "no"
        off_terms = event.off_terms
        where = [
            f"{UNRATED[why]} ({', '.join(GAMES[code].name for code in off_terms if off_terms[code] == why)})"
            for why in UNRATED
            if why in off_terms.values()
        ]
        why, is_always = self._shared_among(bots)
        if why and is_always:
            return f"no: in every game {UNRATED[why]}"
        if where and not event.rated_off_terms and set(event.ladders) <= off_terms.keys():
            return f"no: {' and '.join(where)}"
        unrated = [UNRATED[why]] if why else []
        if not event.rated_off_terms:
            unrated += where
        said = f"yes, but not where {' or '.join(unrated)}" if unrated else "yes"
        return f"{said}; {BY_STAFF} {' and '.join(where)}" if event.rated_off_terms and where else said

    def _shared_among(self, bots: Sequence[Bot]) -> tuple[Unrated | None, bool]:
        """Why games between some of these bots are not rated, and whether it is so in all of them."""
        groups: dict[Hashable, list[OwnedBot]] = {}
        owned_bots = [owned(bot) for bot in bots]
        for bot in owned_bots:
            groups.setdefault(bot.rated_as, []).append(bot)
        meeting = [groups[bot.rated_as] for bot in owned_bots[:1]] if self.has_challenger else groups.values()
        same = next((group for group in meeting if len(group) > 1), None)
        return (why_shared(same[0], same[1]), len(groups) == 1) if same else (None, False)

    def rates(self, game: Game) -> bool:
        """Whether a game may be rated, see ``why_unrated``."""
        return self.why_unrated(game) is None

    def effects(self, game: Game) -> set[GameEffect]:
        """What follows one of its games when it is recorded."""
        left_out = set() if self.rates(game) else {GameEffect.RATINGS}
        if game.tournament.own_workers:  # their reports concern the tournament's owner alone
            left_out.add(GameEffect.FORFEITS)
        return set(GameEffect) - left_out

    def is_hopeless(self, evidence: str) -> bool:
        """Whether a game without a result is given up at once; others are tried again."""
        return False

    def verdict(self, tournament: Tournament) -> VersionVerdict | None:
        """What its end means for the version that it validates; None for all but validations."""
        return None

    # Its page

    def describe_meetings(self, tournament: Tournament) -> str:
        """Who meets how often, with HTML."""
        return f"{count_pairs(tournament)} in each meeting. {COLOURS}"

    def describe_openings(self, tournament: Tournament) -> str:
        plies, seed = tournament.opening_plies, tournament.seed
        if lines := sum(len(openings) for openings in tournament.book.values()):
            return f"{lines} opening{pluralize(lines)} of a book, in an order drawn from seed {seed}."
        if not plies:
            return f"The initial position; the seed is {seed}."
        return f"{plies} random pl{pluralize(plies, 'y,ies')} from seed {seed}{self.openings_note}."

    def details(self, table: StandingsTable) -> Any:
        """What its template needs beside the table, as ``cross.details``."""

    def winners(self, table: StandingsTable) -> Winners | None:
        """Whom the page of a finished tournament names."""
        rows = table.crosstable.rows
        first = [row.player for row in rows if row.rank == 1]
        title = "Champion" if len(first) == 1 else "Shared first place"
        return Winners(title, first, f"{format_points(rows[0].points)} points")


def owned(bot: Bot) -> OwnedBot:
    """As what decides about ratings knows it."""
    return OwnedBot(bot.pk, bot.owner_id)


def count_pairs(tournament: Tournament) -> str:
    """The pairs of games of a meeting, with the noun."""
    return f"{tournament.pairs} pair{pluralize(tournament.pairs)} of games"
