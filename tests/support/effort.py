"""How much of what is tried at random is tried: ``DUARENA_TESTS`` is ``quick``, ``default`` or ``all``."""

from __future__ import annotations

import os
from typing import Final

MODE: Final = os.environ.get("DUARENA_TESTS", "default")
EXAMPLES: Final = {"quick": 20, "default": 50, "all": 200}[MODE]
"""Of each property that does not say otherwise."""


def share(count: int) -> int:
    """So many, or a quarter of them in a quick run."""
    return max(1, count // 4) if MODE == "quick" else count
