"""How many failures of a game end its attempts, on a site and in a match."""

from __future__ import annotations

MAX_VOIDS = 3
"""A game that was void this many times is given up: it halts."""
MAX_LOST = 10
"""A game whose worker or slot was lost this many times is given up as well."""
