"""What the pages weigh as they are served: scripts and styles minified, and everything compressed."""

from __future__ import annotations

import gzip
from typing import Final

from tournament.static_files import minified

MAX_BYTES: Final = 60 * 1024
"""Of a page with its styles, scripts and data, without pictures."""
STATIC: Final = "/static/"


def served(address: str, content: bytes) -> bytes:
    """The content of an address; of a static file, what ``collectstatic`` makes of it."""
    return minified(address.partition(STATIC)[2], content) if STATIC in address else content


def weight(address: str, content: bytes) -> int:
    """The bytes of the content of an address, compressed by ``gzip -6``."""
    return len(gzip.compress(served(address, content), 6))
