"""The records of a slot's games."""

from __future__ import annotations

from collections.abc import Iterator

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
from workers.match.slots.messages import Assignment
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

    def text(self, assignment: Assignment, finished: FinishedGame) -> str:
        """The record of a game.

        ``format_record`` checks the first ordinary game of a job. The next ones differ from it in their
        moves, which the rules have checked, and in headers with values of our own.
        """
        played, job = finished.played, assignment.job
        headers = self._headers(assignment, finished)
        colours = job.job, finished.game.white
        is_ordinary = played.fault is Fault.NONE and not played.evidence and job.fen is None
        if is_ordinary and colours in self._checked:
            moves = format_moves(played.kept.tokens, played.kept.comments(), played.result)
            return f"{format_headers(headers)}\n{moves}"
        if is_ordinary:
            self._checked.add(colours)
        return format_record(Record(headers, played.moves, played.result))

    def _headers(self, assignment: Assignment, finished: FinishedGame) -> Headers:
        job, game, played = assignment.job, finished.game, finished.played
        white, black = job.engines[game.white], job.engines[1 - game.white]
        controls = [spec.time_control or job.time_control for spec in (white, black)]
        is_even = controls[0] == controls[1]
        odds = () if is_even else zip(SIDE_CONTROLS, controls, strict=True)
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
                round_name=assignment.round,
                game_id=game.key,
            ),
            more=(
                *odds,
                *_margins(assignment, game.white),
                *self._environment,
                seed_header(job.seed, game.key),
            ),
        )


def _margins(assignment: Assignment, white: int) -> Iterator[tuple[str, str]]:
    """Headers for margins other than the usual one, so that the times can be verified."""
    sides = assignment.entrants[white], assignment.entrants[1 - white]
    for name, entrant in zip(MARGIN_HEADERS, sides, strict=True):
        margin_ms = assignment.job.margin_ms if entrant.margin_ms is None else entrant.margin_ms
        if margin_ms != MARGIN_MS:
            yield name, str(margin_ms)
