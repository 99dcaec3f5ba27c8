"""The options of the commands that ask a site; each command is a module of this package with ``run``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from engines.client.exit_codes import UNDECIDED, TimeIsUp
from engines.console import complain

MAX_PATIENCE_SECONDS = 7 * 24 * 3600
AddCommand = Callable[..., ArgumentParser]


def add_commands(add: AddCommand, site: ArgumentParser) -> None:
    """Add the commands; ``site`` has the option that they share."""
    _add_submit(add, site)


def _add_submit(add: AddCommand, site: ArgumentParser) -> None:
    words = "upload a bot's zip to a site and follow its validation"
    submit = add("submit", partial(_run, "submit"), words, on=[site])
    submit.add_argument("bundle", metavar="BOT.zip", type=Path, help="the zip, with bot.toml at its top")
    submit.add_argument("--notes", default="", help="what is new in this version")
    _add_timeout(submit, "follow it")


def _add_timeout(command: ArgumentParser, what: str, seconds: float = 1800.0) -> None:
    help_text = f"how long to {what} (default {seconds:.0f} s)"
    command.add_argument("--timeout", metavar="S", type=_patience, default=seconds, help=help_text)


def _patience(text: str) -> float:
    seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else 0.0
    if not 0 < seconds <= MAX_PATIENCE_SECONDS:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds up to {MAX_PATIENCE_SECONDS}")
    return seconds


def _run(name: str, parsed: Namespace) -> int:
    """Run a command, which is imported only now, so that the other commands start faster."""
    from engines.client.site_client import CannotAsk

    try:
        return int(import_module(f"engines.client.{name}").run(parsed))
    except TimeIsUp as error:
        complain(str(error))
        return UNDECIDED
    except CannotAsk as error:
        return complain(str(error))
