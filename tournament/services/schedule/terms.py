"""The terms of a tournament, their checks before it is stored, and which bots play on which ladder."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from engines.book import BookError, read_book
from engines.formats.rated import Unrated
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.base import UnknownGame
from engines.rules.registry import find_game
from engines.timecontrol import TimeControlError, parse_time_control
from tournament.formats import FORMATS, PARAMETERS, TournamentFormat
from tournament.formats.base import TournamentError
from tournament.formats.round_robin import RoundRobin
from tournament.models import BotVersion, Matchmaking, Tournament
from workers.jobs import MAX_OPENING_PLIES

MAX_PAIRS = 1_000
MAX_GAMES = 100_000
MAX_NAME = 80
MAX_BOOK = 100_000
"""Characters."""
MAX_SEED = 2**63 - 1
MAX_PRIORITY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentTerms:
    """An organizer's settings; see ``Tournament`` for the meaning of the fields."""

    name: str
    versions: Sequence[BotVersion]
    """The versions in the order of the tables; the first is a gauntlet's challenger."""
    ladders: Sequence[str]
    pairs: int
    time_control: str
    seed: int
    opening_plies: int
    book: str = ""
    """The text of a book of openings (``engines.book``), or empty."""
    kind: str = RoundRobin.code
    rated: bool = True
    rated_off_terms: bool = False
    """Only staff may set it."""
    own_workers: bool = False
    ply_limit: int | None = None
    rounds: int = 0
    extra_pairs: int = 0
    starts_at: datetime.datetime | None = None
    entry_until: datetime.datetime | None = None
    """Set: bots may be entered until then, and ``versions`` may be empty."""

    @property
    def format(self) -> TournamentFormat:
        return FORMATS[self.kind]


def stored_terms(tournament: Tournament, versions: Sequence[BotVersion]) -> TournamentTerms:
    """The terms of a tournament with these versions; its openings as the text of a book."""
    book = [line for code, lines in tournament.book.items() for line in (f"[{code}]", *lines)]
    same = [one.name for one in fields(TournamentTerms) if one.name not in {"versions", "book"}]
    columns = {name: getattr(tournament, name) for name in same}
    return TournamentTerms(versions=versions, book="".join(f"{line}\n" for line in book), **columns)


def checked_terms(terms: TournamentTerms) -> TournamentTerms:
    """The terms as they are stored, after all checks of form fields; raises ``TournamentError``."""
    own = {one.name: getattr(terms, one.name) for one in terms.format.parameters}
    terms = replace(terms, name=" ".join(terms.name.split()), **dict.fromkeys(PARAMETERS, 0) | own)
    if not 1 <= len(terms.name) <= MAX_NAME:
        raise TournamentError(f"name: give it 1 to {MAX_NAME} characters, not {len(terms.name)}")
    if not terms.name.isprintable():  # it becomes a header of every record
        raise TournamentError(f"name: {terms.name!r} contains an invisible character")
    check_range("pairs", terms.pairs, 1, MAX_PAIRS)
    check_range("seed", terms.seed, 0, MAX_SEED)
    check_range("opening plies", terms.opening_plies, 0, MAX_OPENING_PLIES)
    if terms.ply_limit is not None:
        check_range("ply limit", terms.ply_limit, terms.opening_plies + 1, 100_000)
    for one in terms.format.parameters:
        check_range(one.name.replace("_", " "), own[one.name], one.least, one.most)
    try:
        parse_time_control(terms.time_control)
    except TimeControlError as error:
        raise TournamentError(f"time control: {error}") from None
    _check_versions(terms)
    _check_ladders(terms.ladders)
    _check_each_plays(terms)
    read_openings(terms)
    if terms.entry_until is None:
        check_players(terms, terms.versions)
    return terms


def find_off_terms(of: TournamentTerms | Tournament) -> dict[str, str]:
    """The ladders on whose present terms it is not played (``Tournament.off_terms``); none if unrated."""
    if not of.rated:
        return {}
    found = {row.ladder_id: _why_off(of, row) for row in Matchmaking.objects.of_ladders(of.ladders)}
    return {code: why for code, why in found.items() if why}


def _why_off(of: TournamentTerms | Tournament, row: Matchmaking) -> Unrated | None:
    plies = None if of.book else of.opening_plies
    return row.terms.why_off(row.ladder_id, of.time_control, plies, of.ply_limit)


