"""When each bot is likely to play next, and when tournaments end, as text for all pages.

``describe_queue`` computes it from the queue for all bots at once. Pages read it from ``stored_queue``.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from django.template.defaultfilters import pluralize

from engines.console import format_duration
from tournament.arithmetic.forecast import PlannedStart
from tournament.arithmetic.matchmaker import can_play, most_pairs_between
from tournament.models import ActiveVersion, Matchmaking
from tournament.services.ladders.queue import Queue, QueuedEvent

SOON_S, MINUTE_S = 10, 50
NEVER_S = float("inf")
NOT_NOW = "not at the moment"
SWITCHED_OFF = "none: its owner has switched it off on this ladder"
_Who = tuple[int, int, int | None]
"""The ids of a version, of its bot and of its owner."""


class ExpectedGame(NamedTuple):
    """When an active version is likely to play next on a ladder."""

    version: int
    bot: int
    owner: int | None
    text: str
    seconds: float = NEVER_S
    """Seconds until then; infinite if no game is expected."""
    game: int | None = None
    """The game it is playing now."""
    is_blocked: bool = False
    """Whether the whole site starts no games at the moment."""


class ExpectedEvent(NamedTuple):
    """A running tournament in the queue, and when it begins and ends."""

    tournament: int
    playing: int
    waiting: int
    text: str


class QueueState(NamedTuple):
    """The queue as pages show it."""

    trouble: str
    """What keeps games from being played, as the end of a sentence; empty if nothing does."""
    playing: list[int]
    """The games being played."""
    events: list[ExpectedEvent]
    """In the order in which they are played."""
    ladders: dict[str, list[ExpectedGame]]
    """All active versions of each ladder, the soonest game first."""


class _Active(NamedTuple):
    """The columns of an ``ActiveVersion``; instances of all of them would cost most of the time."""

    ladder: str
    version: int
    bot: int
    owner: int | None
    enabled: bool


def describe_queue(queue: Queue) -> QueueState:
    """The next games of all bots, and the tournaments."""
    prospects = {row.ladder_id: _Prospects(queue, row) for row in queue.matchmakers}
    found: dict[str, list[ExpectedGame]] = {code: [] for code in prospects}
    columns = ("ladder", "version", "bot", "bot__owner", "enabled")
    for row in ActiveVersion.objects.order_by("bot__name_key").values_list(*columns):
        one = _Active(*row)
        if one.ladder in prospects:
            found[one.ladder].append(prospects[one.ladder].look_up(one))
    for games in found.values():
        games.sort(key=lambda game: game.seconds)  # of equal times by name
    playing = [game.pk for game in queue.playing]
    return QueueState(queue.trouble, playing, _describe_events(queue), found)


def _describe_events(queue: Queue) -> list[ExpectedEvent]:
    """When each tournament will begin and end; those of higher priority are played first."""
    rows: list[ExpectedEvent] = []
    before_s = 0.0
    for _, rank in groupby(queue.events, key=lambda event: event.tournament.priority):
        events = list(rank)
        begins_s = before_s
        before_s += sum((e.playing + e.sent + e.waiting) * e.seconds for e in events) / queue.slots
        rows += [_describe_event(event, begins_s, before_s, queue.trouble) for event in events]
    return rows


def _describe_event(event: QueuedEvent, begins_s: float, ends_s: float, trouble: str) -> ExpectedEvent:
    text = _when(event, begins_s, ends_s, trouble)
    return ExpectedEvent(event.tournament.pk, event.playing, event.sent + event.waiting, text)


def _when(event: QueuedEvent, begins_s: float, ends_s: float, trouble: str) -> str:
    if trouble:
        return NOT_NOW
    if not event.playing + event.sent + event.waiting:
        return "its next round is being made"
    if event.tournament.is_version_test:
        return "plays while no other game waits, until its test is decided"
    end = format_moment(ends_s)
    ends = f"this round ends {end}" if event.tournament.is_staged else f"ends {end}"
    if event.playing + event.sent or begins_s == 0:
        return ends
    return f"begins {format_moment(begins_s)}, after tournaments of higher priority; {ends}"


def format_moment(seconds: float) -> str:
    """A time in the future, rounded: ``within seconds``, ``in about 12 minutes``."""
    if seconds < SOON_S:
        return "within seconds"
    if seconds < MINUTE_S:
        return "in less than a minute"
    return "in about a minute" if seconds < 90 else f"in about {format_duration(seconds, words=True)}"


_WITHOUT_LIMIT = "Bots with provisional ratings play more often."


def describe_matchmaker(row: Matchmaking) -> str:
    """One or two sentences: which games the ladder's matchmaker starts."""
    if row.rate == 0:
        return "The matchmaker of this ladder is off: only games of tournaments are played."
    if row.is_paused:
        return "The site has paused the matchmaker of this ladder: only games of tournaments are played."
    games, plies = f"{row.rate} game{pluralize(row.rate)}", row.terms.opening_plies
    if not plies:
        return (
            f"While workers are idle, the matchmaker starts up to {games} an hour from the initial position"
            f" with time control {row.terms.time_control}. {_WITHOUT_LIMIT}"
        )
    return (
        f"While workers are idle, the matchmaker starts up to {games} an hour after {plies} random opening"
        f" pl{pluralize(plies, 'y,ies')} with time control {row.terms.time_control}. {_WITHOUT_LIMIT}"
    )


