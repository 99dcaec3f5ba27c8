"""A small site with users, bots, and games in every state."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LogIn, Site, fill_site
from tests.support.remembered import remembered
from tournament.caches import cache
from tournament.views.site import navigation


@pytest.fixture
def site(db: None) -> Site:
    cache.clear()
    return remembered(fill_site)


@pytest.fixture
def as_user() -> LogIn:
    def log_in(user: object = None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)  # type: ignore[arg-type]
        return client

    return log_in


@pytest.fixture
def counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of games in the navigation is known, so that no page counts them."""
    monkeypatch.setattr(navigation, "KEPT_SECONDS", 600)
    navigation.count_playing()
