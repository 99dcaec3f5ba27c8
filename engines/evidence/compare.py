"""Compares the rows of a published table with those that were computed again, value by value."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cache
from itertools import zip_longest
from typing import Any, Final

from engines.evidence.archive import EvidenceArchive
from engines.evidence.report import EvidenceCheck
from engines.rules.base import quote

CLOSE: Final = 1e-9
"""The most that ratings of another C library differ, relative to their size."""
_LIBRARY: Final = "da796f938345e4b029b9df4b9af3d02cbaffbec7bfe9f0fead3d1fcf556b46ce"
"""A digest of functions of the C library on the machines whose ratings agree to the bit."""


def compare_rows(
    check: EvidenceCheck,
    archive: EvidenceArchive,
    name: str,
    computed: Iterable[object],
    *,
    unchecked: Container[str] = (),
    close: float = 0.0,
) -> int:
    """Name each value that differs, with its line; returns how many rows were published.

    Rows of ``unchecked`` ladders are left out. Numbers may differ by ``close``.
    """
    rows: Iterator[Any] = archive.rows(name, archive.tables[name])
    numbered = enumerate(rows, 1)
    published = ((number, row) for number, row in numbered if row.ladder not in unchecked)
    count = 0
    for one, expected in zip_longest(published, computed):
        if one is None:
            check.differs(f"{name} has no row of {_words(expected)}")
            continue
        number, found = one
        count += 1
        if expected is None:
            check.differs(f"{name}:{number}: there is nothing to compute for {_words(found)}")
        elif found != expected:
            _compare_values(check, f"{name}:{number}", found, expected, close)
    return count


def _compare_values(check: EvidenceCheck, place: str, found: Any, expected: Any, close: float) -> None:
    names = [field.name for field in fields(found)]
    pairs = [(name, getattr(found, name), getattr(expected, name)) for name in names]
    different = [(name, one, other) for name, one, other in pairs if not _is_close(one, other, close)]
    who = _words(expected)
    if (
        different
        and not is_usual_library()
        and all(_is_close(one, other, CLOSE) for _, one, other in different)
    ):
        names = [name for name, *_ in different]
        check.skip(f"{place}: {who}: the last digits of {', '.join(names)}: this C library rounds otherwise")
        return
    for name, one, other in different:
        check.differs(f"{place}: {who}: {name} is {_shown(one)}, computed {_shown(other)}")


def _is_close(one: object, other: object, close: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=close, abs_tol=close)
    return one == other


@cache
def is_usual_library() -> bool:
    """Whether exponentials and error functions of this machine have the same bits as those of the site's."""
    digest = hashlib.sha256()
    for step in range(-400, 400):
        x = step / 61
        digest.update(f"{math.exp(x).hex()} {math.erfc(x).hex()} ".encode())
    return digest.hexdigest() == _LIBRARY


def _words(row: Any) -> str:
    """Whose row it is."""
    names: Sequence[str] = [field.name for field in fields(row)]
    return " ".join(
        quote(str(getattr(row, name)))
        for name in ("ladder", "round", "version", "opponent")
        if name in names and getattr(row, name) is not None
    )


def _shown(value: object) -> str:
    return quote(value) if isinstance(value, str) else "none" if value is None else repr(value)
