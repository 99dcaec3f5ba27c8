"""The records of a slot's games."""

from __future__ import annotations

from engines.records import (
    MARGIN_HEADERS,
    MARGIN_MS,
    SIDE_CONTROLS,
    Fault,
    Record,
    RecordEvent,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    build_headers,
    format_headers,
    format_moves,
    format_record,
)
from workers.game.seeds import seed_header
from workers.jobs import GameJob
from workers.play.runner import FinishedGame

Headers = tuple[tuple[str, str], ...]


class RecordWriter:
    """Writes records. ``environment`` are the headers for the sandbox and the clock of the slot."""

    def __init__(self, event: str, site: str, environment: Headers = ()) -> None:
        self._event = event
        self._site = site
        self._environment = environment
        self._checked: set[tuple[str, int]] = set()
        """The job and the index of White's engine."""

    def text(self, job: GameJob, finished: FinishedGame) -> str:
        """The record of a game.

        ``format_record`` checks the first ordinary game of a job. The next ones differ from it in their
        moves, which the rules have checked, and in headers with values of our own.
        """
        played = finished.played
        headers = self._headers(job, finished)
        colours = job.job, finished.game.white
        is_ordinary = played.fault is Fault.NONE and not played.evidence and job.fen is None
        if is_ordinary and colours in self._checked:
            moves = format_moves(played.kept.tokens, played.kept.comments(), played.result)
            return f"{format_headers(headers)}\n{moves}"
        if is_ordinary:
            self._checked.add(colours)
        return format_record(Record(headers, played.moves, played.result))

    def _headers(self, job: GameJob, finished: FinishedGame) -> Headers:
        game, played = finished.game, finished.played
        white, black = players = job.players(game)
        controls = [*map(job.control_of, players)]
        is_even = controls[0] == controls[1]
        odds = () if is_even else zip(SIDE_CONTROLS, controls, strict=True)
        margins = zip(MARGIN_HEADERS, map(job.margin_of, players), strict=True)
        return build_headers(
            len(played.kept),
            len(played.kept) - played.kept.count_chosen(),
            players=RecordPlayers(white.name, black.name, white.version, black.version),
            settings=RecordSettings(
                job.game, controls[0] if is_even else job.time_control, job.fen, job.ply_limit
            ),
            outcome=RecordOutcome(
                result=played.result,
                termination=played.termination,
                fault=played.fault,
                reason=played.reason,
                white_score=played.white_score,
                black_score=played.black_score,
                evidence=played.evidence,
            ),
            event=RecordEvent(
                event=self._event,
                site=self._site,
                date=f"{finished.started:%Y.%m.%d}",
                round_name=game.key.split("/")[1],
                game_id=game.key,
            ),
            more=(
                *odds,
                *((name, str(ms)) for name, ms in margins if ms != MARGIN_MS),  # to verify the times
                *self._environment,
                seed_header(job.seed, game.key),
            ),
        )
