"""The commands of ``python -m workers``; each is a module of ``workers.commands``."""

from __future__ import annotations

import argparse
import select
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from engines.console import complain

_SENTENCES = {
    "match": "play a match between engines on this machine",
    "arena": "play an engine against the published bots of a site, and show its place among them",
    "replay": "play a recorded game again, up to the first difference",
    "evidence": "play games of an archive of evidence again",
    "start": "play a site's games, or check its new bots, until stopped",
    "alive": "exit with 0 if the worker of this machine is well",
    "sandbox": "show the sandbox level of this machine, and what is missing",
    "check": "check that an engine follows the protocol",
    "elo": "compute the Elo difference from the counts of a match",
    "sprt": "compute the log-likelihood ratio of two hypotheses from those counts",
}
PORTABLE = {"elo", "sprt"}
_FOLDER = Path(__file__).parent / "commands"
COMMANDS = {name: does for name, does in _SENTENCES.items() if (_FOLDER / f"{name}.py").exists()}
"""The authors' kit leaves out those that only a site's worker needs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    if not (parsed.command in PORTABLE or hasattr(select, "epoll")):  # which only Linux has
        return complain(
            f"{parsed.command} needs Linux: on Windows, run it in WSL; on macOS, in a virtual machine"
        )
    command = import_module(f"workers.commands.{parsed.command}")
    return int(command.main(parsed.arguments))


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    parser = argparse.ArgumentParser(
        prog="python3 -m workers",
        description="Play games between engines, for a Duarena site or without one.",
        epilog="\n".join(("commands:", *(f"  {name:{width}}  {does}" for name, does in COMMANDS.items()))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="COMMAND --help explains it")
    parser.add_argument(
        "arguments", metavar="...", nargs=argparse.REMAINDER, help="the options of the command"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
