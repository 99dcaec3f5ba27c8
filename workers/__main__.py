"""The commands of ``python -m workers``; each is a module of ``workers.commands``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "match": "play a match between engines on this machine",
    "replay": "play a recorded game again, up to the first move that differs",
    "start": "play a site's games, or examine its bots, until told to stop",
    "sandbox": "which walls this machine gives engines, and what is missing",
    "check": "what an engine does wrong, before anybody else finds out",
    "elo": "how much stronger one engine is, from the counts of a match",
    "sprt": "what those counts say for one hypothesis against another",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    command = import_module(f"workers.commands.{parsed.command}")
    return int(command.main(parsed.arguments))


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    parser = argparse.ArgumentParser(
        prog="python3 -m workers",
        description="Play games between engines, for a Duarena site or by yourself.",
        epilog="\n".join(("commands:", *(f"  {name:{width}}  {does}" for name, does in COMMANDS.items()))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="with --help: about it")
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="the command's own words")
    return parser


if __name__ == "__main__":
    sys.exit(main())
