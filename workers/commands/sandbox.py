"""``python -m workers sandbox``: the sandbox level of this machine, and its interpreters for bots."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence
from pathlib import Path

from workers.engine.fair_clock import find_clock_method
from workers.engine.sandbox_probe import probe
from workers.sandbox.levels import Level, describe
from workers.sandbox.policy import write_verdict
from workers.sandbox.runtimes import offered_runtimes


def main(arguments: Sequence[str]) -> int:
    """Probe the sandbox; exit code 0 at level A, else 1."""
    options = _parser().parse_args(arguments)
    verdict, sandbox = probe(socket.gethostname())
    if options.keep is not None:
        write_verdict(options.keep, verdict)
    for line in describe(verdict):
        print(line)
    print(find_clock_method(sandbox, is_pinned=True).sentence)
    offered = ", ".join(f"{runtime.title} {runtime.version}".strip() for runtime in offered_runtimes())
    print(f"Engines can be native programs, or run on {offered}.")
    return 0 if verdict.level is Level.A else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers sandbox",
        description="Test which sandbox this machine has for engines: see docs/sandbox.md.",
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="store the result in this folder")
    return parser
