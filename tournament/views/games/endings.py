"""Sentences that say how a game ended; the filter ``ending`` has the short form, for lists."""

from __future__ import annotations

from django import template

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result
from engines.rules.registry import ENDINGS
from tournament.models import Game

register = template.Library()

FORFEITS = {
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


def ending_sentence(game: Game) -> str:
    """One sentence: the result and its reason, or why there is no result yet."""
    if game.result is None:
        return f"{_STATES[Game.State(game.state)]}."
    annulled = " The game is annulled." if game.annulled else ""
    return f"{_RESULTS[Result(game.result)]}: {_why(game)}.{annulled}"


@register.filter("ending")
def ending_clause(game: Game) -> str:
    """Why the game ended, without its result; empty before its end."""
    if not game.termination:
        return ""
    if (termination := Termination(game.termination)) in FORFEITS:
        return f"{game.fault.title()}: {FORFEITS[termination]}"
    return _why(game)


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
    if termination in FORFEITS:
        return f"{game.fault.title()} forfeits because {FORFEITS[termination]}"
    if termination is Termination.RESIGNATION:
        return f"{'Black' if game.result == Result.WHITE_WINS else 'White'} resigned"
    if termination is Termination.ADJUDICATION:
        return "adjudicated by the scores of both engines"
    if termination is Termination.REPETITION:
        return ENDINGS[Reason.REPETITION]
    if termination is Termination.PLY_LIMIT:
        return ENDINGS[Reason.PLY_LIMIT]
    return ENDINGS.get(Reason(game.reason), "by the rules")
