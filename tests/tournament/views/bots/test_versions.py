"""A version's page while it is validated, a bot's page where its owner chooses who plays, and notices."""

from __future__ import annotations

import html
import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.parts import PART, followed_address, seen_of
from tests.support.schedule import news
from tournament.caches import cache
from tournament.models import ActiveVersion, BotVersion, ComplianceCheck, Job, LadderRating, Notice
from tournament.services.uploads import validation
from tournament.views.bots import bots
from tournament.views.links import comparison_address
from workers.jobs import ComplianceEnding, Finding, Work

BOT = "/bots/stone-age/"
PAGE = "/bots/stone-age/2/"
OK = Finding("handshake", "")
FLAW = Finding("quit", "", "it stayed", "exit at 'quit'", "> quit", "bye")
FAULT = Finding(
    "legal moves", "dualma", "illegal move 'x'", "read it all", "> go", "Traceback", is_grave=True
)


@pytest.fixture
def examined(site: Site) -> BotVersion:
    """A second version of the owner's bot, which a worker examines."""
    version = add_version(site.owner, "Stone Age", ["dualma"], state=BotVersion.State.VALIDATING)
    now = timezone.now()
    times = {"taken_at": now, "lease_until": now + timedelta(minutes=1), "ends_by": now + timedelta(hours=1)}
    job = Job.objects.create(ask=uuid.uuid4(), worker="east", slot=1, kind=Work.CHECKS, **times)
    ComplianceCheck.objects.create(version=version, sent_at=now, job=job)
    return version


@pytest.fixture
def owner(site: Site, as_user: LogIn) -> Client:
    return as_user(site.owner)


def rate_version(version: BotVersion) -> None:
    numbers = {"mu": 20, "sigma": 2, "conservative": 14, "games": 1}
    LadderRating.objects.update_or_create(ladder_id=LADDER, version=version, defaults=numbers)


def poll(client: Client) -> tuple[int, str]:
    """What a script gets that has seen the page as it is, and the page's own state of affairs."""
    seen = seen_of(client.get(PAGE))
    return client.get(f"{PAGE}?seen={seen}", headers=PART).status_code, seen


def test_the_page_follows_an_examination_step_by_step(examined: BotVersion, owner: Client) -> None:
    states = [poll(owner)]
    for unpacked, found in ((False, ()), (True, ()), (True, (OK,)), (True, (OK, FLAW))):
        assert validation.record_news(
            news(examined, ComplianceEnding.NONE, *found, unpacked=unpacked), timezone.now()
        )
        states.append(poll(owner))
    assert [status for status, _ in states] == [204] * 5
    assert len({seen for _, seen in states}) == 5
    answer = owner.get(f"{PAGE}?seen={states[0][1]}", headers=PART)
    fragment = answer.content.decode()
    assert "<html" not in fragment
    assert "2 checks so far, 1 fault" in fragment
    assert followed_address(fragment)


def test_the_page_is_loaded_again_when_the_validation_ends_because_its_buttons_change(
    examined: BotVersion, owner: Client
) -> None:
    page = owner.get(PAGE)
    assert "Stop the validation" in page.content.decode()
    validation.record_news(news(examined, ComplianceEnding.DONE, FAULT), timezone.now())
    assert owner.get(f"{PAGE}?seen={seen_of(page)}", headers=PART)["X-Reload"] == "true"
    assert "Stop the validation" not in owner.get(PAGE).content.decode()


def test_a_fault_that_was_found_before_is_only_referred_to(examined: BotVersion, owner: Client) -> None:
    again = Finding(
        "time control", "dualma", "illegal move 'x'", "read it all", same_as="'legal moves' (dualma)"
    )
    validation.record_news(news(examined, ComplianceEnding.DONE, OK, FAULT, again), timezone.now())
    page = owner.get(PAGE).content.decode()
    assert page.count("What to do: read it all") == 1
    assert "the same fault as in &#x27;legal moves&#x27; (dualma)." in page


def test_before_a_worker_is_free_the_page_says_so(examined: BotVersion, owner: Client) -> None:
    assert "waiting for a worker" in owner.get(PAGE).content.decode()


def test_the_report_tells_what_is_wrong_in_plain_words_with_what_led_to_it(
    examined: BotVersion, owner: Client
) -> None:
    validation.record_news(news(examined, ComplianceEnding.DONE, OK, FLAW, FAULT), timezone.now())
    page = owner.get(PAGE).content.decode()
    for words in ("illegal move &#x27;x&#x27;", "What to do: read it all", "&gt; go", "Traceback", "refused"):
        assert words in page
    assert page.index("Legal moves") < page.index("<b>Quit</b>"), "what refuses it comes first"
    assert "The bot can play in spite of this" in page
    assert "every 2s" not in page
    assert "download>download" not in page


