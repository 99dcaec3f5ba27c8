"""The form that starts a version test, and the button that stops one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.schedule import make_test
from tournament.models import BotVersion, Tournament, VersionTest
from tournament.services.version_tests.progress import stop_test

pytestmark = pytest.mark.django_db


@pytest.fixture
def newer(site: Site) -> BotVersion:
    return add_version(site.owner, "Stone Age")


@pytest.fixture
def owner(site: Site, as_user: LogIn) -> Client:
    return as_user(site.owner)


def form(site: Site, newer: BotVersion, **changed: Any) -> dict[str, Any]:
    return {
        "candidate": newer.pk,
        "baseline": site.white.pk,
        "ladder": LADDER,
        "bounds": "gain",
        "most_games": 500,
        "time_control": " 5+0.10 ",
        "opening_plies": 3,
        **changed,
    }


def errors_of(client: Client, sent: dict[str, Any]) -> dict[str, list[str]]:
    response = client.post("/version-tests/new/", sent)
    assert response.status_code == 200
    assert not VersionTest.objects.exists()
    return dict(response.context["form"].errors)


def test_an_owner_starts_a_test(site: Site, newer: BotVersion, owner: Client) -> None:
    response = owner.post("/version-tests/new/", form(site, newer))
    assert response["Location"] == "/version-tests/stone-age-v2-against-v1/"
    test = VersionTest.objects.select_related("tournament").get()
    tournament = test.tournament
    assert (test.elo0, test.elo1, test.alpha, test.beta, test.most_games) == (0, 20, 0.05, 0.05, 500)
    assert (tournament.owner, tournament.state, tournament.rated) == (site.owner, "running", False)
    assert (tournament.time_control, tournament.opening_plies) == ("5+0.1", 3)
    entries = tournament.entries.order_by("number").values_list("version", flat=True)
    assert list(entries) == [newer.pk, site.white.pk]


def test_own_bounds_take_the_place_of_a_preset(site: Site, newer: BotVersion, owner: Client) -> None:
    owner.post("/version-tests/new/", form(site, newer, bounds="own", elo0="-3.5", elo1="4"))
    assert list(VersionTest.objects.values_list("elo0", "elo1")) == [(-3.5, 4.0)]


def test_versions_of_two_own_bots_can_be_compared(site: Site, newer: BotVersion, owner: Client) -> None:
    other = add_version(site.owner, "Iron Age")
    owner.post("/version-tests/new/", form(site, newer, baseline=other.pk))
    assert Tournament.objects.get(kind="version-test").name == "Stone Age v2 against Iron Age v1"


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"baseline": "newer"}, "baseline", "Choose two different versions."),
        ({"bounds": "own"}, "elo0", "Enter a difference in normalized Elo."),
        ({"bounds": "own", "elo0": 5, "elo1": 5}, "elo1", "H1 must be above H0."),
        (
            {"bounds": "own", "elo0": 0, "elo1": 900},
            "elo1",
            "Ensure this value is less than or equal to 200.0.",
        ),
        ({"bounds": "own", "elo0": "nan", "elo1": 9}, "elo0", "Enter a number."),
        ({"most_games": 1}, "most_games", "Ensure this value is greater than or equal to 2."),
        ({"most_games": 601}, "most_games", "A version test has at most 600 games on this site, not 601."),
        ({"ladder": "chess"}, "ladder", "Select a valid choice. chess is not one of the available choices."),
        ({"candidate": 2**70}, "candidate", None),
        ({"time_control": "soon"}, "time_control", None),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_beside_its_field(
    site: Site,
    newer: BotVersion,
    owner: Client,
    settings: Settings,
    changed: dict[str, Any],
    field: str,
    sentence: str | None,
) -> None:
    settings.MAX_TEST_GAMES = 600
    changed = {name: newer.pk if value == "newer" else value for name, value in changed.items()}
    found = errors_of(owner, form(site, newer, **changed))
    assert field in found
    if sentence:
        assert found[field] == [sentence]


def test_both_versions_must_play_the_ladder(site: Site, newer: BotVersion, owner: Client) -> None:
    elsewhere = add_version(site.owner, "Elsewhere", games=["dualma"])
    found = errors_of(owner, form(site, newer, baseline=elsewhere.pk))
    assert found == {"baseline": ["This version does not play Dogon kulei."]}


def test_versions_of_others_and_versions_that_are_not_valid_cannot_be_chosen(
    site: Site, newer: BotVersion, owner: Client, as_user: LogIn
) -> None:
    refused = add_version(site.owner, "Stone Age", state=BotVersion.State.REFUSED)
    for version in (site.black, refused):
        assert "baseline" in errors_of(owner, form(site, newer, baseline=version.pk))
    assert {"candidate", "baseline"} <= set(errors_of(as_user(site.rival), form(site, newer)))
    page = owner.get("/version-tests/new/").content.decode()
    assert "Rival" not in page


def test_an_owner_of_one_version_is_told_to_upload_another(
    site: Site, newer: BotVersion, owner: Client, as_user: LogIn
) -> None:
    hint = "A test needs two valid versions of yours."
    assert hint in as_user(site.rival).get("/version-tests/new/").content.decode()
    assert hint not in owner.get("/version-tests/new/").content.decode()


def test_no_more_tests_of_an_account_run_than_the_site_allows(
    site: Site, newer: BotVersion, owner: Client, settings: Settings
) -> None:
    settings.MAX_TESTS = 1
    owner.post("/version-tests/new/", form(site, newer))
    page = owner.post("/version-tests/new/", form(site, newer))
    (error,) = page.context["form"].non_field_errors()
    assert error == (
        "1 version test of yours is running, and this site runs no more than 1 of one account at a time: "
        "stop one, or wait until one is decided."
    )
    assert VersionTest.objects.count() == 1
    stop_test(VersionTest.objects.get().tournament, "its owner stopped it")
    owner.post("/version-tests/new/", form(site, newer))
    assert VersionTest.objects.count() == 2


def test_pages_of_a_bot_and_a_version_lead_its_owner_to_a_filled_form(
    site: Site, newer: BotVersion, owner: Client, client: Client
) -> None:
    address = f"/version-tests/new/?candidate={newer.pk}"
    for page in ("/bots/stone-age/", "/bots/stone-age/2/"):
        assert f'href="{address}"' in owner.get(page).content.decode()
        assert "/version-tests/new/" not in client.get(page).content.decode()
    initial = owner.get(address).context["form"].initial
    assert (initial["candidate"], initial["baseline"], initial["ladder"]) == (
        newer,
        site.white,
        newer.games[0],
    )
    assert owner.get(f"/version-tests/new/?candidate={site.black.pk}").context["form"].initial == {}


@pytest.mark.parametrize(("who", "reason"), [("owner", "its owner"), ("staff", "the site's staff")])
def test_a_test_is_stopped_by_its_button(
    site: Site, newer: BotVersion, as_user: LogIn, client: Client, who: str, reason: str
) -> None:
    tested = make_test(site.owner, candidate=newer, baseline=site.white, ladder=LADDER)
    page = tested.get_absolute_url()
    assert "Stop the test" not in client.get(page).content.decode()
    user = as_user(getattr(site, who))
    assert "Stop the test" in user.get(page).content.decode()
    answer = user.post(f"{page}stop/", follow=True).content.decode()
    assert "The test is stopped." in answer
    assert "Stop the test" not in answer
    tested.refresh_from_db()
    assert (tested.state, tested.state_reason) == ("cancelled", f"{reason} stopped it")
    assert "is over already." in user.post(f"{page}stop/", follow=True).content.decode()
