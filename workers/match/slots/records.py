"""The records of a slot's games. What two games of the same engines have in common is formatted once."""

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
    Termination,
    build_record,
    format_moves,
    format_record,
    sorted_headers,
)
from workers.game.seeds import SEED_HEADER, seed_header
from workers.jobs import EngineSpec, GameJob, JobGame
from workers.match.slots.messages import Assignment, PairTerms
from workers.play.runner import FinishedGame

DIFFERENT = (
    "Date",
    "Round",
    "Result",
    "Termination",
    "Reason",
    "PlyCount",
    "GameId",
    "OpeningPlies",
    "WhiteScore",
    "BlackScore",
    SEED_HEADER,
)
"""The headers in which two games of the same engines with the same colours differ."""


Headers = tuple[tuple[str, str], ...]


class RecordWriter:
    """Writes records. ``environment`` are the headers for the sandbox and the clock of the slot."""

    def __init__(self, environment: Headers) -> None:
        self._environment = environment
        self._patterns: dict[tuple[int, int], tuple[str, PairTerms]] = {}
        """By the ``id`` of terms, which are kept here, and the index of White's engine: the headers.

        They have ``%s`` for the line of each different one.
        """

    def text(self, assignment: Assignment, finished: FinishedGame) -> str:
        """The record of a game.

        ``format_record`` checks the first ordinary game of the terms; the next ones differ from it in their
        moves, which the rules have checked, and in headers with values of our own.
        """
        played, white = finished.played, finished.game.white
        if played.fault is not Fault.NONE or played.evidence or assignment.fen is not None:
            return format_record(build_match_record(assignment, finished, self._environment))
        key = id(assignment.terms), white
        if key not in self._patterns:
            record = build_match_record(assignment, finished, self._environment)
            text = format_record(record)
            self._patterns[key] = _pattern_of(record), assignment.terms
            return text
        pattern, _ = self._patterns[key]
        moves = format_moves(played.kept.tokens, played.kept.comments(), played.result)
        return f"{pattern % _different_lines(assignment, finished)}\n{moves}"


def _pattern_of(record: Record) -> str:
    """The headers of a record, ``%s`` in place of the line of each different one."""
    values = dict(record.headers) | dict.fromkeys(DIFFERENT, "")
    return "".join(
        "%s" if name in DIFFERENT else line.replace("%", "%%")
        for name, line in sorted_headers(values.items())
    )


def _different_lines(assignment: Assignment, finished: FinishedGame) -> tuple[str, ...]:
    """The lines of the ``DIFFERENT`` headers; empty for one that is left out."""
    game, played = finished.game, finished.played
    given = len(played.kept) - played.kept.count_chosen()
    is_by_rules = played.termination is Termination.RULES
    _, seed = seed_header(assignment.terms.job.seed, game.key)
    white, black = played.white_score, played.black_score
    return (
        f'[Date "{finished.started:%Y.%m.%d}"]\n',
        f'[Round "{assignment.round}"]\n',
        f'[Result "{played.result.value}"]\n',
        f'[Termination "{played.termination.value}"]\n',
        f'[Reason "{played.reason.value}"]\n' if is_by_rules else "",
        f'[PlyCount "{len(played.kept)}"]\n',
        f'[GameId "{game.key}"]\n',
        f'[OpeningPlies "{given}"]\n' if given else "",
        "" if white is None else f'[WhiteScore "{white}"]\n',
        "" if black is None else f'[BlackScore "{black}"]\n',
        f'[{SEED_HEADER} "{seed}"]\n',
    )


def build_match_record(assignment: Assignment, finished: FinishedGame, environment: Headers) -> Record:
    """The record of any game of a match."""
    terms, played = assignment.terms, finished.played
    job = terms.job
    white, black = _sides(job, finished.game)
    controls = [spec.time_control or job.time_control for spec in (white, black)]
    is_even = controls[0] == controls[1]
    odds = () if is_even else zip(SIDE_CONTROLS, controls, strict=True)
    return build_record(
        played.moves,
        players=RecordPlayers(white.name, black.name, white.version, black.version),
        settings=RecordSettings(
            game=job.game,
            time_control=controls[0] if is_even else job.time_control,
            fen=assignment.fen,
            ply_limit=job.ply_limit,
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
            event=terms.event,
            site=terms.site,
            date=f"{finished.started:%Y.%m.%d}",
            round_name=assignment.round,
            game_id=finished.game.key,
        ),
        more=(
            *odds,
            *_margins(terms, finished.game),
            *environment,
            seed_header(job.seed, finished.game.key),
        ),
    )


def _margins(terms: PairTerms, game: JobGame) -> Iterator[tuple[str, str]]:
    """Headers for margins other than the usual one, so that the times can be verified."""
    one, two = terms.margins_ms
    for name, margin_ms in zip(MARGIN_HEADERS, (two, one) if game.white else (one, two), strict=True):
        if margin_ms != MARGIN_MS:
            yield name, str(margin_ms)


def _sides(job: GameJob, game: JobGame) -> tuple[EngineSpec, EngineSpec]:
    one, two = job.engines
    return (two, one) if game.white else (one, two)
