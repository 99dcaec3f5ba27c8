"""``python -m engines tournament create``: creates a tournament from a file."""

from __future__ import annotations

import json
import tomllib
from argparse import Namespace
from pathlib import Path

from engines.client.exit_codes import NO
from engines.client.output import print_json, print_words
from engines.client.site_client import CannotAsk, Json, Refusal, SiteClient, find_token, site_of

REFUSALS = frozenset({400, 409, 422})


def run(parsed: Namespace) -> int:
    """Create the tournament as a draft, or with ``--start`` start it; returns the exit code."""
    value = read_tournament(parsed.file)
    if parsed.dry_run:
        print_json(value)
        return 0
    site = SiteClient(site_of(parsed.site), find_token())
    try:
        event = site.create("/api/v1/tournaments/", value)
        if parsed.start:
            event = site.create(f"/api/v1/tournaments/{event['slug']}/start/", {})
    except Refusal as refusal:
        if refusal.status not in REFUSALS:
            raise
        print_words(f"refused: {refusal}")
        return NO
    if parsed.json:
        print_json(event)
    else:
        print_words(f"{event.get('name')} is {event.get('state')}: {event.get('page')}")
    return 0


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