def test_of_long_output_the_report_shows_the_end(examined: BotVersion, owner: Client) -> None:
    lines = [f"> ping {number}" for number in range(1, 600)]
    fault = Finding("quit", "", "it stayed", "exit at 'quit'", "\n".join(lines), "bye", is_grave=True)
    validation.record_news(news(examined, ComplianceEnding.DONE, fault), timezone.now())
    page = owner.get(PAGE).content.decode()
    assert "Lines exchanged, the end" in page
    assert "Standard error, the end" not in page
    shown = [line for line in lines if html.escape(line) + "\n" in page or html.escape(line) + "<" in page]
    assert shown == lines[-len(shown) :]
    assert 100 < len(shown) < len(lines)


def test_a_version_that_waits_can_be_validated_where_uploads_are_run(
    examined: BotVersion, owner: Client, settings: Settings
) -> None:
    examined.checks.all().delete()
    BotVersion.objects.filter(pk=examined.pk).update(state="waiting")
    assert "Validate it now" not in owner.get(PAGE).content.decode()
    assert "can be validated" in owner.post(f"{PAGE}validate/", follow=True).content.decode()
    settings.TRUST_UPLOADS = True
    assert "Validate it now" in owner.get(PAGE).content.decode()
    owner.post(f"{PAGE}validate/")
    examined.refresh_from_db()
    assert (examined.state, examined.checks.count()) == ("validating", 1)


def test_staff_lets_a_withdrawn_version_play_again(site: Site, as_user: LogIn, owner: Client) -> None:
    BotVersion.objects.filter(pk=site.white.pk).update(state="withdrawn", forfeits=5)
    assert "Let it play again" not in owner.get("/bots/stone-age/1/").content.decode()
    as_user(site.staff).post("/bots/stone-age/1/reinstate/")
    site.white.refresh_from_db()
    assert (site.white.state, site.white.forfeits) == ("valid", 0)


# Who plays


def active(site: Site) -> int | None:
    row = ActiveVersion.objects.get(bot=site.white.bot, ladder="dualma")
    return row.version.number if row.enabled else None


def choose(client: Client, version: str, ladder: str = "dualma") -> str:
    sent = {"ladder": ladder, "version": version}
    page = client.post("/bots/stone-age/activity/", sent, follow=True).content.decode()
    (said,) = re.findall(r'class="message \w+" role="status">(.*?)<', page)
    return str(said)


def test_an_owner_goes_back_switches_off_and_on_again(site: Site, owner: Client) -> None:
    add_version(site.owner, "Stone Age", ["dualma"])
    assert active(site) == 2
    for version, then in (("1", 1), ("off", None), ("2", 2)):
        assert choose(owner, version).startswith("Done")
        assert active(site) == then


@pytest.mark.parametrize(
    ("version", "ladder"),
    [
        ("9", "dualma"),
        ("x", "dualma"),
        ("", "dualma"),
        ("1", "chess"),
        ("off", "chess"),
        ("9" * 30, "dualma"),
        ("²", "dualma"),
    ],
)
def test_a_choice_that_cannot_be_is_a_sentence(site: Site, owner: Client, version: str, ladder: str) -> None:
    assert choose(owner, version, ladder).endswith(".")
    assert active(site) == 1


def test_only_the_owner_is_offered_a_choice(site: Site, owner: Client, as_user: LogIn) -> None:
    assert 'name="version"' in owner.get("/bots/stone-age/").content.decode()
    assert 'name="version"' not in as_user(site.rival).get("/bots/stone-age/").content.decode()


# Notices


def test_a_notice_stands_in_the_account_until_it_is_put_away(site: Site, owner: Client) -> None:
    notice = Notice.objects.create(user=site.owner, version=site.white, text="Stone Age v1 is withdrawn: <b>")
    assert "withdrawn: &lt;b&gt;" in owner.get("/account/").content.decode()
    owner.post(f"/account/notices/{notice.pk}/")
    unread, _, read = owner.get("/account/").content.decode().partition("Notices that you have read")
    assert ("withdrawn" in unread, "withdrawn" in read) == (False, True)


def test_a_game_names_the_bundles_it_was_played_with(site: Site, client: Client) -> None:
    page = client.get(f"/games/{site.played.pk}/").content.decode()
    assert site.white.bundle_id in page
    assert site.black.bundle_id in page


