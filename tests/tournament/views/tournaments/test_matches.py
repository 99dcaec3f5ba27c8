"""A short match, started with one click from a bot's page."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LADDER, LogIn, Site, add_version, decide_games
from tournament.models import ActiveVersion, BotVersion, Tournament


def start(client: Client, own: BotVersion, other: BotVersion) -> str:
    """The address to which the button leads."""
    answer = client.post(f"/bots/{other.bot.slug}/match/", {"bot": own.bot.slug})
    assert answer.status_code == 302
    return answer["Location"]


def test_a_match_is_started_from_a_bot_s_page_and_its_result_is_a_notice(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    page = client.get(site.black.get_absolute_url().removesuffix("1/")).content.decode()
    assert f'<option value="{site.white.bot.slug}">' in page
    match = Tournament.objects.get(slug=start(client, site.white, site.black).split("/")[2])
    assert (match.state, match.rated, match.owner) == (Tournament.State.RUNNING, False, site.owner)
    shared = set(site.white.games) & set(site.black.games)
    assert match.games_total == match.games.count() == 4 * len(shared)
    assert {game.white_id for game in match.games.all()} == {site.white.pk, site.black.pk}
    decide_games(match)
    (notice,) = site.owner.notices.filter(tournament=match)
    assert "Stone Age\u2069 v1 wins on 5 of 5 ladders." in notice.text
    assert not site.rival.notices.filter(tournament=match).exists()


def test_the_newest_active_version_plays(site: Site, as_user: LogIn) -> None:
    newer = add_version(site.owner, site.white.bot.name)
    match = Tournament.objects.get(slug=start(as_user(site.owner), site.white, site.black).split("/")[2])
    assert newer.pk in match.entries.values_list("version", flat=True)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_match_that_cannot_be_played_is_refused_with_a_sentence(
    site: Site, as_user: LogIn, *, is_shared: bool
) -> None:
    own = add_version(site.owner, "Here", [LADDER])
    other = add_version(site.rival, "Elsewhere", [LADDER if is_shared else "duploline"])
    if is_shared:
        ActiveVersion.objects.filter(version=other).update(enabled=False)
    before, client = Tournament.objects.count(), as_user(site.owner)
    assert start(client, own, other) == other.bot.get_absolute_url()
    page = client.get(other.bot.get_absolute_url()).content.decode()
    assert "active version of both bots" in page if is_shared else "ladder" in page
    assert Tournament.objects.count() == before


def test_staff_too_chooses_among_own_bots(site: Site, as_user: LogIn) -> None:
    page = f"/bots/{site.black.bot.slug}/"
    assert "A short match" not in as_user(site.staff).get(page).content.decode()
    add_version(site.staff, "Of stan")
    assert '<select name="bot">\n    <option value="of-stan">Of stan</option>\n  </select>' in (
        as_user(site.staff).get(page).content.decode()
    )


def test_only_own_bots_are_sent_into_a_match(site: Site, as_user: LogIn) -> None:
    client = as_user(site.rival)
    answer = client.post(f"/bots/{site.black.bot.slug}/match/", {"bot": site.white.bot.slug})
    assert answer.status_code == 404
    assert "A short match" not in client.get(f"/bots/{site.black.bot.slug}/").content.decode()
