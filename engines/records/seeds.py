"""The engines' seed for a game: derived, fitted to an engine's range, and stored in the record."""

from __future__ import annotations

import hashlib

from engines.protocol import OptionDeclared, parse_number
from engines.records.model import Record

SEED_LIMIT = 2**31
"""Seeds are below this, even if an engine accepts larger numbers."""
SEED_HEADER = "Seed"


def derive_seed(seed: int, key: str) -> int:
    """The engines' seed for one game of a run. It depends only on the run's seed and the game's key."""
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % SEED_LIMIT


def fit_seed(seed: int, option: OptionDeclared) -> int:
    """The seed, reduced to the range that the engine declared."""
    if option.max is None or option.max >= SEED_LIMIT:
        return seed
    low = max(0, option.min or 0)
    return low + seed % (option.max - low + 1) if option.max >= low else low


def seed_header(seed: int, key: str) -> tuple[str, str]:
    """The record header that lets one game be played again. It does not reveal the run's seed."""
    return SEED_HEADER, str(derive_seed(seed, key))


def seed_of(record: Record) -> int | None:
    """The engines' seed in a recorded game; None if the record has no valid seed."""
    seed = parse_number(record.header(SEED_HEADER))
    return seed if seed is not None and 0 <= seed < SEED_LIMIT else None
