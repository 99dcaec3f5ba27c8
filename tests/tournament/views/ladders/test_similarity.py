"""Similarity: staff sees all pairs of a ladder, everybody those whose comparison is opened."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.sampled import store_samples
from tournament.models import ActiveVersion, Bot


@pytest.fixture
def sampled(site: Site) -> list[Bot]:
    """White's bot and eight of other owners; the rival's first one chooses as White's does."""
    versions = [site.white, *(add_version(site.rival, f"Bot {number}") for number in range(8))]
    store_samples(LADDER, versions)
    return [version.bot for version in versions]


def test_staff_sees_the_pairs_of_different_owners_the_most_striking_first(
    site: Site, sampled: list[Bot], as_user: LogIn
) -> None:
    page = as_user(site.staff).get(f"/ladders/{LADDER}/similarity/").content.decode()
    rows = page.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:-1]
    assert len(rows) == len(sampled) - 1, "pairs of one owner are not compared"
    assert "<b>100 %</b>" in rows[0]
    assert '<td class="num">50 %</td>' in rows[0]
    assert (
        f'href="/bots/{sampled[0].slug}/against/{sampled[1].slug}/?version=1&amp;opponent_version=1"'
        in rows[0]
    )
    assert not any("<b>" in row for row in rows[1:])


def test_the_ladder_s_page_leads_only_staff_there(site: Site, as_user: LogIn) -> None:
    link = f'href="/ladders/{LADDER}/similarity/"'
    assert link in as_user(site.staff).get(f"/ladders/{LADDER}/").content.decode()
    assert link not in as_user(site.owner).get(f"/ladders/{LADDER}/").content.decode()


def test_a_ladder_without_answers_says_what_is_missing_and_one_that_does_not_exist_is_not_found(
    site: Site, as_user: LogIn
) -> None:
    staff = as_user(site.staff)
    assert "No pair is compared yet" in staff.get(f"/ladders/{LADDER}/similarity/").content.decode()
    assert staff.get("/ladders/chess/similarity/").status_code == 404


def test_a_comparison_says_how_often_both_choose_the_same_move(
    site: Site, sampled: list[Bot], client: Client
) -> None:
    told = "they choose the same move in 100 % of 100 positions; 50 % are expected"
    for one, other in ((0, 1), (1, 0)):
        page = client.get(f"/bots/{sampled[one].slug}/against/{sampled[other].slug}/").content.decode()
        assert told in " ".join(page.split())
    address = f"/bots/{sampled[0].slug}/against/{sampled[1].slug}/"
    assert "the same move" not in client.get(f"{address}?ladder=dualma").content.decode()
    ActiveVersion.objects.filter(bot=sampled[1]).update(enabled=False)
    assert "the same move" not in client.get(address).content.decode()
    address = f"/bots/{sampled[1].slug}/against/{sampled[2].slug}/"
    assert "the same move" not in client.get(address).content.decode(), "they have one owner"
