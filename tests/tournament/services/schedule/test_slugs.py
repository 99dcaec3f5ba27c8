"""The slugs of tournaments: a draft's says nothing, and nobody learns of drafts by those of others."""

from __future__ import annotations

import datetime
import re

import pytest
from django.utils import timezone

from tests.support.schedule import make_tournament, make_user, make_version
from tournament.formats.base import TournamentError
from tournament.models import Tournament
from tournament.services.schedule import slugs
from tournament.services.schedule.changing import set_times
from tournament.services.schedule.slugs import unique_slug
from tournament.services.schedule.tournaments import announce, cancel, start

pytestmark = pytest.mark.django_db


def draft_of(name: str, owner: str = "ada", pairs: int = 1) -> Tournament:
    versions = [make_version(f"{owner} {name} {number}") for number in (1, 2)]
    return make_tournament(owner=make_user(owner), name=name, versions=versions, pairs=pairs, running=False)


def test_a_tournament_gets_the_same_slug_whether_others_have_drafts_of_its_name() -> None:
    hidden = draft_of("Secret Cup", "ada")
    cancel(draft_of("Secret Cup", "bob"))
    mine = draft_of("Secret Cup", "cy")
    for one in (hidden, mine):
        assert re.fullmatch("draft-[0-9a-f]{16}", one.slug)
    start(mine)
    assert mine.slug == "secret-cup"
    start(hidden)
    assert hidden.slug == "secret-cup-2"  # by now everybody can see the other


@pytest.mark.parametrize("is_announced", [False, True])
def test_a_draft_and_its_games_get_the_slug_of_its_name_when_it_is_published(is_announced: bool) -> None:
    draft = draft_of("Autumn Cup", pairs=2)
    assert set(draft.games.values_list("key", flat=True)) == {
        f"{draft.slug}/{cycle}/1/{game}" for cycle in (1, 2) for game in (1, 2)
    }
    if is_announced:
        set_times(draft, timezone.now() + datetime.timedelta(hours=1), None)
        announce(draft)
    else:
        start(draft)
    assert draft.slug == "autumn-cup"
    assert draft.get_absolute_url() == "/tournaments/autumn-cup/"
    keys = {f"autumn-cup/{cycle}/1/{game}" for cycle in (1, 2) for game in (1, 2)}
    assert set(draft.games.values_list("key", flat=True)) == keys
    if is_announced:
        start(draft)
        assert draft.slug == "autumn-cup"
        assert set(draft.games.values_list("key", flat=True)) == keys


def test_a_slug_that_is_always_taken_is_an_error_and_one_taken_meanwhile_is_replaced_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start(draft_of("Autumn Cup", "ada"))
    late = draft_of("Autumn Cup", "bob")
    monkeypatch.setattr(slugs, "unique_slug", lambda _: "autumn-cup")
    with pytest.raises(TournamentError, match="many tournaments are called 'Autumn Cup'"):
        start(late)
    late.refresh_from_db()
    assert late.state == Tournament.State.DRAFT
    found = iter(["autumn-cup", "autumn-cup-2"])
    monkeypatch.setattr(slugs, "unique_slug", lambda _: next(found))
    start(late)
    assert late.slug == "autumn-cup-2"


def test_the_address_of_the_form_is_no_slug() -> None:
    event = draft_of("New")
    start(event)
    assert event.slug == "new-2"
    assert unique_slug("new") == "new-3"
