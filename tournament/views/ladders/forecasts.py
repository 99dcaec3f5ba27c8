"""When a bot's next game is likely, and why: one sentence, the same on every page."""

from __future__ import annotations

from dataclasses import dataclass

from django.template.defaultfilters import pluralize

from engines.console import format_duration
from tournament.arithmetic.forecast import PlannedStart
from tournament.arithmetic.matchmaker import can_play, most_pairs_between
from tournament.models import ActiveVersion, Bot, BotVersion, Game, Matchmaking
from tournament.services.ladders.queue import Queue

SOON_S, MINUTE_S = 10, 50
NEVER_S = float("inf")
NOT_NOW = "not for now"


@dataclass(frozen=True, slots=True)
class NextGame:
    """What a bot can expect on a ladder."""

    version: BotVersion
    words: str
    seconds: float = NEVER_S
    """Until its next game likely begins; infinite where none is to be expected."""
    game: Game | None = None
    """The one it is playing."""
    trouble: str = ""
    """What keeps the whole site from starting games; a page may have said it already."""


def next_games_of(queue: Queue, bot: Bot | None = None) -> dict[str, list[NextGame]]:
    """By ladder what each bot, or this one alone, can expect there, the soonest first."""
    found: dict[str, list[NextGame]] = {}
    prospects = {row.ladder_id: _Prospects(queue, row) for row in queue.matchmakers}
    active = ActiveVersion.objects.select_related("version__bot__owner")
    examined = BotVersion.objects.filter(state=BotVersion.State.VALIDATING).select_related("bot__owner")
    if bot is not None:
        active, examined = active.filter(bot=bot), examined.filter(bot=bot)
    placed = set()
    for one in active:
        if one.ladder_id in prospects:
            placed.add((one.bot_id, one.ladder_id))
            found.setdefault(one.ladder_id, []).append(prospects[one.ladder_id].look_up(one))
    for version in examined:
        for code in version.games:
            if code in prospects and (version.bot_id, code) not in placed:
                waits = NextGame(version, "once it has passed its validation")
                found.setdefault(code, []).append(waits)
    for rows in found.values():
        rows.sort(key=lambda row: (row.seconds, row.version.bot.name_key))
    return found


def in_about(seconds: float) -> str:
    """A moment to come, no more exactly than it is known."""
    if seconds < SOON_S:
        return "within seconds"
    if seconds < MINUTE_S:
        return "in less than a minute"
    return "in about a minute" if seconds < 90 else f"in about {format_duration(seconds, words=True)}"


def describe_matchmaker(row: Matchmaking) -> str:
    """Whether a ladder plays by itself, and how: one sentence."""
    if row.rate == 0:
        return "This ladder does not play by itself: its games are those of tournaments."
    if row.is_paused:
        return "The site has paused this ladder: its games are those of tournaments."
    plies = row.terms.opening_plies
    openings = f"{plies} drawn plies" if plies else "the initial position"
    return (
        f"While workers are idle the matchmaker starts up to {row.rate} game{pluralize(row.rate)}"
        f" an hour, at {row.terms.time_control} from {openings}."
    )


class _Prospects:
    """What is to be expected on one ladder."""

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
            return NextGame(version, "is playing", 0.0, game)
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
        if start.is_drawn:
            why = f"{_games(start.ahead)} ahead" if start.ahead else "it is next"
        elif self._queue.forecast.drained_s > MINUTE_S:
            why = "once the tournaments have given out their games"
        else:
            why = (
                f"after {start.ahead} more games of this ladder"
                if start.ahead
                else "in the ladder's next pair"
            )
        return NextGame(version, f"{in_about(start.seconds)}: {why}", start.seconds)

    def _later(self, version: BotVersion) -> NextGame:
        """Not among the pairs that were drawn ahead."""
        seconds = self._queue.forecast.ladders_s.get(self._row.ladder_id, 0.0)
        pairs = most_pairs_between(len(self._candidates))
        words = f"not {in_about(seconds)}, but within {pairs} pairs of this ladder"
        return NextGame(version, words.replace("not in about", "in more than"), seconds)

    def _why_none(self, active: ActiveVersion) -> str:
        """Why the matchmaker will not choose it; empty if it will."""
        if not active.enabled:
            return "none: its owner keeps it off this ladder"
        if self._row.rate == 0:
            return "only in tournaments: this ladder does not play by itself"
        if self._row.is_paused:
            return "only in tournaments: the site has paused this ladder"
        if active.version_id in self._playable:
            return ""
        return "when a bot of another owner is active here: there is none"


def _games(count: int) -> str:
    return "1 game is" if count == 1 else f"{count} games are"
