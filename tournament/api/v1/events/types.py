"""The events: objects with ``type``, ``id``, ``at`` and ``data``, whose rows are those of reading."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from tournament.rows.fields import Address, Moment
from tournament.rows.games import GameRow
from tournament.views.games.rows import PlayedMove
from tournament.views.tournaments.tables import TournamentRow
from tournament.views.version_tests.version_tests import PairRow, VersionTestRow

Cursor = Annotated[
    str, Meta(description="Send it as `after` or `Last-Event-ID` to get the events after this one.")
]


class ApiEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Something that happened; ``type`` says what, and which ``data`` it has."""

    id: Cursor
    at: Annotated[Moment, Meta(description="When it happened, or if that is not stored, was noticed.")]


class ResetData(msgspec.Struct, frozen=True):
    why: Annotated[str, Meta(description="One sentence.")]


class Reset(ApiEvent, frozen=True, kw_only=True, tag="reset"):
    """Read the object again, and forget what is known of it; the events that follow come after that."""

    data: ResetData


class StartedGame(msgspec.Struct, frozen=True):
    """A game that is being played."""

    id: int
    ladder: str
    tournament: Annotated[str, Meta(description="Its slug; a ladder has an endless one.")]
    round: int
    white: str
    white_version: int
    white_slug: str
    black: str
    black_version: int
    black_slug: str
    page: Address


class GameStarted(ApiEvent, frozen=True, kw_only=True, tag="game.started"):
    """A game of the tournament is being played; at most some seconds late."""

    data: StartedGame


class MovePlayed(ApiEvent, frozen=True, kw_only=True, tag="game.move"):
    """A move was played. Those of the opening come as soon as it is known."""

    data: PlayedMove


class GameEnded(ApiEvent, frozen=True, kw_only=True, tag="game.ended"):
    """A game has a result, or will not get one: then its ``result`` is null."""

    data: GameRow


class TournamentRound(msgspec.Struct, frozen=True):
    tournament: Annotated[str, Meta(description="Its slug.")]
    ladder: str
    round: Annotated[int, Meta(description="From 1.")]


class RoundDrawn(ApiEvent, frozen=True, kw_only=True, tag="tournament.round"):
    """The next round of a Swiss or a knock-out is drawn."""

    data: TournamentRound


class TournamentChanged(ApiEvent, frozen=True, kw_only=True, tag="tournament.state"):
    """The tournament is in another state: ``running``, ``paused``, ``finished`` and so on."""

    data: TournamentRow


class NamedVersion(msgspec.Struct, frozen=True):
    bot: str
    bot_slug: str
    version: int


class RatingChange(NamedVersion, frozen=True):
    """The published rating of a player, and the two numbers that it is made of."""

    before: Annotated[float, Meta(description="mu - 3 sigma before the game.")]
    after: float
    mu_before: float
    sigma_before: float
    mu_after: float
    sigma_after: float


class GameWithRatings(msgspec.Struct, frozen=True):
    game: GameRow
    white: RatingChange
    black: RatingChange


class GameRated(ApiEvent, frozen=True, kw_only=True, tag="game.rated"):
    """A game changed the ratings of the ladder."""

    data: GameWithRatings


class ListedVersion(NamedVersion, frozen=True):
    ladder: str
    page: Address


class VersionListed(ApiEvent, frozen=True, kw_only=True, tag="version.listed"):
    """A version is new on the ladder's list: its first game is rated."""

    data: ListedVersion


class CheckedPart(msgspec.Struct, frozen=True):
    """One finding of a compliance check."""

    check: str
    ladder: Annotated[str, Meta(description="Empty if it is about no single ladder.")]
    fault: Annotated[str, Meta(description="One sentence; empty if it passed.")]
    advice: str
    is_grave: Annotated[bool, Meta(description="Whether the fault refuses the version.")]
    was_tried: Annotated[bool, Meta(description="False: an earlier fault left it out.")]


class VersionChecked(ApiEvent, frozen=True, kw_only=True, tag="version.check"):
    """One part of the compliance check is done; only for the owner of the bot."""

    data: CheckedPart


class VersionState(NamedVersion, frozen=True):
    state: Annotated[str, Meta(description="`waiting`, `validating`, `valid`, `refused` or `withdrawn`.")]
    reason: Annotated[str, Meta(description="Why, in a sentence, for its owner; else empty.")]
    page: Address


class VersionChanged(ApiEvent, frozen=True, kw_only=True, tag="version.state"):
    """The version is in another state."""

    data: VersionState


class PairCounted(ApiEvent, frozen=True, kw_only=True, tag="test.pair"):
    """Both games of a pair are over, and it counts."""

    data: PairRow


class VerdictReached(ApiEvent, frozen=True, kw_only=True, tag="test.verdict"):
    """The version test is over."""

    data: VersionTestRow


class GameFeatured(ApiEvent, frozen=True, kw_only=True, tag="tv.game"):
    """Another game is shown on `/tv/`; its moves follow from the first one."""

    data: StartedGame


class NoticeRow(msgspec.Struct, frozen=True):
    """A notice on the account's page."""

    id: int
    text: str
    is_warning: Annotated[bool, Meta(description="Whether it reports a problem.")]
    created: Moment
    page: Annotated[Address | None, Meta(description="What it is about.")]


class Noticed(ApiEvent, frozen=True, kw_only=True, tag="notice"):
    """The user has a new notice."""

    data: NoticeRow
