"""What a round robin consists of before it is stored: checked numbers, then pairings in order."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engines.rules.base import UnknownGame
from engines.rules.registry import find_game
from engines.timecontrol import TimeControlError, parse_time_control
from tournament.models import BotVersion, Tournament
from workers.openings import MAX_PLIES, Opening, OpeningError, draw_openings
from workers.pairing.berger import berger_rounds
from workers.pairing.meetings import plan_meetings

MAX_PAIRS = 1_000
MAX_GAMES = 100_000
MAX_NAME = 80
MAX_SEED = 2**63 - 1
GAMES_A_PAIR = 2


class TournamentError(ValueError):
    """A tournament that cannot be: one sentence that begins with the field's name."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A round robin, checked: every field is playable as it stands."""

    name: str
    players: dict[str, list[BotVersion]]
    """Those who play each ladder, in entry order, by the ladder's code."""
    versions: list[BotVersion]
    pairs: int
    time_control: str
    seed: int
    opening_plies: int
    ply_limit: int | None

    @property
    def games(self) -> int:
        meetings = sum(len(players) * (len(players) - 1) // 2 for players in self.players.values())
        return meetings * self.pairs * GAMES_A_PAIR


@dataclass(frozen=True, slots=True)
class PlannedPairing:
    """Two versions that will meet; ``number`` counts on over the ladders of a round."""

    ladder: str
    round: int
    number: int
    first: BotVersion
    second: BotVersion
    opening: Opening
    seed: int


def plan_round_robin(
    *,
    name: str,
    versions: Sequence[BotVersion],
    ladders: Sequence[str],
    pairs: int,
    time_control: str,
    seed: int,
    opening_plies: int,
    ply_limit: int | None = None,
) -> Plan:
    """Check everything a form may hold; raises ``TournamentError``."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= MAX_NAME:
        raise TournamentError(f"name: give it 1 to {MAX_NAME} characters, not {len(name)}")
    if not name.isprintable():  # it is a header of every record
        raise TournamentError(f"name: {name!r} has a character that cannot be seen")
    _check_range("pairs", pairs, 1, MAX_PAIRS)
    _check_range("seed", seed, 0, MAX_SEED)
    _check_range("opening plies", opening_plies, 0, MAX_PLIES)
    if ply_limit is not None:
        _check_range("ply limit", ply_limit, opening_plies + 1, 100_000)
    try:
        parse_time_control(time_control)
    except TimeControlError as error:
        raise TournamentError(f"time control: {error}") from None
    players = _players(_checked_versions(versions), _checked_ladders(ladders))
    plan = Plan(name, players, list(versions), pairs, time_control, seed, opening_plies, ply_limit)
    if plan.games > MAX_GAMES:
        raise TournamentError(f"pairs: {plan.games} games are too many, a tournament holds {MAX_GAMES}")
    return plan


def plan_pairings(plan: Plan) -> Iterator[PlannedPairing]:
    """All pairings in the order of play: any first part of it is as even as can be.

    Everybody meets everybody once on every ladder before anybody meets again, and all
    meetings of a cycle on one ladder start from the same opening.
    """
    openings = {code: _openings(plan, code) for code in plan.players}
    tables = {code: berger_rounds(len(players)) for code, players in plan.players.items()}
    for meeting in plan_meetings(tables, plan.pairs):
        players = plan.players[meeting.ladder]
        yield PlannedPairing(
            meeting.ladder,
            meeting.round,
            meeting.number,
            players[meeting.first - 1],
            players[meeting.second - 1],
            openings[meeting.ladder][meeting.cycle],
            pairing_seed(plan.seed, meeting.ladder, meeting.round, meeting.number),
        )


def pairing_seed(seed: int, ladder: str, round_number: int, number: int) -> int:
    """The seed of everything drawn within a pair; the same tournament seed gives the same."""
    return zlib.crc32(f"{seed}/{ladder}/{round_number}/{number}".encode())


def _openings(plan: Plan, code: str) -> list[Opening]:
    try:
        return draw_openings(find_game(code), plan.opening_plies, plan.seed, plan.pairs)
    except OpeningError as error:
        raise TournamentError(str(error)) from None


def _check_range(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise TournamentError(f"{field}: must be from {least} to {most}, not {value}")


def _checked_ladders(ladders: Sequence[str]) -> Sequence[str]:
    if not ladders:
        raise TournamentError("ladders: choose at least one")
    for code in ladders:
        try:
            find_game(code)
        except UnknownGame as error:
            raise TournamentError(f"ladders: {error}") from None
        if list(ladders).count(code) > 1:
            raise TournamentError(f"ladders: {code!r} is named twice")
    return ladders


def _checked_versions(versions: Sequence[BotVersion]) -> Sequence[BotVersion]:
    if len(versions) < 2:
        raise TournamentError(f"bots: a round robin needs at least two, not {len(versions)}")
    seen = set()
    for version in versions:
        if version.state != BotVersion.State.VALID:
            raise TournamentError(f"bots: {str(version)!r} is {version.state}, only valid versions play")
        if version.pk in seen:
            raise TournamentError(f"bots: {str(version)!r} is named twice")
        seen.add(version.pk)
    return versions


def _players(versions: Sequence[BotVersion], ladders: Sequence[str]) -> dict[str, list[BotVersion]]:
    """Each ladder's players: a version enters those it plays."""
    for version in versions:
        if not any(version.plays(code) for code in ladders):
            raise TournamentError(f"bots: {str(version)!r} plays none of {', '.join(ladders)}")
    players = {code: [version for version in versions if version.plays(code)] for code in ladders}
    for code, entered in players.items():
        if len(entered) < 2:
            who = f"only {str(entered[0])!r} plays" if entered else "none of the bots plays"
            raise TournamentError(f"ladders: {who} {code!r}, it needs two")
    return players


def unique_slug(base: str) -> str:
    """``base``, or with a number where it is taken, by a tournament or by a page of the site."""
    taken = {"new", *Tournament.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    slug, suffix = base, 2
    while slug in taken:
        slug, suffix = f"{base}-{suffix}", suffix + 1
    return slug
