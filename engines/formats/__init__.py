"""The formats of tournaments: who meets whom, and in what order the players stand. Begin with `base.py`.

Pure, and the same for a site and for who checks it. Each format is one class; those of `tournament.formats`
extend them by names, forms and pages. Only Swiss rounds need more than the standard library: networkx pairs
them.

To check a tournament from its terms and games: `planning.plan_cycles` or `planning.replan_rounds` makes its
pairings with openings and seeds; `meetings.count_meetings` and `tables.event_table` make its tables, whose
rows `EventFormat.ranked_rows` puts in order; `engines.arithmetic.ratings.own_table` computes its own ratings;
`rated.why_unrated` says which of its games the ladders rate.
"""

from __future__ import annotations

from engines.formats.base import EventFormat
from engines.formats.gauntlet import GauntletFormat
from engines.formats.knock_out import KnockOutFormat
from engines.formats.round_robin import RoundRobinFormat
from engines.formats.swiss import SwissFormat

__all__ = ["FORMATS", "EventFormat"]

FORMATS: dict[str, EventFormat] = {
    one.code: one for one in (RoundRobinFormat(), GauntletFormat(), SwissFormat(), KnockOutFormat())
}
"""The formats by ``EventFormat.code``."""
