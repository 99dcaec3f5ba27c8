"""Django's admin: shows everything; results, ratings and records are read-only. Every change is logged.

Tournaments are changed by the same services that their pages use.
Large tables are shown without counting them, and related rows are entered by id.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.admin.sites import AdminSite
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import BadRequest, FieldDoesNotExist
from django.core.paginator import Paginator
from django.db import DataError, transaction
from django.db import models as db
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import cached_property

from tournament import access, models
from tournament.services.accounts.acts import record_act
from tournament.services.accounts.sessions import end_all_access, forget_second_factor
from tournament.services.bots.publishing import BY_STAFF
from tournament.services.deactivation import stop_work_of
from tournament.services.results.withdrawal import reinstate, withdraw
from tournament.services.schedule import tournaments
from tournament.services.work import workers

# Generic only for the type checker.
if TYPE_CHECKING:
    _Paginator = Paginator[Any]
    _ModelAdmin = admin.ModelAdmin[Any]
    _UserAdmin = UserAdmin[models.User]
else:
    _Paginator, _ModelAdmin, _UserAdmin = Paginator, admin.ModelAdmin, UserAdmin

admin.site.site_header = admin.site.site_title = "Duarena"
MOST_ROWS = 5_000
"""Rows that can be reached by paging; filters and search reach the others."""

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
"""The site's log-in: Django's own for the administration has neither limits nor a second factor."""


def _admin_view(view: Callable[..., HttpResponse], cacheable: bool = False) -> Callable[..., HttpResponse]:
    """As Django's, which raises for some numbers and fields that no row has: here they are bad requests."""

    @wraps(view)
    def answer(*args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(*args, **kwargs)
        except (FieldDoesNotExist, OverflowError, DataError) as error:
            raise BadRequest(str(error)) from error

    return AdminSite.admin_view(admin.site, answer, cacheable)


admin.site.admin_view = _admin_view  # type: ignore[method-assign, assignment]

for app in ("account", "mfa", "usersessions"):
    import_module(f"allauth.{app}.admin")  # registers what is taken out again
for model in (Authenticator, EmailAddress, Group, UserSession):
    admin.site.unregister(model)
"""Those of allauth hold keys and belong to their users; a user's page has actions for staff."""


class RecordedAdmin(_ModelAdmin):
    """Writes every change to the log of acts of staff, as well as to Django's own."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self.record(request, obj, "added it in the administration")
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        entry = super().log_change(request, obj, message)
        self.record(request, obj, f"administration: {entry.get_change_message()}")
        return entry

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self.record(request, obj, "deleted it in the administration", linked=False)
        return super().log_deletions(request, queryset)

    def record(self, request: HttpRequest, obj: db.Model, deed: str, *, linked: bool = True) -> None:
        """Write one act of the user of this request."""
        path = obj.get_absolute_url() if linked and hasattr(obj, "get_absolute_url") else ""
        assert isinstance(request.user, models.User)
        record_act(request.user, deed, f"{obj._meta.verbose_name} {obj}", path)


@admin.register(models.User)
class PeopleAdmin(RecordedAdmin, _UserAdmin):
    """Accounts; promotions are logged by name."""

    actions = ("remove_second_factor", "end_access")

    def save_model(self, request: HttpRequest, obj: models.User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for field, rights in (("is_staff", "staff"), ("is_superuser", "an administrator")):
            if field in form.changed_data:
                is_now = "made this account" if getattr(obj, field) else "no longer lets this account be"
                self.record(request, obj, f"{is_now} {rights}")
        if "is_active" in form.changed_data and not obj.is_active:
            # After the transaction: the services lock games and accounts in their own order.
            transaction.on_commit(partial(stop_work_of, obj, timezone.now()))

    @admin.action(description="Remove the second factor", permissions=["change"])
    def remove_second_factor(self, request: HttpRequest, chosen: db.QuerySet[models.User]) -> None:
        for user in chosen:
            if forget_second_factor(user):
                self.record(request, user, "removed the second factor")

    @admin.action(description="End all sessions and revoke all tokens", permissions=["change"])
    def end_access(self, request: HttpRequest, chosen: db.QuerySet[models.User]) -> None:
        for user in chosen:
            end_all_access(user)
            self.record(request, user, "ended all sessions and revoked all tokens")


@admin.register(Group)
class RightsAdmin(RecordedAdmin, GroupAdmin):
    """Groups of rights in the administration."""


class ShortPaginator(_Paginator):
    """Counts only as far as a reader would page: counting a million rows takes seconds."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return len(rows.values_list("pk")[:MOST_ROWS]) if isinstance(rows, db.QuerySet) else super().count


class PlainAdmin(RecordedAdmin):
    """Foreign keys as id fields: a menu of a million games would be unusable."""

    show_full_result_count = False
    paginator = ShortPaginator
    list_per_page = 50

    def __init__(self, model: type[db.Model], site: admin.AdminSite) -> None:
        self.raw_id_fields = [f.name for f in model._meta.fields if f.remote_field]  # type: ignore[misc]
        super().__init__(model, site)


class ReadOnlyAdmin(PlainAdmin):
    """Rows written by the record keeper; read-only, so that they always match the game played."""

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
    """A version's state can be changed; its bytes and the facts about them are read-only."""

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

    def save_model(self, request: HttpRequest, obj: models.BotVersion, form: Any, change: bool) -> None:
        """Withdraws and reinstates as the site does, so that games are stopped."""
        state = obj.State(obj.state)
        if "state" in form.changed_data and state == obj.State.WITHDRAWN:
            if withdraw(obj, obj.state_reason or "the site's staff withdrew it", BY_STAFF):
                return
        elif "state" in form.changed_data and state == obj.State.VALID and reinstate(obj):
            return
        super().save_model(request, obj, form, change)


@admin.register(models.Tournament)
class TournamentAdmin(PlainAdmin):
    """Created by the site's form; after the start only the services change it, here as on its page."""

    list_display = ("name", "kind", "state", "priority", "games_done", "games_total", "starts_at")
    list_filter = ("state", "kind")
    search_fields: ClassVar = ["name"]
    actions = ("start", "announce", "pause", "resume", "cancel", "extend")
    changes = ("priority", "entry_until", "starts_at")
    """Fields that can be changed here; the times only before the start."""

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        return redirect("tournament-new")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields that can be changed, then all others."""
        readonly = self.get_readonly_fields(request, obj)
        return [*(name for name in self.changes if name not in readonly), *readonly]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        waits = obj is not None and obj.state in {obj.State.DRAFT, obj.State.ANNOUNCED}
        changes = self.changes if waits else self.changes[:1]
        return [f.name for f in self.model._meta.fields if f.name not in (*changes, "id")]

    def save_model(self, request: HttpRequest, obj: models.Tournament, form: Any, change: bool) -> None:
        """Saves only the fields changed here: the counts in the row may have changed in the meantime."""
        asked = form.cleaned_data
        try:
            if {"entry_until", "starts_at"} & set(form.changed_data):
                tournaments.set_times(obj, asked["starts_at"], asked["entry_until"])
            if "priority" in form.changed_data:
                tournaments.set_priority(obj, asked["priority"])
        except tournaments.TournamentError as refused:
            self.message_user(request, str(refused), messages.ERROR)

    @admin.action(description="Start")
    def start(self, request: HttpRequest, chosen: db.QuerySet[models.Tournament]) -> None:
        self._each(request, chosen, tournaments.start, "started it")

    @admin.action(description="Announce")
    def announce(self, request: HttpRequest, chosen: db.QuerySet[models.Tournament]) -> None:
        self._each(request, chosen, tournaments.announce, "announced it")

    @admin.action(description="Pause")
    def pause(self, request: HttpRequest, chosen: db.QuerySet[models.Tournament]) -> None:
        self._each(request, chosen, tournaments.pause, "paused it")

    @admin.action(description="Resume")
    def resume(self, request: HttpRequest, chosen: db.QuerySet[models.Tournament]) -> None:
        self._each(request, chosen, tournaments.resume, "resumed it")

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, chosen: db.QuerySet[models.Tournament]) -> None:
        self._each(request, chosen, tournaments.cancel, "cancelled it")

    @admin.action(description="Extend by one cycle or round")
    def extend(self, request: HttpRequest, chosen: db.QuerySet[models.Tournament]) -> None:
        self._each(request, chosen, lambda tournament: tournaments.extend(tournament, 1), "extended it")

    def _each(
        self,
        request: HttpRequest,
        chosen: db.QuerySet[models.Tournament],
        action: Callable[[models.Tournament], None],
        deed: str,
    ) -> None:
        """Call a service for each chosen tournament, log it, and show a message for each one that raises."""
        for tournament in chosen:
            try:
                action(tournament)
            except tournaments.TournamentError as refused:
                self.message_user(request, f"{tournament}: {refused}", messages.ERROR)
            else:
                self.record(request, tournament, deed)


@admin.register(models.Matchmaking)
class MatchmakingAdmin(PlainAdmin):
    """Rate and terms of each ladder's matchmaker; pausing it is done on its tournament."""

    list_display = ("ladder", "games_an_hour", "time_control", "opening_plies", "pairs_made", "next_at")
    fields = (
        "ladder",
        "games_an_hour",
        "time_control",
        "opening_plies",
        "tournament",
        "pairs_made",
        "next_at",
    )
    readonly_fields = ("ladder", "tournament", "pairs_made", "next_at")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: models.Matchmaking, form: Any, change: bool) -> None:
        """Saves only the fields changed here: the matchmaker updates its counters in the meantime."""
        if form.changed_data:
            obj.save(update_fields=form.changed_data)


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


