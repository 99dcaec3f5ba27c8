"""Searches for people: an engine evaluates positions of a line, and the site gets what it says as it comes.

Nothing here counts: an engine at fault ends the search, and the person reads why. Independent of Celery: news
goes to a callback.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from engines.protocol import RESIGN, Go, SetPosition, format_message, last_info
from engines.records import Termination, format_note, note_from_info
from engines.rules.base import IllegalMove, Position
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.visible import visible
from workers.engine.processor_time import NS
from workers.game.referee import EngineMove, Forfeit, MoveRequest, explain_illegal
from workers.jobs import Evaluation, SearchJob, SearchNews
from workers.play.runner import PooledEngine, Stopped, WorkerContext

MARGIN_MS = 1_000
"""What an engine may take longer than it was told."""
NEWS_SECONDS = 0.3
"""The least time between two news while a position is searched."""
MAX_WHY = 1_000

log = logging.getLogger("workers.service.searching")


def search(
    job: SearchJob,
    worker: WorkerContext,
    on_news: Callable[[SearchNews], None],
    is_stopping: Callable[[], bool] = lambda: False,
) -> bool:
    """Evaluate the positions of a job; the last news is over. The engine has ended on return.

    False if the worker could not do it, which is not the engine's fault.
    """
    running = _Search(job, worker, on_news, is_stopping)
    why, is_able = "", True
    try:
        running.run()
    except Forfeit as fault:
        why = str(fault)
    except Stopped:
        pass  # as below
    except Exception:
        is_able = False
        log.exception("search %s failed", job.search)  # the site gives what is left to another slot
    on_news(SearchNews(job.search, worker.name, (), is_over=True, why=visible(why, MAX_WHY)))
    return is_able


@dataclass(slots=True)
class _Search:
    job: SearchJob
    worker: WorkerContext
    on_news: Callable[[SearchNews], None]
    is_stopping: Callable[[], bool]
    _engine: PooledEngine = field(init=False)
    _ply: int | None = field(default=None, init=False)
    """The ply of the position being searched; None while the engine starts."""
    _shown: bytes = field(default=b"", init=False)
    _last_news: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self._engine = PooledEngine(self.job.engine, self.job.game, self.worker)

    def run(self) -> None:
        """Raises ``Stopped``, and what the engine's player raises."""
        rules = find_game(self.job.game)
        start = self.job.fen
        positions: list[Position] = [
            rules.position.initial() if start is None else rules.position.parse(start)
        ]
        for token in self.job.moves:
            positions.append(positions[-1].play(token))
        player = self._engine.player
        player.on_wait = self._check_in  # the process keeps the one it starts with
        try:
            player.prepare()
            for ply in self.job.plies:
                # The match rules end games, and not lines of an analysis.
                self._evaluate(ply, History(rules, positions[ply], ply_limit=positions[ply].ply + 1))
        finally:
            player.close()

    def _evaluate(self, ply: int, history: History) -> None:
        self._ply, self._shown = ply, b""
        line = SetPosition(self.job.fen, self.job.moves[:ply])
        question = f"{format_message(line)}\n{format_message(Go(movetime_ms=self.job.ms))}\n".encode()
        allowance_ns = (self.job.ms + MARGIN_MS) * NS // 1_000
        found: EngineMove = self._engine.player.choose(MoveRequest(history, question, allowance_ns))
        try:
            if found.token != RESIGN:
                history.position.play(found.token)
        except IllegalMove as error:
            raise Forfeit(Termination.ILLEGAL_MOVE, explain_illegal(found.token, error)) from None
        self._tell(ply, found.token, "" if found.note is None else format_note(found.note))

    def _check_in(self) -> None:
        """Raise ``Stopped`` if the search must end; at intervals tell what the engine said last."""
        if self.is_stopping():
            raise Stopped
        said = self._engine.player.conversation.latest()
        if self._ply is None or said == self._shown or time.monotonic() < self._last_news + NEWS_SECONDS:
            return
        self._shown = said
        if comment := format_note(note_from_info(last_info(said.split(b"\n")))):
            self._tell(self._ply, "", comment)

    def _tell(self, ply: int, move: str, comment: str) -> None:
        self._last_news = time.monotonic()
        found = Evaluation(ply, visible(move, MAX_WHY), visible(comment, MAX_WHY))
        self.on_news(SearchNews(self.job.search, self.worker.name, (found,)))
