"""The state file beside a record file: it has the match's terms, so that ``-resume`` refuses other terms.

It may be deleted; then only the games of the record file are compared with the terms.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from engines.files import atomic_file
from workers.match.options.options import MatchTerms
from workers.match.options.words import MatchOptionError

FORMAT = 3


def write_state(path: Path, terms: MatchTerms) -> None:
    """Write the state file atomically; raises ``MatchOptionError``."""
    try:
        with atomic_file(path) as file:
            file.write(json.dumps({"format": FORMAT, "terms": _values(terms)}, indent=1).encode() + b"\n")
    except OSError as error:
        raise MatchOptionError(f"{path}: cannot be written: {error.strerror}") from None


def check_state(path: Path, terms: MatchTerms) -> None:
    """Raise ``MatchOptionError`` naming each term that differs from those of the match so far."""
    try:
        state = json.loads(path.read_text("utf-8"))
        before = dict(state["terms"]) if state["format"] == FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    now = _values(terms)
    changes = [
        f"{name} was {before.get(name)}, not {now.get(name)}"
        for name in dict.fromkeys((*before, *now))
        if before.get(name) != now.get(name)
    ]
    if changes:
        raise MatchOptionError(f"-resume: {path} is from a match with other terms: {'; '.join(changes)}")


def _values(terms: MatchTerms) -> dict[str, str]:
    """Each term as text, except the number of rounds, because more rounds only add games at the end.

    A ``repr`` has all digits of a number, and escapes lone surrogates.
    """
    values = {field.name: repr(getattr(terms, field.name)) for field in fields(terms)}
    del values["rounds"], values["engines"]
    return values | {f"engine {number}": repr(spec) for number, spec in enumerate(terms.engines, 1)}
