"""The options of the commands that ask a site; each command is a function of a module of this package."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from engines.client.exit_codes import MEANINGS
from engines.client.filters import add_filters
from engines.console import INTERRUPTED, complain

MAX_PATIENCE_SECONDS = 7 * 24 * 3600
QUESTIONS = {"not-weaker": "no-loss", "stronger": "gain", "a-little-stronger": "small-gain"}
"""The questions of version tests, and their names on the site."""
Commands = Any
"""What ``add_subparsers`` of argparse returns."""
AddCommand = Callable[[str, str, str], ArgumentParser]
"""Adds a command by its name, its function and what it does."""


def add_commands(commands: Commands, site: ArgumentParser) -> None:
    """Add the commands; ``site`` has the option that they share."""
    site = ArgumentParser(add_help=False, parents=[site])
    site.add_argument("--json", action="store_true", help="print JSON, one object a line")
    add = partial(_add, commands, site)
    _add_versions(add)
    _add_games(add)
    below = partial(_add, _group(commands, "download", "download records of games, and logs"), site)
    _add_downloads(below)
    below = partial(_add, _group(commands, "tournament", "create a tournament from a file"), site)
    create = below("create", "tournament.run", "create a tournament as a draft from a TOML or JSON file")
    create.add_argument("file", metavar="FILE", type=Path, help="its names and values as in the API")
    create.add_argument("--dry-run", action="store_true", help="only have the site check it")
    create.add_argument("--start", action="store_true", help="start it at once")


def _group(commands: Commands, name: str, words: str) -> Commands:
    return commands.add_parser(name, help=words).add_subparsers(required=True, metavar="COMMAND")


def _add(commands: Commands, site: ArgumentParser, name: str, function: str, words: str) -> ArgumentParser:
    one: ArgumentParser = commands.add_parser(name, help=words, epilog=MEANINGS, parents=[site])
    one.set_defaults(command=partial(_run, function))
    return one


def _add_versions(add: AddCommand) -> None:
    submit = add("submit", "submit.run", "upload a bot's zip to a site and follow its validation")
    submit.add_argument("bundle", metavar="BOT.zip", type=Path, help="the zip, with bot.toml at its top")
    submit.add_argument("--notes", default="", help="what is new in this version")
    submit.add_argument("--dry-run", action="store_true", help="only have the site check the zip")
    submit.add_argument("--test", choices=QUESTIONS, help="then test it against an earlier version")
    _add_terms(submit)
    _add_report(submit, "wait for its end")
    status = add("status", "status.run", "print a bot's ratings and versions, or a version's validation")
    status.add_argument("bot", metavar="NAME[@VERSION]", help="the bot, or one version of an own one")
    wait = add("wait", "wait.run", "wait for the end of a validation or of a version test")
    either = wait.add_mutually_exclusive_group(required=True)
    either.add_argument("bot", metavar="NAME[@VERSION]", nargs="?", help="one of your versions")
    either.add_argument("--test", metavar="TEST", help="a version test, by the name in its address")
    _add_report(wait, "wait for its end")
    test = add("test", "test.run", "test a version against another one, and wait for the answer")
    test.add_argument("bot", metavar="NAME[@VERSION]", help="the version with the change")
    words = "what is asked (default not-weaker)"
    test.add_argument("--question", dest="test", choices=QUESTIONS, default="not-weaker", help=words)
    _add_terms(test)
    _add_report(test, "wait for the answer")


def _add_terms(command: ArgumentParser) -> None:
    command.add_argument(
        "--against",
        metavar="active|last|N",
        type=_opponent,
        default="active",
        help="the version that plays on the ladder (default), the last valid one, or a number",
    )
    command.add_argument(
        "--ladder", metavar="CODE", action="append", help="test there; may be repeated (default: its first)"
    )
    command.add_argument("--games", metavar="N", type=int, help="the most games of a test")
    command.add_argument("--tc", help="the time control (default: the ladder's)")


def _add_report(command: ArgumentParser, what: str) -> None:
    command.add_argument(
        "--timeout",
        metavar="S",
        type=_patience,
        default=1800.0,
        help=f"how long to {what} (default 1800 s)",
    )
    command.add_argument(
        "--format",
        choices=("text", "github"),
        default="text",
        help="github: for a step of GitHub Actions",
    )
    command.add_argument("--summary", metavar="FILE", default="", help="add a summary in Markdown to it")


def _add_games(add: AddCommand) -> None:
    words = "list the ladders, one a line; with --site or a filter the games of a site"
    games = add("games", "games.run", words)
    games.add_argument("--most", metavar="N", type=int, default=20, help="games (default 20)")
    games.add_argument("--all", action="store_true", help="all games that match")
    add_filters(games)
    words = "show a game as it is played, as a board in the terminal"
    watch = add("watch", "watch.run", words)
    watch.add_argument("game", metavar="GAME|tv", type=_game, help="a game's number, or what /tv/ shows")


def _add_downloads(add: AddCommand) -> None:
    record = add("record", "download.run_record", "the record of a game")
    records = add("records", "download.run_records", "the records of all games that match filters")
    record.add_argument("game", metavar="GAME", type=int, help="the game's number in its address")
    log = add("log", "download.run_log", "what an engine of yours said in a game, and what was sent to it")
    log.add_argument("game", metavar="GAME", type=int, help="the game's number in its address")
    log.add_argument("side", choices=("white", "black"), help="which your bot played")
    for one in (record, records, log):
        one.add_argument("-o", "--output", metavar="FILE", type=Path, help="(default: standard output)")
    add_filters(records)


def _opponent(text: str) -> str:
    if text in {"active", "last"} or (text.isascii() and text.isdigit() and len(text) <= 9):
        return text
    raise ArgumentTypeError(f"{text!r} is not active, last or the number of a version")


def _game(text: str) -> str:
    if text == "tv" or (text.isascii() and text.isdigit() and len(text) <= 18):
        return text
    raise ArgumentTypeError(f"{text!r} is not the number of a game, or tv")


def _patience(text: str) -> float:
    seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else 0.0
    if not 0 < seconds <= MAX_PATIENCE_SECONDS:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds up to {MAX_PATIENCE_SECONDS}")
    return seconds


def _run(function: str, parsed: Namespace) -> int:
    """Run a command, whose module is imported only now: the other commands start faster."""
    from engines.client.site_client import CannotAsk

    module, _, name = function.partition(".")
    try:
        return int(getattr(import_module(f"engines.client.{module}"), name)(parsed))
    except CannotAsk as error:
        return complain(str(error))
    except KeyboardInterrupt:
        complain(f"{_new_line()}Interrupted; the site goes on with what it has begun.")
        return INTERRUPTED


def _new_line() -> str:
    """Ends a progress bar's line on a terminal."""
    return "\n" if sys.stderr is not None and sys.stderr.isatty() else ""
