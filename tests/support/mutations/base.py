"""Makes a literal game with one piece of its source replaced."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.literal import LITERAL
from tests.literal.base import LiteralGame


@dataclass(frozen=True, slots=True)
class Mutation:
    """A wrong rule: what a program with it believes, and the text that is replaced.

    ``also`` lists further replacements that the first one needs. ``depth`` is the least depth at which
    any perft shows it: more than 3 where a move must first use what an earlier one left.
    """

    belief: str
    old: str
    new: str
    also: tuple[tuple[str, str], ...] = ()
    depth: int = 3


def break_rule(code: str, mutation: Mutation) -> type[LiteralGame]:
    """The literal game of a ladder with one rule broken."""
    literal = LITERAL[code]
    path = Path(str(sys.modules[literal.__module__].__file__))
    source = path.read_text(encoding="utf-8")
    for old, new in ((mutation.old, mutation.new), *mutation.also):
        assert source.count(old) == 1, f"{path.name}: {source.count(old)} times {old!r}"
        source = source.replace(old, new)
    module = ModuleType(f"{literal.__module__}_broken")
    exec(compile(source, str(path), "exec"), module.__dict__)
    broken: type[LiteralGame] = getattr(module, literal.__name__)
    return broken
