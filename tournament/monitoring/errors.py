"""Error reports to Sentry, if ``DUARENA_SENTRY_DSN`` is set; they hold nothing private.

Of an error a report has only its type, the functions and lines of the code that it passed, the page or task,
the version, and the ids by which the log has the rest. Texts of errors may hold names, addresses, tokens or
what bots write, so none are sent, and no variables, requests, headers, users, host names or breadcrumbs.
"""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from engines.release import RELEASE
from workers.logs import current_ids

Event = dict[str, Any]
_KEPT = ("event_id", "timestamp", "level", "platform", "logger", "transaction", "release")
_OF_EXCEPTION = ("type", "module", "mechanism")
_OF_FRAME = ("module", "function", "filename", "lineno", "in_app")


def start_error_reports(transport: Any = None) -> None:
    """Report the errors of this process from now on; no effect without a DSN.

    Raises ``ImproperlyConfigured`` if the package is missing. ``transport`` replaces the sender, for tests.
    """
    if not settings.SENTRY_DSN:
        return
    try:
        import sentry_sdk
    except ImportError as error:
        raise ImproperlyConfigured(
            "DUARENA_SENTRY_DSN needs the package sentry-sdk: pip install -r requirements-sentry.txt"
        ) from error
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=f"duarena@{RELEASE}",
        before_send=cast("Any", only_public),
        transport=transport,
        include_local_variables=False,
        max_breadcrumbs=0,
        auto_session_tracking=False,
        send_client_reports=False,
    )


def only_public(event: Event, hint: Event | None = None) -> Event:
    """The parts of a report that are sent."""
    kept = {name: event[name] for name in _KEPT if name in event}
    if errors := event.get("exception", {}).get("values"):
        kept["exception"] = {"values": [_public_error(error) for error in errors]}
    if template := event.get("logentry", {}).get("message"):
        kept["logentry"] = {"message": template}  # with its %s, without its values
    kept["tags"] = dict(current_ids())
    return kept


def _public_error(error: Event) -> Event:
    kept = {name: error[name] for name in _OF_EXCEPTION if name in error}
    kept["mechanism"] = {name: kept.get("mechanism", {}).get(name) for name in ("type", "handled")}
    frames = error.get("stacktrace", {}).get("frames", [])
    kept["stacktrace"] = {
        "frames": [{name: frame[name] for name in _OF_FRAME if name in frame} for frame in frames]
    }
    return kept
