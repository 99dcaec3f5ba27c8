"""Makes a literal game with one piece of its source replaced."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.literal import LITERAL
from tests.literal.base import LiteralGame


@dataclass(frozen=True, slots=True)
class Mutation:
    """A wrong rule: what a program with it believes, and the texts that are replaced.

    ``depth`` is the least depth at which any perft shows it: more than 3 where a move must first use what
    an earlier one left.
    """

    belief: str
    replaced: Mapping[str, str]
    depth: int = 3


def breaking(
    rules: Mapping[str, Mapping[str, str | tuple[str, int | Mapping[str, str]]]],
) -> tuple[Mutation, ...]:
    """Mutations by the text that is replaced and by belief.

    Each has the text that replaces it, with the depth or with further replacements that it needs.
    """
    made = []
    for old, beliefs in rules.items():
        for belief, value in beliefs.items():
            new, more = (value, 3) if isinstance(value, str) else value
            also, depth = ({}, more) if isinstance(more, int) else (more, 3)
            made.append(Mutation(belief, {old: new, **also}, depth))
    return tuple(made)


def break_rule(code: str, mutation: Mutation) -> type[LiteralGame]:
    """The literal game of a ladder with one rule broken."""
    literal = LITERAL[code]
    path = Path(str(sys.modules[literal.__module__].__file__))
    source = path.read_text(encoding="utf-8")
    for old, new in mutation.replaced.items():
        assert source.count(old) == 1, f"{path.name}: {source.count(old)} times {old!r}"
        source = source.replace(old, new)
    module = ModuleType(f"{literal.__module__}_broken")
    exec(compile(source, str(path), "exec"), module.__dict__)
    broken: type[LiteralGame] = getattr(module, literal.__name__)
    return broken
