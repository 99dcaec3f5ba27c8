"""The number of random examples in tests: ``DUARENA_TESTS`` is ``quick``, ``default`` or ``all``."""

from __future__ import annotations

import os
from typing import Final

MODE: Final = os.environ.get("DUARENA_TESTS", "default")
EXAMPLES: Final = {"quick": 20, "default": 50, "all": 100}[MODE]
"""The default number of examples of a property."""


def share(count: int) -> int:
    """``count`` in a complete run, half of it in a default one, a quarter in a quick one."""
    return max(1, count // {"quick": 4, "default": 2, "all": 1}[MODE])
