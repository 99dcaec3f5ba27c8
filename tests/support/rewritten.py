"""Keeps the bytecode of tests and of pytest's plugins as pytest rewrites it, before the tests run.

Else each process of a run rewrites all of it for itself if its user may not write beside the sources:
``python -m tests.support.rewritten``.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from _pytest.assertion import rewrite

TESTS: Final = Path(__file__).resolve().parents[1]
AT_ONCE: Final = 20
"""How many files a process takes at a time."""


def keep(path: Path) -> None:
    """Write the file's bytecode where pytest looks for it, unless it is there."""
    kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(kept.parent):
        source, code = rewrite._rewrite_test(path, None)  # type: ignore[arg-type]  # without options
        state: Any = SimpleNamespace(trace=lambda _: None)
        rewrite._write_pyc(state, code, source, kept)


def rewritten_files() -> Iterator[Path]:
    """What pytest rewrites: tests, the files beside them that it loads, and the packages of plugins."""
    ours = ("test_", "conftest.py", "ci_plugin.py")
    yield from (path for path in TESTS.rglob("*.py") if path.name.startswith(ours))
    for package in distributions():
        if any(entry.group == "pytest11" for entry in package.entry_points):
            for file in package.files or ():
                if file.suffix == ".py" and (path := Path(str(file.locate()))).exists():
                    yield path


def main() -> None:
    with ProcessPoolExecutor() as pool:
        list(pool.map(keep, sorted(rewritten_files()), chunksize=AT_ONCE))


if __name__ == "__main__":
    main()
