"""Verifies records: replays the moves and compares the headers with the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.protocol.messages import Score
from engines.records.clocks import check_clocks
from engines.records.headers import (
    MATCH_REASONS,
    Disagreement,
    check_headers,
    find_fault,
    find_termination,
    start_history,
)
from engines.records.model import Record, RecordMove
from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Result, RulesError, Side, quote
from engines.rules.history import History
from engines.terminations import Fault, Termination

ONE_SIDED = "only the loser's scores decided"
"""The evidence of a win that was adjudicated by the scores of one engine."""
_BY_MOVER = frozenset({Termination.ILLEGAL_MOVE, Termination.TIME})
"""Forfeits that only the side to move can cause; a crash or a flood may be caused by either side."""


def verify_record(record: Record) -> list[str]:
    """All disagreements as sentences; empty if moves, result, scores and counts agree."""
    return [disagreement.sentence for disagreement in find_disagreements(record)]


def find_disagreements(record: Record) -> Iterator[Disagreement]:
    """All disagreements: those between headers first, then those found by the replay, then the clocks."""
    yield from check_headers(record)
    yield from replay_record(record)
    yield from check_clocks(record)


def replay_record(record: Record) -> Iterator[Disagreement]:
    """The disagreements found by the replay, for headers that are consistent; stops at an illegal move."""
    try:
        history = start_history(record)
    except RulesError:
        return  # reported by the check of the headers
    for ply, move in enumerate(record.moves, 1):
        try:
            history.play(move.token)
        except IllegalMove as error:
            yield Disagreement("moves", f"ply {ply}: {error}", move.line)
            return
    termination = find_termination(record)
    if termination is Termination.VOID:
        yield from _check_scores(record, UNDECIDED)
        return
    yield from _check_scores(record, history.outcome)
    if termination is not None:
        yield from _check_termination(record, history, termination)
    if termination is Termination.ADJUDICATION:
        yield from _check_agreement(record, history.start.side)


def _check_scores(record: Record, outcome: Outcome) -> Iterator[Disagreement]:
    for name, score in (("WhiteScore", outcome.white_score), ("BlackScore", outcome.black_score)):
        expected = None if score is None else str(score)
        stated = record.header(name) if record.has(name) else None
        if stated != expected:
            said = "missing:" if stated is None else f"{quote(stated)}, but"
            ended = "this result has no score" if expected is None else f"the game ended with {expected}"
            yield Disagreement(name, f"header {name} is {said} {ended}")


def _check_termination(record: Record, history: History, termination: Termination) -> Iterator[Disagreement]:
    outcome = history.outcome
    ended = _termination_of(outcome)
    stated = f"header Termination is {str(termination)!r}"
    if ended is None:
        if termination in _ENDS_ON_THE_BOARD:
            yield Disagreement("Termination", f"{stated}, but after the last move the game is not over")
        else:
            yield from _check_mover(record, history.position.side, termination)
    elif ended is not termination:
        yield Disagreement(
            "Termination", f"{stated}, but the game ended by {str(ended)!r} ({outcome.reason})"
        )
    elif record.result is not outcome.result:
        yield Disagreement("Result", f"the result is {record.result}, but the game ended {outcome.result}")
    elif termination is Termination.RULES and record.header("Reason") not in ("", outcome.reason):
        reason = record.header("Reason")
        yield Disagreement(
            "Reason", f"header Reason is {quote(reason)}, but the game ended by {str(outcome.reason)!r}"
        )


_ENDS_ON_THE_BOARD = frozenset({Termination.RULES, *MATCH_REASONS})


def _termination_of(outcome: Outcome) -> Termination | None:
    """The termination by the rules or the match rules; None while the game is undecided."""
    by_match_rule = (end for end, reason in MATCH_REASONS.items() if reason is outcome.reason)
    return next(by_match_rule, Termination.RULES) if outcome.decided else None


def _check_mover(record: Record, mover: Side, termination: Termination) -> Iterator[Disagreement]:
    """Check what only the side to move can do: resign, move illegally, exceed its time."""
    if termination is Termination.RESIGNATION and record.result is not Result.win_for(mover.other):
        yield Disagreement(
            "Result", f"{mover.name.lower()} was to move and resigned, which is not {record.result!s}"
        )
    if termination in _BY_MOVER and find_fault(record) not in (None, Fault.of(mover)):
        yield Disagreement(
            "Fault", f"{mover.name.lower()} was to move, so {str(termination)!r} cannot be the other's fault"
        )


def _check_agreement(record: Record, first: Side) -> Iterator[Disagreement]:
    """Check an adjudicated win against both players' last scores; ``first`` made the first move.

    If only the loser's scores decided (``ONE_SIDED``), the winner's may contradict.
    """
    if record.result not in (Result.WHITE_WINS, Result.BLACK_WINS):
        return
    is_one_sided = record.header("Evidence") == ONE_SIDED
    for player in Side:
        if is_one_sided and record.result is Result.win_for(player):
            continue
        score = _last_score(record.moves[player is not first :: 2])
        if score is None:
            continue
        value = score.centipawns if score.mate is None else score.mate
        won = record.result is Result.win_for(player)
        if not value or (value > 0) is not won:
            yield Disagreement(
                "Result",
                f"the result is {record.result}, but {player.name.lower()}'s last score contradicts it",
            )


def _last_score(moves: Sequence[RecordMove]) -> Score | None:
    scores = (move.note.score for move in reversed(moves) if move.note is not None)
    return next((score for score in scores if score is not None), None)
