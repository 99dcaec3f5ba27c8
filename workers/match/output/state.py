"""The small file beside a record file: the terms of its match, so that it goes on under no others.

It can be thrown away: then the terms are believed, and the games alone are held against them.
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

FORMAT = 1
MAY_CHANGE = ("rounds", "restart")
"""Terms that make no other games of those played: more rounds make a longer schedule, or a shorter one."""


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
    """Raise ``MatchOptionError`` naming each of the terms that is another than that of the match so far."""
    before, now = _read_terms(state_path(records)), dict(_leaves("", terms))
    if not before:
        return
    told = [
        f"{name} was {json.dumps(before.get(name))}, not {json.dumps(now.get(name))}"
        for name in dict.fromkeys((*before, *now))
        if before.get(name) != now.get(name) and name.rpartition(".")[2] not in MAY_CHANGE
    ]
    if told:
        raise MatchOptionError(f"-resume: {records} is of a match under other terms: {'; '.join(told)}")


def _read_terms(path: Path) -> dict[str, Any]:
    """Those of the match so far; empty when nobody knows."""
    try:
        state = json.loads(path.read_text("utf-8"))
        return dict(state["terms"]) if state["format"] == FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _leaves(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """Every value within by its dotted name, list items numbered from 1."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.compare:
                yield from _leaves(f"{name}.{field.name}".lstrip("."), getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value, 1):
            yield from _leaves(f"{name}.{number}", item)
    else:
        yield name, str(value) if isinstance(value, enum.Enum | Path) else value
