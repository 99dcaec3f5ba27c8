"""When a bot is likely to play next, and why, as text for all pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.template.defaultfilters import pluralize

from engines.console import format_duration
from tournament import access
from tournament.arithmetic.forecast import PlannedStart
from tournament.arithmetic.matchmaker import can_play, most_pairs_between
from tournament.models import ActiveVersion, Bot, BotVersion, Game, Matchmaking
from tournament.services.ladders.queue import Queue

SOON_S, MINUTE_S = 10, 50
NEVER_S = float("inf")
NOT_NOW = "not at the moment"


@dataclass(frozen=True, slots=True)
class NextGame:
    """When a bot is likely to play next on a ladder."""

    version: BotVersion
    text: str
    seconds: float = NEVER_S
    """Seconds until then; infinite if no game is expected."""
    game: Game | None = None
    """The game it is playing now."""
    trouble: str = ""
    """Why the whole site starts no games at the moment; empty if it does."""

    @property
    def full_text(self) -> str:
        """With the site's trouble, for pages that do not show it elsewhere."""
        return f"{self.text}: {self.trouble}" if self.trouble else self.text


def next_games_of(queue: Queue, user: access.Visitor, bot: Bot | None = None) -> dict[str, list[NextGame]]:
    """The next games of all bots that this user may see, or of this one, by ladder; the soonest first."""
    found: dict[str, list[NextGame]] = {}
    prospects = {row.ladder_id: _Prospects(queue, row) for row in queue.matchmakers}
    active = ActiveVersion.objects.select_related("version__bot__owner")
    validating = access.visible_versions(
        user, BotVersion.objects.filter(state=BotVersion.State.VALIDATING).select_related("bot__owner")
    )
    if bot is not None:
        active, validating = active.filter(bot=bot), validating.filter(bot=bot)
    placed = set()
    for one in active:
        if one.ladder_id in prospects:
            placed.add((one.bot_id, one.ladder_id))
            found.setdefault(one.ladder_id, []).append(prospects[one.ladder_id].look_up(one))
    for version in validating:
        for code in version.games:
            if code in prospects and (version.bot_id, code) not in placed:
                waits = NextGame(version, "after it has passed its validation")
                found.setdefault(code, []).append(waits)
    for rows in found.values():
        rows.sort(key=lambda row: (row.seconds, row.version.bot.name_key))
    return found


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
            version: game
            for game in queue.playing
            if game.ladder_id == row.ladder_id
            for version in (game.white_id, game.black_id)
        }

    def look_up(self, active: ActiveVersion) -> NextGame:
        version = active.version
        if game := self._played.get(version.pk):
            return NextGame(version, "playing now", 0.0, game)
        start = self._queue.forecast.starts.get((self._row.ladder_id, version.pk))
        if start is not None and start.is_drawn:
            return self._expect(version, start)
        if why := self._why_none(active):
            return NextGame(version, why)
        if start is None and self._queue.trouble:
            return NextGame(version, NOT_NOW, trouble=self._queue.trouble)
        if start is not None:
            return self._expect(version, start)
        return self._later(version)

    def _expect(self, version: BotVersion, start: PlannedStart) -> NextGame:
        if self._queue.trouble:
            return NextGame(version, NOT_NOW, start.seconds, trouble=self._queue.trouble)
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
        return NextGame(version, text, start.seconds)

    def _later(self, version: BotVersion) -> NextGame:
        """It is in none of the pairs that were drawn in advance."""
        seconds = self._queue.forecast.ladders_s.get(self._row.ladder_id, 0.0)
        pairs = most_pairs_between(len(self._candidates))
        if seconds < MINUTE_S:
            return NextGame(version, f"within the next {pairs} pairs of this ladder", seconds)
        duration = format_duration(seconds, words=True)
        return NextGame(
            version, f"in more than {duration}, within the next {pairs} pairs of this ladder", seconds
        )

    def _why_none(self, active: ActiveVersion) -> str:
        """Why the matchmaker will not choose it; empty if it will."""
        if not active.enabled:
            return "none: its owner has switched it off on this ladder"
        if self._row.rate == 0:
            return "only in tournaments: the matchmaker of this ladder is off"
        if self._row.is_paused:
            return "only in tournaments: the matchmaker of this ladder is paused"
        if active.version_id in self._playable:
            return ""
        return "none: no bot of another owner is active here"
