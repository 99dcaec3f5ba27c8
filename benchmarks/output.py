"""What all benchmarks share: the parser of their arguments, and rows of Markdown tables."""

from __future__ import annotations

import argparse


def parser_of(name: str, text: str | None) -> argparse.ArgumentParser:
    """The parser of ``python -m benchmarks.NAME``, with the module's docstring as its help."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=text)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def head(*columns: str, texts: int = 1) -> str:
    """The two lines that begin a table; the columns after the first ``texts`` hold numbers."""
    return row(*columns) + "\n" + row(*("---" if n < texts else "---:" for n in range(len(columns))))


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
