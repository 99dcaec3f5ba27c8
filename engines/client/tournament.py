"""``python -m engines tournament create``: creates a tournament from a file."""

from __future__ import annotations

import json
import tomllib
from argparse import Namespace
from pathlib import Path

from engines.client.exit_codes import CANNOT, NO
from engines.client.output import print_json, print_words
from engines.client.site_client import (
    NO_SITE,
    CannotAsk,
    Json,
    Refusal,
    SiteClient,
    find_token,
    note,
    site_of,
)

ADDRESS = "/api/v1/tournaments/"
REFUSALS = frozenset({400, 409, 422})


def run(parsed: Namespace) -> int:
    """Create the tournament as a draft, or with ``--start`` start it; returns the exit code."""
    value = read_tournament(parsed.file)
    site = SiteClient(site_of(parsed.site), find_token())
    try:
        event = _checked(site.create(ADDRESS, {**value, "dry_run": True} if parsed.dry_run else value))
    except Refusal as refusal:
        return _refused(refusal, {}, parsed)
    if parsed.start and not parsed.dry_run:
        try:
            event = _checked(site.create(f"{ADDRESS}{event['slug']}/start/", {}))
        except CannotAsk as error:
            return _refused(error, event, parsed)
    if parsed.json:
        print_json(event)
    elif parsed.dry_run:
        print_words(f"The site would create {event['name']}; nothing is stored.")
    else:
        print_words(_sentence(event))
    return 0


def _refused(error: CannotAsk, made: Json, parsed: Namespace) -> int:
    """Tell why a request failed, and the draft that was made before; returns the exit code."""
    code = NO if isinstance(error, Refusal) and error.status in REFUSALS else CANNOT
    if code == CANNOT and not made:
        raise error
    if parsed.json:
        print_json({**made, ("refused" if code == NO else "error"): str(error), "code": code})
        return code
    if made:
        print_words(_sentence(made))
    if code == NO:
        print_words(f"refused: {error}")
    else:
        note(str(error))
    return code


def _sentence(event: Json) -> str:
    return f"{event['name']} is {event['state']}: {event['page']}"


def _checked(event: Json) -> Json:
    if {"slug", "name", "state", "page"} <= event.keys():
        return event
    raise CannotAsk(NO_SITE)


def read_tournament(path: Path) -> Json:
    """The table of a TOML or JSON file; raises ``CannotAsk``."""
    try:
        data = path.read_bytes().decode("utf-8")
        value = json.loads(data) if path.suffix == ".json" else tomllib.loads(data)
    except OSError as error:
        raise CannotAsk(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CannotAsk(f"{str(path)!r} cannot be understood: {error}") from None
    if not isinstance(value, dict):
        raise CannotAsk(f"{str(path)!r} has no table of names and values")
    return value
