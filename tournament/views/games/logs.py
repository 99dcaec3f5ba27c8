"""Engines' logs as pages show them: the end of each, because a whole log may have hundreds of kilobytes."""

from __future__ import annotations

from django import template

from engines.terminations import Fault
from tournament.models import Game, GameLog

register = template.Library()

MAX_SHOWN = 1500
"""Characters; the download of a log has all."""


@register.filter
def log_end(text: str) -> str:
    """At most ``MAX_SHOWN`` characters, from the beginning of a line unless the last line is longer."""
    if len(text) <= MAX_SHOWN:
        return text
    end = text[-MAX_SHOWN:]
    return end.partition("\n")[2] or end


@register.filter
def at_fault(game: Game) -> str:
    """The side whose log shows what went wrong, White's if neither engine started; empty without a fault."""
    if game.fault in {Fault.WHITE, Fault.BLACK}:
        return game.fault
    return GameLog.Side.WHITE if game.state == Game.State.HALTED else ""
