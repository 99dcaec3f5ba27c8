"""Gauntlet: one bot, the challenger, meets each of the others once a cycle, on each ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tournament.arithmetic import standings
from tournament.formats.base import TournamentError, TournamentFormat
from workers.pairing.berger import Pair
from workers.pairing.gauntlet import gauntlet_rounds


class Gauntlet(TournamentFormat):
    """All games are known at the start. It ends when all of them are over."""

    code = "gauntlet"
    choice = "Gauntlet: one bot meets each of the others"
    has_cycles = True
    has_challenger = True
    ends_with_its_games = True
    extends = "pairs"
    order = standings.GAUNTLET

    def meetings(self, players: int, rounds: int = 0) -> int:
        return max(0, players - 1)

    def table(self, players: int) -> list[list[Pair]]:
        return gauntlet_rounds(players)

    def check_players(self, players: Mapping[str, Sequence[Any]]) -> None:
        super().check_players(players)
        if len({entered[0].pk for entered in players.values()}) > 1:
            raise TournamentError("ladders: a gauntlet's challenger must play all of them")
