"""The number of random examples in tests: ``DUARENA_TESTS`` is ``quick``, ``default`` or ``all``."""

from __future__ import annotations

import os
from typing import Final

MODE: Final = os.environ.get("DUARENA_TESTS", "default")
EXAMPLES: Final = {"quick": 20, "default": 50, "all": 200}[MODE]
"""The default number of examples of a property."""


def share(count: int) -> int:
    """``count``, or a quarter of it in a quick run."""
    return max(1, count // 4) if MODE == "quick" else count
