"""Django's administration, for what has no page of its own: accounts, owners of bots, ladders, start times.

Every change is written to the log of acts of staff.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db import models as db
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from tournament import models
from tournament.services.accounts.acts import record_act
from tournament.services.accounts.sessions import end_all_access, forget_second_factor
from tournament.services.deactivation import stop_work_of
from tournament.services.schedule import changing, tournaments

admin.site.unregister(Group)  # registered by Django's module for users; it has no use here


class RecordedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Writes every change to the log of acts of staff, as well as to Django's own."""

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """As Django's, which raises for the name of a relation."""
        columns = {field.name for field in self.opts.get_fields() if field.concrete}
        return to_field in columns and super().to_field_allowed(request, to_field)

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
class PeopleAdmin(RecordedAdmin, UserAdmin):  # type: ignore[type-arg]
    """Accounts; promotions are logged by name."""

    fieldsets = (
        (None, {"fields": ("username", "password", "email", "is_active", "is_staff", "is_superuser")}),
    )
    list_filter = ("is_staff", "is_active")
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


class FixedRowsAdmin(RecordedAdmin):
    """Rows that the site makes itself."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Saves only the fields changed here: the site may have changed others in the meantime."""
        if form.changed_data:
            obj.save(update_fields=form.changed_data)


@admin.register(models.Bot)
class BotAdmin(FixedRowsAdmin):
    list_display = ("name", "owner", "created_at")
    search_fields: ClassVar = ["name"]
    fields = ("owner", "description")
    raw_id_fields = ("owner",)


@admin.register(models.Tournament)
class TournamentAdmin(FixedRowsAdmin):
    """The times of a tournament before its start; all else is done on its page."""

    list_display = ("name", "state", "entry_until", "starts_at")
    search_fields: ClassVar = ["name"]
    fields = ("entry_until", "starts_at")

    def get_queryset(self, request: HttpRequest) -> db.QuerySet[models.Tournament]:
        states = models.Tournament.State
        return super().get_queryset(request).filter(state__in=(states.DRAFT, states.ANNOUNCED))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not form.changed_data:
            return
        try:
            changing.set_times(obj, form.cleaned_data["starts_at"], form.cleaned_data["entry_until"])
        except tournaments.TournamentError as refused:
            self.message_user(request, str(refused), messages.ERROR)


@admin.register(models.Matchmaking)
class MatchmakingAdmin(FixedRowsAdmin):
    """Rate and terms of each ladder's matchmaker; pausing it is done on its tournament's page."""

    list_display = ("ladder", "games_an_hour", "time_control", "opening_plies", "pairs_made", "next_at")
    fields = ("games_an_hour", "time_control", "opening_plies")


@admin.register(models.SigningKey)
class SigningKeyAdmin(FixedRowsAdmin):
    """The public keys of the site's signatures: the end of a stolen one can be set to before the theft."""

    list_display = ("public", "since", "until")
    fields = ("until",)