class _Prospects:
    """The next games of the bots of one ladder."""

    def __init__(self, queue: Queue, row: Matchmaking) -> None:
        self._queue, self._row = queue, row
        self._candidates = queue.candidates[row.ladder_id]
        self._playable = can_play(self._candidates)
        self._played = {
            version: game.pk
            for game in queue.playing
            if game.ladder_id == row.ladder_id
            for version in (game.white_id, game.black_id)
        }

    def look_up(self, active: _Active) -> ExpectedGame:
        who = active.version, active.bot, active.owner
        if game := self._played.get(active.version):
            return ExpectedGame(*who, "playing now", 0.0, game)
        start = self._queue.forecast.starts.get((self._row.ladder_id, active.version))
        if start is not None and start.is_drawn:
            return self._expect(who, start)
        if why := self._why_none(active):
            return ExpectedGame(*who, why)
        if start is None and self._queue.trouble:
            return ExpectedGame(*who, NOT_NOW, is_blocked=True)
        if start is not None:
            return self._expect(who, start)
        return self._later(who)

    def _expect(self, who: _Who, start: PlannedStart) -> ExpectedGame:
        if self._queue.trouble:
            return ExpectedGame(*who, NOT_NOW, start.seconds, is_blocked=True)
        moment, ahead = format_moment(start.seconds), start.ahead
        games = f"{ahead} more game{pluralize(ahead)}"
        if start.is_drawn:
            text = f"{moment}, after {games}" if ahead else f"{moment}, it is next"
        elif self._queue.forecast.drained_s > MINUTE_S:
            text = f"{moment}, after all games of tournaments have started"
        elif ahead:
            text = f"{moment}, after {games} of this ladder"
        else:
            text = f"{moment}, in the ladder's next pair"
        return ExpectedGame(*who, text, start.seconds)

    def _later(self, who: _Who) -> ExpectedGame:
        """It is in none of the pairs that were drawn in advance."""
        seconds = self._queue.forecast.ladders_s.get(self._row.ladder_id, 0.0)
        pairs = most_pairs_between(len(self._candidates))
        if seconds < MINUTE_S:
            return ExpectedGame(*who, f"within the next {pairs} pairs of this ladder", seconds)
        duration = format_duration(seconds, words=True)
        text = f"in more than {duration}, within the next {pairs} pairs of this ladder"
        return ExpectedGame(*who, text, seconds)

    def _why_none(self, active: _Active) -> str:
        """Why the matchmaker will not choose it; empty if it will."""
        if not active.enabled:
            return SWITCHED_OFF
        if self._row.rate == 0:
            return "only in tournaments (matchmaker off)"
        if self._row.is_paused:
            return "only in tournaments (matchmaker paused)"
        if active.version in self._playable:
            return ""
        return "none: no bot of another owner is active here"
