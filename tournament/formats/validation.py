"""Validation: a new version plays itself once on every ladder it claims, before it may meet others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.records import Fault
from tournament.formats.base import GameEffect, TournamentFormat, VersionVerdict
from workers.jobs import BOTH_UNABLE, Work

if TYPE_CHECKING:
    from tournament.models import Game, Tournament


class Validation(TournamentFormat):
    """Made for each upload that has passed its compliance check. It ends with a verdict on the version."""

    code = "validation"
    label = "validation"
    work = Work.CHECKS
    is_listed = False
    has_news = False

    def effects(self, game: Game) -> set[GameEffect]:
        """A fault refuses the version at the end, so it does not count as a forfeit."""
        return super().effects(game) - {GameEffect.FORFEITS}

    def is_hopeless(self, evidence: str) -> bool:
        """Two engines of one version that both fail do so again."""
        return evidence.startswith(BOTH_UNABLE)

    def verdict(self, tournament: Tournament) -> VersionVerdict:
        """Refuse the version for its first fault, or put it off if a game could not be played."""
        games = list(tournament.games.order_by("id"))
        if fault := next(filter(None, map(_fault, games)), ""):
            return VersionVerdict("refused", fault)
        if trouble := next(filter(None, map(_trouble, games)), ""):
            return VersionVerdict("waiting", trouble)
        return VersionVerdict("valid")


def _fault(game: Game) -> str:
    """The fault that a game shows in its version; empty if it went well.

    Losing by the rules, repetition and the ply limit are no faults: the version played itself.
    """
    if game.state == game.State.HALTED and game.evidence.startswith(BOTH_UNABLE):
        return _trouble(game)
    if game.fault not in {Fault.WHITE, Fault.BLACK}:
        return ""
    evidence = f": {game.evidence}" if game.evidence else ""
    return f"{_where(game)} ended in {game.termination} at ply {game.plies}{evidence}"


def _trouble(game: Game) -> str:
    """Why a game could not be played; empty if it was."""
    is_halted = game.state == game.State.HALTED
    return f"{_where(game)} could not be played: {game.evidence}" if is_halted else ""


def _where(game: Game) -> str:
    return f"the validation game of {game.ladder_id}"
