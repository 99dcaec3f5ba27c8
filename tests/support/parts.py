"""What tests read of parts that follow what they show."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

PART = {"X-Part": "true"}
"""The headers of a request by a script."""


def followed_address(page: str) -> str:
    """The address that the first part of a page follows; empty if there is none."""
    found = re.search(r'data-follow="([^"]*)"', page)
    return html.unescape(found[1]) if found else ""


def seen_of(response: Any) -> str:
    """The state that a page shows."""
    return str(parse_qs(urlsplit(response.context["follow"]).query)["seen"][0])
