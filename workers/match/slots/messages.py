"""The messages between a match and its slots: tuples of plain values in the format of ``marshal``.

Both ends are processes of one installation, and the engines cannot write to these pipes. The settings of a
slot are JSON on its command line. What does not change between two engines' games is sent to a slot once.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engines.rules.base import Result
from workers.jobs import GameJob, JobGame, JsonValue, SideLog
from workers.play.pool import RestartMode

NO_LOG = SideLog()

_SIZE = struct.Struct("<I")
"""The size of a message, which precedes it."""


@dataclass(frozen=True, slots=True)
class SlotSetup(JsonValue):
    """The settings of a slot, given at its start. With ``core`` None it runs on any core.

    ``sandbox_level`` is a level that was probed already; empty is without a sandbox.
    """

    store: str
    cache: str
    core: int | None
    sandbox_level: str = ""


@dataclass(frozen=True, slots=True)
class PairTerms(JsonValue):
    """The settings of all games between two engines on one ladder, and the headers of the match.

    ``job`` has neither games nor a start. ``restart``, ``margins_ms`` and ``ready_seconds`` (the time limit
    of a start) have the order of its engines. With ``keeps_lines`` the slot returns the lines exchanged with
    the engines for every game. Before each game it pauses for ``wait_ms``.
    """

    job: GameJob
    restart: tuple[RestartMode, RestartMode]
    margins_ms: tuple[int, int]
    ready_seconds: tuple[int, int]
    event: str
    site: str
    keeps_lines: bool
    wait_ms: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """Games with one start for a slot to play; ``opening`` and ``fen`` are those of a job."""

    terms: PairTerms
    round: str
    games: tuple[JobGame, ...]
    opening: tuple[str, ...] = ()
    fen: str | None = None

    @property
    def job(self) -> GameJob:
        """The whole job, made anew by each access."""
        return replace(self.terms.job, games=self.games, opening=self.opening, fen=self.fen)


@dataclass(frozen=True, slots=True)
class SlotGame:
    """A finished game: its record as text, and its result for the match.

    The logs are empty unless there was a fault or the terms want them. ``chosen`` is the number of plies
    after the opening. ``ms`` is the duration of the game, including the start of engines. ``line`` identifies
    start and moves (``workers.match.results.line_of``).
    """

    key: str
    record: str
    result: Result
    termination: str
    fault: str
    evidence: str
    chosen: int
    white: SideLog
    black: SideLog
    ms: int
    line: str = ""


@dataclass(frozen=True, slots=True)
class IntroducedEngine:
    """An engine that has answered ``ugiok``; ``unsuited`` has a sentence for each option it does not take."""

    name: str
    unsuited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SlotNews:
    """The games that a slot has finished since its last message, in the order of its batch.

    ``is_over``: the batch has ended; games of it that were not returned were not started. ``introduced`` are
    engines that have started since then.
    """

    games: tuple[SlotGame, ...]
    is_over: bool
    introduced: tuple[IntroducedEngine, ...] = ()


class MessageReader:
    """Divides the bytes of a pipe into the values of messages."""

    def __init__(self) -> None:
        self._rest = b""

    def read(self, chunk: bytes) -> Iterator[Any]:
        """The values of the messages that are complete with ``chunk``."""
        data, at = self._rest + chunk, 0
        while len(data) >= at + _SIZE.size:
            begin = at + _SIZE.size
            end = begin + _SIZE.unpack_from(data, at)[0]
            if end > len(data):
                break
            yield marshal.loads(data[begin:end])
            at = end
        self._rest = data[at:]


def _message(values: Any) -> bytes:
    data = marshal.dumps(values)
    return _SIZE.pack(len(data)) + data


class BatchWriter:
    """Writes batches for one slot: what it plays before it gets more, one or several assignments."""

    def __init__(self) -> None:
        self._sent: list[PairTerms] = []

    def write(self, assignments: Sequence[Assignment]) -> bytes:
        return _message([self._values(one) for one in assignments])

    def _values(self, one: Assignment) -> tuple[object, ...]:
        number = next((at for at, terms in enumerate(self._sent) if terms is one.terms), None)
        terms = None
        if number is None:
            number, terms = len(self._sent), one.terms.to_json()
            self._sent.append(one.terms)
        games = [(game.key, game.attempt, game.white) for game in one.games]
        return number, terms, one.round, games, one.opening, one.fen


class BatchReader:
    """Reads what ``BatchWriter`` wrote; all assignments with equal terms have the same object."""

    def __init__(self) -> None:
        self._terms: list[PairTerms] = []

    def read(self, values: Any) -> Iterator[Assignment]:
        for number, terms, round_name, games, opening, fen in values:
            if terms is not None:
                self._terms.append(PairTerms.from_json(terms))
            yield Assignment(
                self._terms[number], round_name, tuple(JobGame(*game) for game in games), opening, fen
            )


def write_news(news: SlotNews) -> bytes:
    games = [_game_values(game) for game in news.games]
    return _message((games, news.is_over, [(engine.name, engine.unsuited) for engine in news.introduced]))


def _game_values(game: SlotGame) -> tuple[object, ...]:
    logs = [None if log is NO_LOG else (log.stderr, log.lines) for log in (game.white, game.black)]
    ending = (game.result.value, str(game.termination), str(game.fault), game.evidence)
    return game.key, game.record, *ending, game.chosen, *logs, game.ms, game.line


def read_news(values: Any) -> SlotNews:
    """Read the values of ``write_news``."""
    games, is_over, introduced = values
    engines = [IntroducedEngine(name, unsuited) for name, unsuited in introduced]
    return SlotNews(tuple(map(_read_game, games)), is_over, tuple(engines))


def _read_game(values: Any) -> SlotGame:
    key, record, result, termination, fault, evidence, chosen, *logs, ms, line = values
    white, black = [NO_LOG if log is None else SideLog(*log) for log in logs]
    ending = (_RESULTS[result], termination, fault, evidence)
    return SlotGame(key, record, *ending, chosen, white, black, ms, line)


_RESULTS = {result.value: result for result in Result}
