"""A small site with users, bots, and games in every state."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from tests.support.filled_site import LogIn, Site, fill_site


@pytest.fixture
def site(db: None) -> Site:
    cache.clear()
    return fill_site()


@pytest.fixture
def as_user() -> LogIn:
    def log_in(user: object = None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)  # type: ignore[arg-type]
        return client

    return log_in
