"""How a game ended, in words: short ones for lists and filters, and sentences.

Files, records and addresses have the codes of ``Reason`` and ``Termination`` instead.
"""

from __future__ import annotations

from django import template

from engines.formats.rated import Unrated
from engines.rules.base import Reason, Result
from engines.rules.registry import ENDINGS
from engines.terminations import Fault, Termination
from tournament.formats.base import BY_STAFF
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
RULES_WORDS: dict[str, str] = {
    Reason.THREE_IN_A_ROW: "three in a row",
    Reason.FOUR_DISCS: "four discs",
    Reason.FOUR_RINGS: "four rings",
    Reason.NO_MOVE: "no move left",
    Reason.SEEDS: "both must pass",
    Reason.CANNOT_PAY: "unpaid pass",
    Reason.BOARD_FULL: "full board",
    Reason.NO_ACTION: "no action left",
}
FORFEIT_WORDS: dict[str, str] = {
    Termination.ILLEGAL_MOVE: "illegal move",
    Termination.UNSOLICITED: "out of turn",
    Termination.TIME: "time",
    Termination.STALL: "not ready",
    Termination.CRASH: "crash",
    Termination.FLOOD: "too much output",
    Termination.MEMORY: "memory limit",
    Termination.PROCESS: "process limit",
    Termination.CPU: "CPU limit",
    Termination.FILE: "file limit",
}
OTHER_WORDS: dict[str, str] = {
    Termination.REPETITION: "repetition",
    Termination.PLY_LIMIT: "ply limit",
    Termination.RESIGNATION: "resignation",
    Termination.ADJUDICATION: "adjudication",
}
_WORDS: dict[str, str] = {
    **RULES_WORDS,
    **FORFEIT_WORDS,
    **OTHER_WORDS,
    Reason.REPETITION: "repetition",
    Reason.PLY_LIMIT: "ply limit",
    Termination.RULES: "by the rules",
    Termination.VOID: "void",
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


@register.filter
def ending_sentence(game: Game) -> str:
    """One sentence: the result and its reason, or why there is no result yet."""
    if _is_walkover(game):
        return f"{game.fault.title()} loses without playing: {game.evidence}."
    annulled = " The game is annulled." if game.annulled else ""
    if game.result is None:
        return f"{_STATES[Game.State(game.state)]}.{annulled}"
    return f"{_RESULTS[Result(game.result)]}: {_why(game)}.{annulled}"


@register.filter
def result_word(game: Game) -> str:
    """The result, or what is known before it: ``live``. Reads the game's ``live`` row."""
    if game.result is not None:
        return game.result
    if game.state == Game.State.HALTED and game.fault:
        return "not played"
    if game.state != Game.State.CLAIMED:
        return game.state
    return "live" if hasattr(game, "live") else "up next"


@register.filter
def ending_word(code: str) -> str:
    """The short form of a ``Reason`` or a ``Termination``, for a narrow column."""
    return _WORDS[code]


@register.filter
def ending(game: Game) -> str:
    """The short form of a game's ending; empty before its end."""
    if _is_walkover(game):
        return "withdrawn"
    code = game.reason or game.termination
    return ending_word(code) if code else ""


@register.filter
def ending_clause(game: Game) -> str:
    """Why the game ended, without its result; empty before its end."""
    if _is_walkover(game):
        return f"{game.fault.title()}: it is withdrawn"
    if not game.termination:
        return ""
    if (termination := Termination(game.termination)) in FORFEITS:
        return f"{game.fault.title()}: {FORFEITS[termination]}"
    return _why(game)


def _is_walkover(game: Game) -> bool:
    """Whether a withdrawn version lost it without playing."""
    return game.state == Game.State.HALTED and game.fault in {Fault.WHITE, Fault.BLACK}


def fault_sentence(game: Game) -> str:
    """Who forfeited, or caused a void; empty if the game ended without a fault."""
    match game.fault:
        case Fault.WHITE | Fault.BLACK:
            return f"By {game.fault.title()}; the game counts."
        case Fault.INFRASTRUCTURE if game.state == Game.State.HALTED:
            counts = "does not count" if game.annulled else "counts half a point for both"
            return f"None: the site could not play the game, which {counts}."
        case Fault.INFRASTRUCTURE:
            return "None: the site is at fault, not an engine, and the game does not count."
    return ""


@register.filter
def rated_word(game: Game) -> str:
    """Whether the game is rated, with the reason if it is not; empty if it is not played."""
    event = game.tournament
    if game.rated:
        off = event.off_terms.get(game.ladder_id)
        return f"yes; {BY_STAFF} {event.format.explain(Unrated(off))}" if off else "yes"
    if game.state in {Game.State.HALTED, Game.State.CANCELLED}:
        return ""
    if game.annulled:
        return "no: it is annulled"
    if why := event.format.why_unrated(game):
        return f"no: {event.format.explain(why)}"
    if game.result is None:
        return "yes"
    return "no" if hasattr(game, "correction") else f"no: {event.format.explain(Unrated.REPEAT)}"


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