@admin.register(models.Exam)
class ExamAdmin(ReadOnlyAdmin):
    list_display = ("id", "version", "worker", "sent_at", "heard_at", "end", "why")
    list_filter = ("end",)
    list_select_related = ("version__bot",)


@admin.register(models.Worker)
class WorkerAdmin(ReadOnlyAdmin):
    """Everything that workers report about themselves; the site only decides whether a worker gets games."""

    list_display = ("name", "condition", "host", "takes", "busy", "slots", "level", "seen_at", "trouble")
    list_filter = ("state", "takes")
    search_fields: ClassVar = ["name", "host"]
    actions = ("quarantine", "release")

    @admin.action(description="Quarantine", permissions=["manage"])
    def quarantine(self, request: HttpRequest, chosen: db.QuerySet[models.Worker]) -> None:
        for worker in chosen.filter(quarantined_at__isnull=True):
            workers.quarantine(worker, f"{request.user.get_username()} quarantined it", timezone.now())
            self.record(request, worker, "quarantined it")

    @admin.action(description="Release from quarantine", permissions=["manage"])
    def release(self, request: HttpRequest, chosen: db.QuerySet[models.Worker]) -> None:
        for worker in chosen.filter(quarantined_at__isnull=False):
            workers.lift_quarantine(worker, timezone.now())
            self.record(request, worker, "released it from quarantine")

    def has_manage_permission(self, request: HttpRequest) -> bool:
        return access.may_manage_workers(request.user)


@admin.register(models.Token)
class TokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "created_at", "used_at", "revoked_at")
    list_select_related = ("user",)
    exclude = ("digest",)


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
        models.Act,
        models.ActiveVersion,
        models.Allowance,
        models.Bundle,
        models.Correction,
        models.CountedPair,
        models.Door,
        models.Entry,
        models.EventCount,
        models.FeedEntry,
        models.GameLog,
        models.GameRecord,
        models.InboxReport,
        models.Keeper,
        models.Ladder,
        models.LiveGame,
        models.Notice,
        models.LadderEstimate,
        models.OwnerShare,
        models.PairOutcome,
        models.PairScore,
        models.Pairing,
        models.PreemptedGame,
        models.RatingEvent,
        models.SlotUse,
        models.TournamentTables,
        models.Turn,
        models.VersionTest,
        models.WorkerName,
    ],
    ReadOnlyAdmin,
)
