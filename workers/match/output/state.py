"""The state file beside a record file: it has the match's terms, so that ``-resume`` refuses other terms.

It may be deleted; then only the games of the record file are compared with the terms.
"""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engines.files import atomic_file
from workers.match.options.options import MatchTerms
from workers.match.options.words import MatchOptionError

FORMAT = 2
MAY_CHANGE = ("rounds", "restart", "startup_seconds")
"""Terms that do not change the games already played; more rounds only add games at the end."""


def state_path(records: Path) -> Path:
    return records.with_name(f"{records.name}.state")


def write_state(records: Path, terms: MatchTerms) -> None:
    """Write the state file atomically; raises ``MatchOptionError``."""
    path = state_path(records)
    text = json.dumps({"format": FORMAT, "terms": dict(_leaves("", terms))}, indent=1, ensure_ascii=False)
    try:
        with atomic_file(path) as file:
            # Names may hold lone surrogates: these are written as JSON escapes.
            file.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise MatchOptionError(f"{path}: cannot be written: {error.strerror}") from None


def check_state(records: Path, terms: MatchTerms) -> None:
    """Raise ``MatchOptionError`` naming each term that differs from those of the match so far."""
    before, now = _read_terms(state_path(records)), dict(_leaves("", terms))
    if not before:
        return
    changes = [
        f"{name} was {json.dumps(before.get(name))}, not {json.dumps(now.get(name))}"
        for name in dict.fromkeys((*before, *now))
        if before.get(name) != now.get(name) and name.rpartition(".")[2] not in MAY_CHANGE
    ]
    if changes:
        raise MatchOptionError(f"-resume: {records} is from a match with other terms: {'; '.join(changes)}")


def _read_terms(path: Path) -> dict[str, Any]:
    """The terms of the match so far; empty if there is no readable state file."""
    try:
        state = json.loads(path.read_text("utf-8"))
        return dict(state["terms"]) if state["format"] == FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _leaves(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """Every simple value in ``value``, by its dotted name; list items are numbered from 1."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.compare:
                yield from _leaves(f"{name}.{field.name}".lstrip("."), getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value, 1):
            yield from _leaves(f"{name}.{number}", item)
    else:
        yield name, str(value) if isinstance(value, enum.Enum | Path) else value
