"""Saved analyses: who may change them, limits, and two pages that save the same one."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LogIn, Site
from tournament.models import Analysis
from tournament.models.analyses import MAX_TITLE
from tournament.views.analysis import saved as views

SAVE = "/analyse/dogon-kulei/save/"
MOVES = "c1+ c2- (c2+ {why not?} d1+)"


@pytest.fixture
def olga(site: Site, as_user: LogIn) -> Client:
    return as_user(site.owner)


@pytest.fixture
def analysis(olga: Client) -> Analysis:
    answer = olga.post(SAVE, {"moves": MOVES, "at": "3", "title": "Replies"})
    found = Analysis.objects.get()
    assert answer["Location"] == f"/analyse/dogon-kulei/{found.key}/?at=3"
    return found


def test_anybody_with_the_address_sees_a_saved_analysis(analysis: Analysis, client: Client) -> None:
    assert len(analysis.key) == 16
    page = client.get(analysis.get_absolute_url())
    assert page.context["shown"].moves == MOVES
    assert "Replies" in page.content.decode()
    assert client.get(f"/analyse/dualma/{analysis.key}/").status_code == 404
    assert client.get("/analyse/dogon-kulei/unknown/").status_code == 404


def test_only_the_owner_has_buttons_to_overwrite_and_delete(
    analysis: Analysis, olga: Client, site: Site, as_user: LogIn, client: Client
) -> None:
    def buttons(visitor: Client) -> list[bool]:
        page = visitor.get(analysis.get_absolute_url()).content.decode()
        return [text in page for text in ("Delete the analysis", ">Save</button>", "needs an account")]

    assert buttons(olga) == [True, True, False]
    assert buttons(as_user(site.rival)) == [False, True, False]
    assert buttons(client) == [False, False, True]


def test_the_owner_overwrites_and_renames(analysis: Analysis, olga: Client) -> None:
    form = {"moves": "c1+", "at": "1", "comment": "best", "title": "x\x00" * 40, "revision": "1"}
    assert olga.post(SAVE, {**form, "over": analysis.key}).status_code == 302
    changed = Analysis.objects.get()
    assert changed.text.endswith("1. c1+ {best} *\n")
    assert (changed.revision, len(changed.title)) == (2, MAX_TITLE)
    assert changed.updated_at > analysis.updated_at


def test_a_title_that_is_too_long_is_refused_and_stays_in_its_field(analysis: Analysis, olga: Client) -> None:
    form = {"moves": "c1+", "title": "x" * (MAX_TITLE + 1), "over": analysis.key, "revision": "1"}
    page = olga.post(SAVE, form).content.decode()
    assert "The title has 81 characters; 80 are allowed." in page
    assert f'value="{form["title"]}"' in page
    assert Analysis.objects.get().title == "Replies"


def test_the_game_that_an_analysis_came_from_is_saved(analysis: Analysis, olga: Client) -> None:
    headers = '[Event "Spring"]\r\n[White "Greedy"]\r\n[Result "0-1"]\r\n'
    form = {"moves": "c1+ $1", "headers": headers, "over": analysis.key, "revision": "1", "title": "Mine"}
    assert olga.post(SAVE, form).status_code == 302
    text = Analysis.objects.get().text
    assert '[Event "Mine"]' in text
    assert '[White "Greedy"]' in text
    assert text.endswith("1. c1+ $1 0-1\n")
    page = olga.get(analysis.get_absolute_url())
    assert page.context["address"] == ""
    assert "Greedy – ? 0-1" in page.content.decode()


def test_what_another_page_saved_is_not_overwritten(analysis: Analysis, olga: Client) -> None:
    form = {"moves": "c1+", "over": analysis.key, "revision": "1", "title": "Mine"}
    olga.post(SAVE, form)
    answer = olga.post(SAVE, {**form, "moves": "d1+"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "Not saved: this analysis was changed elsewhere since you opened it." in page
    assert 'name="moves" value="d1+"' in page
    assert 'name="revision" value="1"' in page
    for revision in ("", "-1", "9" * 5000, "3"):
        assert olga.post(SAVE, {**form, "revision": revision}).status_code == 400
    assert Analysis.objects.get().text.endswith("1. c1+ *\n")
    assert olga.post(SAVE, {"moves": "d1+"}).status_code == 302
    assert Analysis.objects.count() == 2


def test_unsaved_changes_stay_in_the_address_with_their_revision(analysis: Analysis, olga: Client) -> None:
    page = analysis.get_absolute_url()
    answer = olga.post(page, {"moves": MOVES, "at": "2", "play": "f1-", "revision": "1"})
    assert answer["Location"] == (
        f"{page}?moves=c1%2B+c2-+%28c2%2B+%7Bwhy+not%3F%7D+d1%2B%29+f1-&revision=1&at=5"
    )
    Analysis.objects.update(revision=2)
    assert 'name="revision" value="1"' in olga.get(answer["Location"]).content.decode()
    assert olga.post(page, {"moves": MOVES, "go": "1", "revision": "2"})["Location"] == f"{page}?at=1"
    emptied = olga.post(page, {"moves": "c1+", "at": "1", "action": "delete", "revision": "2"})
    assert olga.get(emptied["Location"]).context["shown"].moves == ""


def test_another_user_s_analysis_cannot_be_changed_but_copied(
    analysis: Analysis, site: Site, as_user: LogIn
) -> None:
    rival = as_user(site.rival)
    assert rival.post(SAVE, {"moves": "d1+", "over": analysis.key, "revision": "1"}).status_code == 400
    assert rival.post(f"{analysis.get_absolute_url()}delete/").status_code == 404
    assert rival.post(SAVE, {"moves": MOVES}).status_code == 302
    assert {one.owner for one in Analysis.objects.all()} == {site.owner, site.rival}


def test_a_save_with_text_left_in_the_field_keeps_the_tree(analysis: Analysis, olga: Client) -> None:
    for left in ("zz9", "d1+"):
        answer = olga.post(SAVE, {"moves": "c1+", "at": "1", "play": left, "comment": "why"})
        assert answer.status_code == 302
    assert {one.text.rpartition("\n\n")[2] for one in Analysis.objects.exclude(pk=analysis.pk)} == {
        "1. c1+ {why} *\n"
    }


def test_an_analysis_deleted_elsewhere_is_saved_as_a_new_one(analysis: Analysis, olga: Client) -> None:
    page, form = analysis.get_absolute_url(), {"moves": "c1+", "over": analysis.key, "revision": "1"}
    analysis.delete()
    assert olga.get(page).status_code == 404
    answer = olga.post(page, {"moves": "c1+", "play": "c2-"}, headers={"X-Part": "true"})
    assert 'name="moves" value="c1+ c2-"' in answer.content.decode()
    answer = olga.post(SAVE, form)
    assert answer.status_code == 400
    assert "was deleted elsewhere" in answer.content.decode()
    assert 'name="moves" value="c1+"' in answer.content.decode()


def test_the_owner_deletes_an_analysis(analysis: Analysis, olga: Client) -> None:
    assert analysis.get_absolute_url() in olga.get("/account/").content.decode()
    answer = olga.post(f"{analysis.get_absolute_url()}delete/", {"revision": "1"})
    assert answer["Location"] == "/account/"
    assert not Analysis.objects.exists()


def test_what_another_page_saved_is_not_deleted(analysis: Analysis, olga: Client) -> None:
    olga.post(SAVE, {"moves": "c1+", "over": analysis.key, "revision": "1"})
    for form in ({"revision": "1"}, {}, {"revision": "x", "moves": "<b>"}):
        answer = olga.post(f"{analysis.get_absolute_url()}delete/", {"moves": "d1+", **form})
        assert answer.status_code == 400
        assert "Not deleted: this analysis was changed elsewhere" in answer.content.decode()
    assert Analysis.objects.get().text.endswith("1. c1+ *\n")
    answer = olga.post(f"{analysis.get_absolute_url()}delete/", {"moves": "d1+"})
    assert 'name="moves" value="d1+"' in answer.content.decode()


def test_the_number_and_the_size_of_analyses_are_limited(
    analysis: Analysis, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "MAX_TEXT", 100)
    answer = olga.post(SAVE, {"moves": MOVES})
    assert "100 can be saved" in answer.content.decode()
    monkeypatch.undo()
    monkeypatch.setattr(views, "MAX_ANALYSES", 1)
    answer = olga.post(SAVE, {"moves": MOVES})
    assert "You have 1 analyses, which is the most: delete one first." in answer.content.decode()
    assert Analysis.objects.count() == 1


def test_an_illegal_tree_is_not_saved(olga: Client) -> None:
    answer = olga.post(SAVE, {"moves": "c1+ (zz)"})
    assert answer.status_code == 400
    assert "zz in a variation: illegal move" in answer.content.decode()
    assert not Analysis.objects.exists()


def test_without_a_title_the_ladder_names_an_analysis(olga: Client) -> None:
    olga.post(SAVE, {"moves": MOVES})
    assert str(Analysis.objects.get()) == "Analysis of Dogon kulei"
