"""Whether uploads are run, and what the site says about it, to the word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertNotContains

from tests.support.schedule import make_user
from tournament import uploads
from tournament.embedded.up import describe_uploads
from workers.sandbox.levels import Level, Verdict, Want
from workers.sandbox.policy import write_verdict

LACK = Want("a control group", "start ./arena as root")

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(settings: Settings) -> Callable[[Level], None]:
    """Have a worker of this machine find walls of a level."""

    def find(level: Level) -> None:
        write_verdict(settings.CACHE, Verdict(level, () if level is Level.A else (LACK,)))

    return find


def test_at_level_a_uploads_are_run(found: Callable[[Level], None]) -> None:
    found(Level.A)
    assert uploads.look().are_run
    assert describe_uploads() == [
        "Sandbox: level A, all walls hold.",
        "Uploaded bots are run in a sandbox of level A.",
    ]


def test_at_level_b_they_wait_and_the_exact_command_is_named(found: Callable[[Level], None]) -> None:
    found(Level.B)
    assert not uploads.look().are_run
    assert uploads.waiting_reason() == (
        "uploaded bots wait: the sandbox is of level B where A is needed. Missing: a control group "
        "(start ./arena as root). The site's operator can let them play by starting it with "
        "DUARENA_SANDBOX=B ./arena up"
    )
    assert describe_uploads()[-1] == "To let them play: DUARENA_SANDBOX=B ./arena up"


def test_an_operator_may_let_them_play_at_level_b(settings: Settings, found: Callable[[Level], None]) -> None:
    settings.SANDBOX = "B"
    found(Level.B)
    assert uploads.look().are_run
    found(Level.C)
    assert not uploads.look().are_run


def test_at_level_c_only_trust_would_let_them_play(
    settings: Settings, found: Callable[[Level], None]
) -> None:
    settings.SANDBOX = "B"
    found(Level.C)
    assert uploads.look().command == "./arena up --trust-uploads"


def test_a_setting_that_is_none_is_told(settings: Settings, found: Callable[[Level], None]) -> None:
    settings.SANDBOX = "off"
    found(Level.A)
    assert not uploads.look().are_run
    assert describe_uploads()[-1] == "Uploaded bots wait: DUARENA_SANDBOX is 'off': it may be A or B."


@pytest.mark.parametrize("address", ["/", "/upload/"])
def test_the_first_page_and_the_upload_page_say_so(
    client: Client, found: Callable[[Level], None], address: str
) -> None:
    client.force_login(make_user())
    found(Level.B)
    assertContains(client.get(address), "DUARENA_SANDBOX=B ./arena up")
    found(Level.A)
    assertNotContains(client.get(address), "DUARENA_SANDBOX")
