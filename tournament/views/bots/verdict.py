"""Sentences that say how a game ended."""

from __future__ import annotations

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result
from tournament.models import Game

_REASONS = {
    Reason.THREE_IN_A_ROW: "three stacks in a row",
    Reason.FOUR_DISCS: "four discs in a row",
    Reason.FOUR_RINGS: "four rings in a row",
    Reason.NO_MOVE: "no legal move was left",
    Reason.SEEDS: "both players would have had to pass",
    Reason.CANNOT_PAY: "a pass could not be paid",
    Reason.BOARD_FULL: "the board is full",
    Reason.NO_ACTION: "no action was possible",
    Reason.REPETITION: "the position occurred for the third time",
    Reason.PLY_LIMIT: "the ply limit was reached",
}
_FORFEITS = {
    Termination.ILLEGAL_MOVE: "its move was illegal",
    Termination.UNSOLICITED: "it sent a move before it was asked for one",
    Termination.TIME: "its time ran out",
    Termination.STALL: "it was not ready in time",
    Termination.CRASH: "its process ended",
    Termination.FLOOD: "it wrote too much",
    Termination.MEMORY: "it went over its memory limit",
    Termination.PROCESS: "it went over its process limit",
    Termination.CPU: "it went over its CPU limit",
    Termination.FILE: "it went over its file limit",
}
_RESULTS = {
    Result.WHITE_WINS: "White wins",
    Result.BLACK_WINS: "Black wins",
    Result.DRAW: "Draw",
}
_STATES = {
    Game.State.WAITING: "Waiting to be played",
    Game.State.CLAIMED: "Being played, or about to be",
    Game.State.HALTED: "Given up because it could not be played",
    Game.State.CANCELLED: "Cancelled before it was played",
}


def verdict(game: Game) -> str:
    """One sentence: the result and its reason, or why there is no result yet."""
    if game.result is None:
        return f"{_STATES[Game.State(game.state)]}."
    return f"{_RESULTS[Result(game.result)]}: {_why(game)}."


def fault_sentence(game: Game) -> str:
    """Who caused a forfeit or a void; empty if the game ended without a fault."""
    match game.fault:
        case Fault.WHITE | Fault.BLACK:
            return f"{game.fault.title()}'s engine is at fault; the game counts."
        case Fault.INFRASTRUCTURE:
            return "The site is at fault, not an engine; the game does not count."
    return ""


def ended_by_rules(game: Game) -> bool:
    """Whether the rules page explains the ending: the game's rules or the match rules."""
    return game.termination in {Termination.RULES, Termination.REPETITION, Termination.PLY_LIMIT}


def _why(game: Game) -> str:
    termination = Termination(game.termination)
    if termination in _FORFEITS:
        return f"{game.fault.title()} forfeits because {_FORFEITS[termination]}"
    if termination is Termination.RESIGNATION:
        return f"{'Black' if game.result == Result.WHITE_WINS else 'White'} resigned"
    if termination is Termination.ADJUDICATION:
        return "adjudicated by the scores of both engines"
    if termination is Termination.REPETITION:
        return _REASONS[Reason.REPETITION]
    if termination is Termination.PLY_LIMIT:
        return _REASONS[Reason.PLY_LIMIT]
    return _REASONS.get(Reason(game.reason), "by the rules")
