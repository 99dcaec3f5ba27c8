"""Values of JSON as the forms of pages take them, and the versions that they name."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import msgspec
from django import forms
from django.http import QueryDict

from engines.visible import visible
from tournament import access
from tournament.access import Visitor
from tournament.api.envelope import ApiError
from tournament.models import BotVersion
from tournament.views.paging import LAST_ID, is_whole


def given(body: msgspec.Struct) -> dict[str, Any]:
    """The fields that a body has; a moment without a zone is in UTC."""
    values = {name: getattr(body, name) for name in body.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET}


def form_data(page: forms.Form, values: Mapping[str, Any]) -> QueryDict:
    """What the page would send: these values, and the initial ones of ``page`` for all others."""
    data = QueryDict(mutable=True)
    for name, field in page.fields.items():
        value = values.get(name, page.get_initial_for_field(field, name))
        many = value if isinstance(value, list) else [value]
        data.setlist(name, [_text(name, one) for one in many if one is not None and one is not False])
    return data


def _text(name: str, value: Any) -> str:
    if not isinstance(value, datetime.datetime):
        return str(value)
    try:
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
        return aware.astimezone(datetime.UTC).isoformat()
    except OverflowError:
        raise ApiError(400, f"{name}: no calendar has this time.") from None


def check_form(form: forms.Form) -> None:
    """Raises ``ApiError`` with the first error, after the name of its field."""
    for field, errors in form.errors.items():
        raise ApiError(400, str(errors[0]) if field == "__all__" else f"{field}: {errors[0]}")


def find_version(user: Visitor, field: str, name: str) -> BotVersion:
    """The version that ``slug/number`` names, or the newest active one of the bot ``slug``.

    Raises ``ApiError``, also for a version that the user may not see.
    """
    slug, _, number = name.partition("/")
    versions = BotVersion.objects.filter(bot__slug=slug).select_related("bot").order_by("-number")
    if not number:
        versions = versions.filter(pk__in=BotVersion.objects.entering())
    elif is_whole(number, LAST_ID):
        versions = versions.filter(number=int(number))
    else:
        versions = versions.none()
    found = access.visible_versions(user, versions).first()
    if found is None:
        what = "version" if number else "active version of a bot"
        raise ApiError(422, f"{field}: there is no {what} {visible(name, 80)!r}.")
    return found
