"""Swiss: in each round bots with similar scores meet that have not met before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engines.formats.swiss import SwissFormat
from engines.pairing.swiss import MAX_PLAYERS
from tournament.formats.base import MAX_ROUNDS, Parameter, TournamentError, TournamentFormat


class Swiss(SwissFormat, TournamentFormat):
    """No round is drawn while it is paused.

    It ends after the last round, on a ladder also when fewer than two bots are left that are not withdrawn.
    See ``services.schedule.rounds``.
    """

    code = SwissFormat.code
    label = "Swiss"
    sort_key = 3
    choice = "Swiss: a few rounds against opponents with a similar score"
    extends = "rounds"
    parameters = (
        Parameter(
            name="rounds",
            label="Rounds",
            least=1,
            most=MAX_ROUNDS,
            initial=5,
            help_text="5 rounds find the best of 8 bots, 9 rounds the best of 100.",
            missing="Enter the number of rounds of the Swiss.",
        ),
    )
    template = "formats/swiss.html"

    def check_size(self, players: Mapping[str, Sequence[Any]]) -> None:
        for code, entered in players.items():
            if len(entered) > MAX_PLAYERS:
                raise TournamentError(
                    f"bots: {len(entered)} play {code!r}, a Swiss has {MAX_PLAYERS} at most"
                )
