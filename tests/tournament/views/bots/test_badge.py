"""The badge of a bot."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from django.test import Client

from tests.support.filled_site import Site, add_version
from tournament.models import BotVersion, LadderRating

pytestmark = pytest.mark.django_db


def rate(version: BotVersion, ladder: str, mu: float, sigma: float = 1) -> None:
    LadderRating.objects.update_or_create(
        ladder_id=ladder,
        version=version,
        defaults={"mu": mu, "sigma": sigma, "conservative": mu - 3 * sigma, "games": 9},
    )


def title(client: Client, address: str) -> str:
    response = client.get(address)
    assert (response.status_code, response["Content-Type"]) == (200, "image/svg+xml")
    assert "max-age=300" in response["Cache-Control"]
    return ElementTree.fromstring(response.content.decode()).findtext("{*}title") or ""


def test_a_badge_has_the_rating_the_uncertainty_and_the_place(site: Site, client: Client) -> None:
    LadderRating.objects.all().delete()
    slug = site.black.bot.slug
    assert title(client, f"/bots/{slug}/badge.svg") == "Duarena Duovallis: not rated"
    rate(site.white, "dualma", 40)
    rate(site.black, "dualma", 30)
    assert title(client, f"/bots/{slug}/badge.svg") == "Duarena DuAlma: 27.0 ± 3.0, place 2"
    rate(site.black, "duploline", 30, sigma=2)
    address = f"/bots/{slug}/badge.svg?ladder=duploline"
    assert title(client, address) == "Duarena DuploLine: 24.0 ± 6.0, provisional"
    assert client.get(f"/bots/{slug}/badge.svg?ladder=chess").status_code == 404


def test_the_badge_of_a_version_that_no_longer_plays_is_not_rated(site: Site, client: Client) -> None:
    LadderRating.objects.all().delete()
    rate(site.black, "dualma", 30)
    BotVersion.objects.filter(pk=site.black.pk).update(state=BotVersion.State.WITHDRAWN)
    assert (
        title(client, f"/bots/{site.black.bot.slug}/badge.svg?ladder=dualma") == "Duarena DuAlma: not rated"
    )


def test_a_settled_version_is_shown_rather_than_a_provisional_one_with_a_higher_rating(
    site: Site, client: Client
) -> None:
    LadderRating.objects.all().delete()
    rate(site.black, "dualma", 30)
    rate(add_version(site.black.bot.owner, site.black.bot.name), "dualma", 40, sigma=2)
    assert title(client, f"/bots/{site.black.bot.slug}/badge.svg") == "Duarena DuAlma: 27.0 ± 3.0, place 1"


def test_the_page_of_a_bot_gives_its_owner_the_badge_for_a_readme(site: Site, client: Client) -> None:
    rate(site.black, "dualma", 30)
    page = f"/bots/{site.black.bot.slug}/"
    assert "badge.svg" not in client.get(page).content.decode()
    assert site.black.bot.owner is not None
    client.force_login(site.black.bot.owner)
    assert (
        f"[![Rating](http://testserver{page}badge.svg)](http://testserver{page})"
        in client.get(page).content.decode()
    )