def read_openings(terms: TournamentTerms) -> dict[str, list[str]]:
    """The openings of the book by ladder; raises ``TournamentError``."""
    if not terms.book.strip():
        return {}
    if len(terms.book) > MAX_BOOK:
        raise TournamentError(f"book: {len(terms.book)} characters are too many, a book has {MAX_BOOK}")
    found: dict[str, list[str]] = {}
    for code in terms.ladders:
        try:
            starts = list(read_book(find_game(code), terms.book, terms.ply_limit))
        except BookError as error:
            raise TournamentError(f"book: {error}") from None
        if not starts:
            raise TournamentError(f"book: it has no opening for {code!r}")
        for start in starts:
            if len(start.moves) > MAX_OPENING_PLIES:
                plies = f"{len(start.moves)} plies, {MAX_OPENING_PLIES} are the most"
                raise TournamentError(f"book: an opening for {code!r} has {plies}")
            if start.fen is not None:
                raise TournamentError(f"book: openings begin at the initial position, not at {start.fen!r}")
        found[code] = list(dict.fromkeys(" ".join(start.moves) for start in starts))
    return found


def check_range(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise TournamentError(f"{field}: must be from {least} to {most}, not {value}")


def check_times(
    now: datetime.datetime, starts_at: datetime.datetime | None, entry_until: datetime.datetime | None
) -> None:
    """Check that a tournament can be announced for these times; raises ``TournamentError``."""
    if starts_at is None and entry_until is None:
        raise TournamentError("starts at: enter a start time, or a deadline for entries")
    if entry_until is not None and entry_until <= now:
        raise TournamentError("entry until: must be in the future")
    if starts_at is not None and starts_at <= now:
        raise TournamentError("starts at: must be in the future")
    if starts_at is not None and entry_until is not None and starts_at < entry_until:
        raise TournamentError("starts at: must not be before the end of entry")


def players_of(versions: Sequence[BotVersion], ladders: Sequence[str]) -> dict[str, list[BotVersion]]:
    """Each ladder's players: those of the versions that play it."""
    return {code: [version for version in versions if version.plays(code)] for code in ladders}


def check_players(of: TournamentTerms | Tournament, versions: Sequence[BotVersion]) -> None:
    """Check that these players are enough and not too many; raises ``TournamentError``."""
    of.format.check_players(players_of(versions, of.ladders))
    check_size(of, versions)


def check_size(of: TournamentTerms | Tournament, versions: Sequence[BotVersion]) -> None:
    """Check that these players are not too many; raises ``TournamentError``."""
    of.format.check_size(players_of(versions, of.ladders))
    games = sum(count_games(of, versions).values())
    if games > MAX_GAMES:
        raise TournamentError(f"pairs: {games} games are too many, a tournament holds {MAX_GAMES}")


def count_games(of: TournamentTerms | Tournament, versions: Sequence[BotVersion]) -> dict[str, int]:
    """The games of a tournament by ladder with these players; of a knock-out the fewest that decide it."""
    players = players_of(versions, of.ladders)
    return {
        code: GAMES_A_PAIR * of.pairs * of.format.meetings(len(entered), of.rounds)
        for code, entered in players.items()
    }


def count_most_games(of: TournamentTerms | Tournament, versions: Sequence[BotVersion]) -> int:
    """The games of a tournament with these players; of a knock-out with all extra pairs."""
    return sum(count_games(of, versions).values()) * (of.pairs + of.extra_pairs) // of.pairs


def _check_ladders(ladders: Sequence[str]) -> None:
    if not ladders:
        raise TournamentError("ladders: choose at least one")
    for code in ladders:
        try:
            find_game(code)
        except UnknownGame as error:
            raise TournamentError(f"ladders: {error}") from None
        if list(ladders).count(code) > 1:
            raise TournamentError(f"ladders: {code!r} is named twice")


def _check_versions(terms: TournamentTerms) -> None:
    least = 2 if terms.entry_until is None else int(terms.format.has_challenger)
    if len(terms.versions) < least:
        few = "its challenger" if least == 1 else f"at least two, not {len(terms.versions)}"
        raise TournamentError(f"bots: a {terms.format.label} needs {few}")
    seen = set()
    for version in terms.versions:
        if version.state != BotVersion.State.VALID:
            raise TournamentError(f"bots: {str(version)!r} is {version.state}, only valid versions play")
        if version.pk in seen:
            raise TournamentError(f"bots: {str(version)!r} is named twice")
        seen.add(version.pk)


def _check_each_plays(terms: TournamentTerms) -> None:
    for version in terms.versions:
        if not any(version.plays(code) for code in terms.ladders):
            raise TournamentError(f"bots: {str(version)!r} plays none of {', '.join(terms.ladders)}")
