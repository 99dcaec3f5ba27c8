"""Counts what there is to know between a waiting game and a stored result: modules, statements and nouns.

Nouns are the different words in the names of these modules, of their classes and of the members of their
enums. Another checkout may be named.

    .venv/bin/python -m benchmarks.middle [FOLDER]
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

MIDDLE = (
    "workers/jobs.py",
    "workers/messages.py",
    "workers/service/*.py",
    "tournament/api/work*.py",
    "tournament/services/work/*.py",
    *(
        f"tournament/services/results/{name}.py"
        for name in ("effects", "inbox", "keeper", "records", "storing")
    ),
    "tournament/services/fair_share.py",
    "tournament/services/keeper_lock.py",
    "tournament/services/locks.py",
    "tournament/services/stopping.py",
    "tournament/celery.py",
    "tournament/queues.py",
    "tournament/tasks.py",
)
PRODUCT = ("engines", "workers", "tournament")


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    middle = [path for pattern in MIDDLE for path in root.glob(pattern) if path.stem != "__init__"]
    modules = [path for package in PRODUCT for path in (root / package).rglob("*.py")]
    whole = [path for path in modules if "migrations" not in path.parts]
    nouns = {word.lower() for path in middle for word in words_of(path)}
    print(f"- {len(middle)} modules, {sum(map(statements_of, middle)):,} statements, {len(nouns)} nouns")
    print(f"- {sum(map(statements_of, whole)):,} statements of {', '.join(PRODUCT)}")


def statements_of(path: Path) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(path.read_text("utf-8"))))


def words_of(path: Path) -> Iterator[str]:
    """The words in the names of a module, of its public classes and of the members of its enums."""
    yield from path.stem.split("_")
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from re.findall("[A-Z][a-z]*", node.name)
            if any("Enum" in ast.unparse(base) or "Choices" in ast.unparse(base) for base in node.bases):
                yield from (word for target in targets_of(node) for word in target.split("_"))


def targets_of(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


if __name__ == "__main__":
    main()
