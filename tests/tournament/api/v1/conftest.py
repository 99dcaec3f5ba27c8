"""The small site of the pages' tests, and limits that begin anew."""

from __future__ import annotations

import pytest

from tests.support.filled_site import Site, fill_site
from tests.support.remembered import remembered
from tournament.api.limits import LIMITS
from tournament.caches import cache


@pytest.fixture
def site(db: None) -> Site:
    cache.clear()
    return remembered(fill_site)


@pytest.fixture(autouse=True)
def fresh_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "_left", {})
