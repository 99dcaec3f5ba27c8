"""The site of Django's administration: what it shows is registered in ``admin.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import secure_admin_login
from django.contrib.admin.sites import AdminSite
from django.core.exceptions import BadRequest, FieldDoesNotExist
from django.db import DataError
from django.http import HttpRequest, HttpResponse


class Administration(AdminSite):
    site_header = site_title = "Duarena"

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The site's log-in: Django's own has neither limits nor a second factor."""
        answer: HttpResponse = secure_admin_login(super().login)(request, extra_context)
        return answer

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """As Django's, but what it raises for numbers and fields that no row has is a bad request."""

        @wraps(view)
        def answer(*args: Any, **kwargs: Any) -> Any:
            try:
                return view(*args, **kwargs)
            except (FieldDoesNotExist, OverflowError, ValueError, DataError) as error:
                raise BadRequest(str(error)) from error

        return super().admin_view(answer, cacheable)
