"""The packages as a graph of imports, for ``tests/test_structure.py``.

``.venv/bin/python -m tests.support.structure`` prints how large the repository is.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("engines", "workers", "tournament")
GIVEN_NAMES = frozenset({"Command", "Migration", "Meta"})
"""Classes whose names Django requires."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of ours: its dotted name, its file, and which modules of ours it imports."""

    name: str
    path: Path
    tree: ast.Module
    imports: frozenset[str]

    @property
    def classes(self) -> list[str]:
        """Public classes at its top level."""
        found = (node.name for node in self.tree.body if isinstance(node, ast.ClassDef))
        return [name for name in found if not name.startswith("_") and name not in GIVEN_NAMES]


def read_modules(root: Path = ROOT) -> dict[str, Module]:
    """All modules of the packages by name, without migrations and what is built."""
    paths = {_name(path, root): path for path in python_files(root, *PACKAGES)}
    return {name: _read(name, path, paths) for name, path in paths.items()}


def _name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _read(name: str, path: Path, known: Mapping[str, Path]) -> Module:
    tree = ast.parse(path.read_text())
    return Module(name, path, tree, frozenset(_imports(tree, known)) - {name})


def _imports(tree: ast.Module, known: Mapping[str, Path]) -> Iterator[str]:
    """Modules of ours that are imported anywhere in a module; not those for the type checker alone."""
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else str(node.module)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            yield from _nodes(child)


def shared_names(modules: Mapping[str, Module]) -> dict[str, list[str]]:
    """Names that several public classes have, with the modules that define them."""
    where = defaultdict(list)
    for module in modules.values():
        for name in module.classes:
            where[name].append(module.name)
    return {name: places for name, places in where.items() if len(places) > 1}


def cycles(modules: Mapping[str, Module]) -> list[list[str]]:
    """Groups of modules that all import each other, directly or not."""
    reached = {name: _reachable(name, modules) for name in modules}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in modules
        if name in reached[name]
    }
    return sorted(map(sorted, groups))


def _reachable(start: str, modules: Mapping[str, Module]) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        new = modules[todo.pop()].imports - found
        found |= new
        todo += new
    return found


@dataclass(frozen=True, slots=True)
class Size:
    """How large a part of the repository is; statements are those of ``ast``, docstrings counted."""

    modules: int
    lines: int
    statements: int


def size_of(paths: Iterable[Path]) -> Size:
    sources = [path.read_text("utf-8") for path in paths]
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    return Size(
        len(sources),
        sum(source.count("\n") for source in sources),
        sum(isinstance(node, ast.stmt) for node in nodes),
    )


def python_files(root: Path, *folders: str) -> list[Path]:
    """Python files of some folders, without migrations and what is built."""
    found = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    return [path for path in found if not {"migrations", "build"} & set(path.parts)]


def words_of_documents(root: Path = ROOT) -> int:
    pages = [page for pattern in ("*.md", "docs/*.md", "engines/**/*.md") for page in root.glob(pattern)]
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def main() -> None:
    modules = read_modules()
    parts = {"product": PACKAGES, "benchmarks": ("benchmarks",), "tests": ("tests",)}
    for name, folders in parts.items():
        size = size_of(python_files(ROOT, *folders))
        print(f"{name}: {size.statements:,} statements, {size.lines:,} lines, {size.modules} modules")
    print(f"documents: {words_of_documents():,} words")
    print(f"public class names that are shared: {len(shared_names(modules))}")
    print(f"import cycles: {len(cycles(modules))}, of {sum(map(len, cycles(modules)))} modules")


if __name__ == "__main__":
    main()