def test_an_owner_withdraws_a_version_and_reads_what_happens(
    site: Site, owner: Client, client: Client
) -> None:
    page = owner.get("/bots/stone-age/1/").content.decode()
    assert "Withdraw it" in page
    assert "Withdraw it" not in client.get("/bots/stone-age/1/").content.decode()
    page = owner.post("/bots/stone-age/1/withdraw/", follow=True).content.decode()
    assert "The version is withdrawn. Its games are stopped." in page
    site.white.refresh_from_db()
    assert (site.white.state, site.white.state_reason) == ("withdrawn", "its owner withdrew it")
    is_open = {"state__in": ["waiting", "claimed"], "tournament__state": "running"}
    assert not site.white.games_as_white.filter(**is_open).exists()
    assert "Delete its program" not in page, "its version test has not ended"
    BotVersion.objects.update(has_games_to_end=False)
    assert "Delete its program" in owner.get("/bots/stone-age/1/").content.decode()
    again = owner.post("/bots/stone-age/1/withdraw/", follow=True).content.decode()
    assert "The version is refused or withdrawn already, or" in again
    assert "Delete its program" in again, "withdrawing twice deletes nothing"
    deleting = {"act": "delete"}
    page = owner.post("/bots/stone-age/1/withdraw/", deleting, follow=True).content.decode()
    assert "The program is deleted. Results and records stay." in page
    assert "Delete its program" not in page
    page = owner.post("/bots/stone-age/1/withdraw/", deleting, follow=True).content.decode()
    assert "The version is refused or withdrawn already, or" in page


def test_an_owner_stops_a_validation(examined: BotVersion, owner: Client) -> None:
    assert "Stop the validation" in owner.get(PAGE).content.decode()
    page = owner.post(f"{PAGE}withdraw/", follow=True).content.decode()
    assert "The validation is stopped, and the version refused." in page
    examined.refresh_from_db()
    assert examined.state == BotVersion.State.REFUSED


def test_a_bot_of_many_versions_shows_the_newest_and_a_pager_leads_to_all(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "VERSIONS_A_PAGE", 2)
    versions = [site.white, *(add_version(site.owner, "Stone Age") for _ in range(4))]
    for version in versions[:4]:
        rate_version(version)
    seen = list[tuple[list[int], list[int]]]()
    address = BOT
    while address:
        page = client.get(address)
        shown = [version.number for version in page.context["versions"].rows]
        seen.append((shown, [rating.version.number for rating in page.context["ratings"]]))
        following = page.context["versions"].next
        assert not following or f'href="{following}"' in page.content.decode()
        address = following and f"{BOT}{following}"
        assert page.context["results"]["numbers"] == [4, 3, 2, 1]
        assert page.context["compared"] == comparison_address(
            "stone-age", "stone-age", version=4, opponent_version=3
        )
        assert 'data-history="/bots/stone-age/ratings/' in page.content.decode()
    assert seen == [([5, 4], [4]), ([3, 2], [3, 2]), ([1], [1])]
    back = client.get(f"{BOT}?page=3").context["versions"].previous
    assert client.get(f"{BOT}{back}").context["versions"].rows[0].number == 3


def test_a_page_of_versions_without_ratings_says_so_and_still_has_the_files(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate_version(site.white)
    assert "None of these versions is rated." not in client.get(BOT).content.decode()
    monkeypatch.setattr(bots, "VERSIONS_A_PAGE", 1)
    add_version(site.owner, "Stone Age")
    text = client.get(BOT).content.decode()
    assert "None of these versions is rated." in text
    assert "/bots/stone-age/ratings.csv" in text


def test_more_versions_cost_a_bot_s_page_no_more_queries(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    rate_version(site.white)
    cache.clear()
    with CaptureQueriesContext(connection) as few:
        client.get(BOT)
    for _ in range(6):
        version = add_version(site.owner, "Stone Age")
        rate_version(version)
    cache.clear()
    with django_assert_max_num_queries(len(few)):
        client.get(BOT)


def test_a_bot_s_page_shows_the_ratings_of_active_versions_that_are_on_other_pages(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "VERSIONS_A_PAGE", 1)
    for version in (site.white, add_version(site.owner, "Stone Age"), add_version(site.owner, "Stone Age")):
        rate_version(version)
    ActiveVersion.objects.filter(bot=site.white.bot).update(version=site.white)
    for query, numbers in (("", [3, 1]), ("?page=2", [2, 1]), ("?page=3", [1])):
        page = client.get(f"{BOT}{query}")
        assert [rating.version.number for rating in page.context["ratings"]] == numbers
        assert "Of the active versions and those listed on this page" in page.content.decode()
