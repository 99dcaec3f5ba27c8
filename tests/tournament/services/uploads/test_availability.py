"""Whether uploads run, and the exact sentences of the site about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils.html import escape
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertNotContains

from tests.support.schedule import make_user
from tournament.embedded.up import describe_uploads
from tournament.services.uploads import availability as uploads
from workers.sandbox.levels import Level, Verdict, Want
from workers.sandbox.policy import write_verdict

LACK = Want("a control group", "start ./arena as root")
NO_BUBBLEWRAP = Want("the program bwrap", "apt-get install bubblewrap", "bubblewrap")

pytestmark = pytest.mark.django_db
Find = Callable[[Level], None]


@pytest.fixture
def found(settings: Settings) -> Find:
    """Have a worker of this machine report a sandbox of a level."""

    def find(level: Level) -> None:
        write_verdict(settings.CACHE, Verdict(level, () if level is Level.A else (LACK,)))

    return find


def test_at_level_a_uploads_are_run(found: Find) -> None:
    found(Level.A)
    assert uploads.current_state().are_run
    assert describe_uploads() == [
        "Sandbox: level A, all protections work.",
        "Uploaded bots are run in a sandbox of level A.",
    ]


def test_at_level_b_they_wait_and_the_exact_command_is_named(found: Find) -> None:
    found(Level.B)
    assert not uploads.current_state().are_run
    assert uploads.waiting_reason() == (
        "uploaded bots wait: the sandbox is of level B where A is needed. Missing: a control group "
        "(start ./arena as root). The site's operator can let them play by starting it with: "
        "DUARENA_SANDBOX=B ./arena up --port 8123"
    )
    assert describe_uploads()[-1] == (
        "The site's operator can let them play by starting it with: DUARENA_SANDBOX=B ./arena up --port 8123"
    )


def test_a_site_that_only_this_machine_can_reach_runs_them_at_level_b_and_says_so(
    settings: Settings, found: Find, client: Client
) -> None:
    settings.IS_LOCAL = True
    found(Level.B)
    sentence = (
        "Uploaded bots are run in a sandbox of level B: everything but a hard memory limit. "
        "That is enough because only this machine can reach the site."
    )
    assert uploads.current_state().are_run
    assert describe_uploads()[-1] == sentence
    client.force_login(make_user())
    assertContains(client.get("/upload/"), sentence)
    client.force_login(make_user("stan", staff=True))
    assertContains(client.get("/workers/"), sentence)


def test_level_b_is_not_spoken_of_where_all_holds(settings: Settings, found: Find, client: Client) -> None:
    settings.IS_LOCAL = True
    found(Level.A)
    client.force_login(make_user())
    assertNotContains(client.get("/upload/"), "a sandbox of level")


def test_a_local_site_may_be_told_to_need_level_a(settings: Settings, found: Find) -> None:
    settings.IS_LOCAL, settings.SANDBOX = True, "A"
    found(Level.B)
    assert not uploads.current_state().are_run


def test_an_operator_may_let_them_play_at_level_b(settings: Settings, found: Find) -> None:
    settings.SANDBOX = "B"
    found(Level.B)
    assert uploads.current_state().are_run
    assert describe_uploads()[-1].endswith("That is enough because DUARENA_SANDBOX=B is set.")
    found(Level.C)
    assert not uploads.current_state().are_run


@pytest.mark.parametrize(
    ("is_local", "command"), [(True, "./arena up --port 8123 --trust-uploads"), (False, "")]
)
def test_at_level_c_only_trust_would_let_them_play_which_no_public_site_should_give(
    settings: Settings, found: Find, is_local: bool, command: str
) -> None:
    settings.SANDBOX, settings.IS_LOCAL = "B", is_local
    found(Level.C)
    stand = uploads.current_state()
    assert not stand.are_run
    assert stand.command == command


@pytest.mark.parametrize("level", [Level.B, Level.C])
@pytest.mark.parametrize("is_local", [True, False])
def test_root_is_not_advised_to_weaken_the_sandbox(
    settings: Settings, found: Find, level: Level, is_local: bool
) -> None:
    settings.SANDBOX, settings.IS_LOCAL, settings.IS_STARTED_BY_ROOT = "A", is_local, True
    found(level)
    assert not uploads.current_state().are_run
    assert (uploads.current_state().advice, uploads.current_state().command) == ("", "")
    assert "--trust-uploads" not in " ".join(describe_uploads())
    assert "DUARENA_SANDBOX" not in " ".join(describe_uploads())
    (settings.CACHE / "sandbox.json").unlink()
    assert uploads.current_state().command == ""


@pytest.mark.parametrize(
    ("is_local", "advice"),
    [
        (True, "The site's operator can let them play, without a restart, with"),
        (False, "The site's operator can begin, without a restart, with"),
    ],
)
@pytest.mark.parametrize("address", ["/", "/upload/"])
def test_without_bubblewrap_the_one_package_to_install_is_named(
    settings: Settings, client: Client, address: str, is_local: bool, advice: str
) -> None:
    settings.IS_LOCAL = is_local
    write_verdict(settings.CACHE, Verdict(Level.C, (NO_BUBBLEWRAP,)))
    assert describe_uploads()[-1] == f"{advice}: apt-get install bubblewrap"
    client.force_login(make_user())
    page = client.get(address)
    assertContains(page, escape(advice))
    assertContains(page, "<code>apt-get install bubblewrap</code>")
    assertNotContains(page, "--trust-uploads")


def test_a_site_that_arena_did_not_start_names_the_setting_alone(settings: Settings, found: Find) -> None:
    settings.START_COMMAND = ""
    found(Level.B)
    assert uploads.current_state().command == "DUARENA_SANDBOX=B"


def test_a_setting_that_is_none_is_told(settings: Settings, found: Find) -> None:
    settings.SANDBOX = "off"
    found(Level.A)
    assert not uploads.current_state().are_run
    assert describe_uploads()[-1] == "Uploaded bots wait: DUARENA_SANDBOX is 'off', but must be A or B."


@pytest.mark.parametrize("address", ["/", "/upload/"])
def test_the_first_page_and_the_upload_page_say_so(client: Client, found: Find, address: str) -> None:
    client.force_login(make_user())
    found(Level.B)
    assertContains(client.get(address), "DUARENA_SANDBOX=B ./arena up --port 8123")
    found(Level.A)
    assertNotContains(client.get(address), "DUARENA_SANDBOX")
