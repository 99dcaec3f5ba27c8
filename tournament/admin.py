"""Django's admin: everything to be seen; results, ratings and records not to be touched.

Large tables are shown without counting them, and rows are chosen by their numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.core.paginator import Paginator
from django.db import models as db
from django.http import HttpRequest
from django.utils.functional import cached_property

from tournament import models

# Generic for the type checker alone.
if TYPE_CHECKING:
    _Paginator = Paginator[Any]
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _Paginator, _ModelAdmin = Paginator, admin.ModelAdmin

admin.site.site_header = admin.site.site_title = "Duarena"
MOST_ROWS = 5_000
"""Rows that can be reached by turning pages; filters and search reach the others."""

admin.site.register(models.User, UserAdmin)


class ShortPaginator(_Paginator):
    """Counts no further than anybody would turn pages: a million rows take seconds to count."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return len(rows.values_list("pk")[:MOST_ROWS]) if isinstance(rows, db.QuerySet) else super().count


class PlainAdmin(_ModelAdmin):
    """Foreign keys by number: a menu of a million games helps nobody."""

    show_full_result_count = False
    paginator = ShortPaginator
    list_per_page = 50

    def __init__(self, model: type[db.Model], site: admin.AdminSite) -> None:
        self.raw_id_fields = [f.name for f in model._meta.fields if f.remote_field]  # type: ignore[misc]
        super().__init__(model, site)


class ReadOnlyAdmin(PlainAdmin):
    """What the record keeper writes; changed by hand it would no longer be what was played."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Bot)
class BotAdmin(PlainAdmin):
    list_display = ("name", "owner", "created_at")
    search_fields: ClassVar = ["name"]
    readonly_fields = ("name", "slug")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.BotVersion)
class BotVersionAdmin(PlainAdmin):
    """A version's state can be changed, its bytes and what is known of them cannot."""

    list_display = ("__str__", "state", "state_reason", "created_at")
    list_filter = ("state",)
    list_select_related = ("bot",)
    search_fields: ClassVar = ["bot__name"]
    readonly_fields = (
        "bot",
        "number",
        "label",
        "bundle",
        "command",
        "games",
        "options",
        "validation",
    )

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Tournament)
class TournamentAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "state", "games_done", "games_total", "created_at")
    list_filter = ("state", "kind")
    search_fields: ClassVar = ["name"]


@admin.register(models.Game)
class GameAdmin(ReadOnlyAdmin):
    list_display = ("key", "state", "result", "termination", "fault", "voids", "lost")
    list_filter = ("state",)
    search_fields: ClassVar = ["=key"]


@admin.register(models.Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "game", "worker", "sent_at", "started_at", "end", "evidence")
    list_filter = ("end",)
    list_select_related = ("game",)


@admin.register(models.LadderRating)
class LadderRatingAdmin(ReadOnlyAdmin):
    list_display = ("ladder", "version", "conservative", "mu", "sigma", "games")
    list_filter = ("ladder",)
    search_fields: ClassVar = ["version__bot__name"]
    list_select_related = ("version__bot", "ladder")


@admin.register(models.Ignored)
class IgnoredAdmin(ReadOnlyAdmin):
    list_display = ("reason", "count", "last_at")


admin.site.register(
    [
        models.Bundle,
        models.Entry,
        models.GameLog,
        models.GameRecord,
        models.Keeper,
        models.Ladder,
        models.LiveGame,
        models.PairScore,
        models.Pairing,
        models.RatingEvent,
    ],
    ReadOnlyAdmin,
)
