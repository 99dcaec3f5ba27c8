"""The engines' seed for a game: made, brought into an engine's range, and kept in the record."""

from __future__ import annotations

import hashlib

from engines.protocol import OptionDeclared, parse_number
from engines.records import Record

SEED_LIMIT = 2**31
"""Seeds stay below this, whatever larger numbers an engine offers to take."""
SEED_HEADER = "Seed"


def derive_seed(seed: int, key: str) -> int:
    """The engines' seed for one game of a run: the same for the same run and game, wherever it is played."""
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % SEED_LIMIT


def fit_seed(seed: int, option: OptionDeclared) -> int:
    """The seed brought into the range that the engine declared."""
    if option.max is None or option.max >= SEED_LIMIT:
        return seed
    low = max(0, option.min or 0)
    return low + seed % (option.max - low + 1) if option.max >= low else low


def seed_header(seed: int, key: str) -> tuple[str, str]:
    """The header by which one game of a run can be played again; it does not tell the run's seed."""
    return SEED_HEADER, str(derive_seed(seed, key))


def seed_of(record: Record) -> int | None:
    """The engines' seed in a recorded game; None when the record does not have one that there could be."""
    seed = parse_number(record.header(SEED_HEADER))
    return seed if seed is not None and 0 <= seed < SEED_LIMIT else None
