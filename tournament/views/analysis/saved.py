"""Saving and deleting analyses: each belongs to the user who saved it."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.db.models import F
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from engines.records import MoveTree, clean_text
from tournament.models import Analysis, User
from tournament.models.analyses import MAX_TITLE
from tournament.services.locks import lock_row
from tournament.views.analysis.board import find_ladder, show_page
from tournament.views.analysis.trees import (
    MAX_TEXT,
    BadLine,
    ShownTree,
    read_tree,
    set_comment,
    show_tree,
)
from tournament.views.logged_in import takes_form
from tournament.views.paging import LAST_ID, is_whole
from tournament.views.requests import AuthenticatedRequest

MAX_ANALYSES = 100
"""The most analyses of one account."""


@takes_form
def analysis_save(request: AuthenticatedRequest, code: str) -> HttpResponse:
    """Save the tree of the form, over the user's analysis ``over`` or as a new one."""
    game, key = find_ladder(code), clean_text(request.POST.get("over", ""))
    saved = request.user.analyses.filter(ladder=code, key=key).first() if key else None
    shown = show_tree(game, "", MoveTree())
    try:
        shown = set_comment(read_tree(request.POST, game), request.POST)
        if key and saved is None:
            raise BadLine("Not saved: this analysis was deleted elsewhere. Save yours as a new one.")
        stored = _store(request.user, shown, request.POST, saved)
    except BadLine as error:
        return show_page(request, shown, saved, trouble=str(error), status=400)
    messages.success(request, "Saved. Anybody who has the address of this page can see the analysis.")
    return redirect(f"{stored.get_absolute_url()}?at={shown.at}")


def _store(user: User, shown: ShownTree, values: QueryDict, saved: Analysis | None) -> Analysis:
    """Raises ``BadLine`` beyond a limit, and if the analysis was changed since the page was shown."""
    title = clean_text(values.get("title", ""))
    if len(title) > MAX_TITLE:
        raise BadLine(f"The title has {len(title)} characters; {MAX_TITLE} are allowed.")
    text = shown.record(title)
    if len(text) > MAX_TEXT:
        raise BadLine(f"The analysis has {len(text):,} characters; {MAX_TEXT:,} can be saved.")
    if saved is None:
        with transaction.atomic():
            lock_row(User.objects.all(), user.pk)
            if user.analyses.count() >= MAX_ANALYSES:
                raise BadLine(f"You have {MAX_ANALYSES} analyses, which is the most: delete one first.")
            return user.analyses.create(ladder_id=shown.game.code, title=title, text=text)
    same = user.analyses.filter(pk=saved.pk, revision=_revision(values))
    changed = same.update(title=title, text=text, revision=F("revision") + 1, updated_at=timezone.now())
    if not changed:
        raise BadLine(
            "Not saved: this analysis was changed elsewhere since you opened it."
            " Save yours as a new one, or open the other one."
        )
    return saved


def _revision(values: QueryDict) -> int:
    """The revision that a form shows; 0, which no analysis has, if it shows none."""
    revision = values.get("revision", "")
    return int(revision) if is_whole(revision, LAST_ID) else 0


@takes_form
def analysis_delete(request: AuthenticatedRequest, code: str, key: str) -> HttpResponse:
    """Delete an analysis of the user, unless it was changed since the page was shown."""
    game = find_ladder(code)
    saved = get_object_or_404(request.user.analyses, ladder=code, key=key)
    if not request.user.analyses.filter(pk=saved.pk, revision=_revision(request.POST)).delete()[0]:
        try:
            shown = read_tree(request.POST, game, saved.text)
        except BadLine:
            shown = show_tree(game, "", MoveTree())
        trouble = "Not deleted: this analysis was changed elsewhere since you opened it. Open the other one."
        return show_page(request, shown, saved, trouble=trouble, status=400)
    messages.success(request, "The analysis is deleted.")
    return redirect("account")
