"""``python -m workers check``: the compliance check of an engine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engines.bundles.manifest import MANIFEST_NAME, BundleError, Manifest, explain_misnamed
from engines.bundles.sites import SiteError, ask_engine, fetch_site_bundle, split_site_bot
from engines.bundles.store import fetch_bundle, read_manifest
from engines.console import complain, run_command
from engines.rules.base import UnknownGame
from engines.rules.registry import find_game
from workers.check import CannotCheck, Finding, check_engine, format_finding, format_summary
from workers.check.run import DEFAULT_SECONDS
from workers.commands.sandboxes import find_sandbox
from workers.engine.launch import explain_no_program, find_engine_program, plan_launch
from workers.jobs import EngineSpec
from workers.match.options.entrants import usual_store
from workers.sandbox.limits import Limits
from workers.sandbox.sandbox import NoSandbox, Sandbox

FAULTY = 1
MAX_SECONDS = 3600.0
UNTESTED = (
    f"Not tested: the sandbox of a site ({Limits().memory_sentence}, {Limits().processes_sentence}, no "
    "network, files that cannot be written). -sandbox runs the engine in it."
)


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    return run_command(lambda: _check(options), UnknownGame, CannotCheck)


def _check(options: argparse.Namespace) -> int:
    """Run the check; each finding is printed at once.

    What is not given is taken from the ``bot.toml`` of the present folder, if there is one.
    """
    command = options.words[1:] if options.words[:1] == ["--"] else options.words
    stranger = split_site_bot(command[0]) if len(command) == 1 else None
    folder, command = (_fetched(*stranger), []) if stranger else (Path.cwd(), command)
    manifest = None if command and options.game else _manifest_in(folder)
    command = command or (list(manifest.command) if manifest else [])
    if not command:
        alike = explain_misnamed(sorted(os.listdir(folder)))
        return complain(
            "no command was given: write it after --, as in check -- python3 main.py, or into bot.toml"
            + (f"; this folder has no {MANIFEST_NAME}{alike}" if alike else "")
        )
    games = options.game or (manifest.games if manifest else ())
    program = find_engine_program(command[0], folder)
    if program is None:
        raise CannotCheck(explain_no_program(command[0], folder))
    spec = EngineSpec("engine", "", tuple(command), directory=str(folder))
    sandbox = _find_sandbox(spec, stranger[:1] if stranger else (), is_asked=options.sandbox)
    if sandbox is None:
        spec = replace(spec, command=(program, *command[1:]))
    report = check_engine(
        lambda: plan_launch(spec, folder, sandbox),
        ladders=[find_game(code) for code in games],
        options=options.option or (manifest.options if manifest else ()),
        seconds=options.timeout,
        on_finding=_print_finding,
    )
    if sandbox is None:
        print(UNTESTED)
    print(format_summary(report))
    return 0 if report.is_clean else FAULTY


def _fetched(bot: str, site: str) -> Path:
    """The folder of a published bot, unpacked in the user's cache; raises ``CannotCheck``."""
    store = usual_store()
    try:
        engine = ask_engine(site, bot)
        fetch_site_bundle(engine, store)
        return fetch_bundle(engine.sha256, store=store, cache=store)
    except (SiteError, BundleError) as error:
        raise CannotCheck(str(error)) from None


def _find_sandbox(spec: EngineSpec, strangers: Sequence[str], *, is_asked: bool) -> Sandbox | None:
    """The sandbox of this machine, see ``find_sandbox``; raises ``CannotCheck``."""
    try:
        found = find_sandbox([spec], strangers, is_asked=is_asked)
    except NoSandbox as error:
        raise CannotCheck(f"-sandbox: {error}") from None
    return found[1] if found else None


def _manifest_in(folder: Path) -> Manifest | None:
    """The manifest of a bot in its folder; None without one, raises ``CannotCheck`` for a wrong one."""
    if not (folder / MANIFEST_NAME).is_file():
        return None
    try:
        return read_manifest(folder)
    except (BundleError, OSError) as error:
        raise CannotCheck(f"{MANIFEST_NAME}: {error}") from None


def _print_finding(finding: Finding) -> None:
    print(format_finding(finding), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers check",
        usage="%(prog)s [-h] [-sandbox] [--game GAME]... [--option NAME=VALUE]... [--timeout SECONDS] "
        "[-- COMMAND...]",
        description="Check that an engine follows the protocol; exit code 0 if it does, 1 if it does not, "
        "2 if it cannot be started.",
    )
    parser.add_argument(
        "--game",
        action="append",
        default=[],
        metavar="GAME",
        help="a ladder to check (default: those of bot.toml, else all that the engine declares)",
    )
    parser.add_argument(
        "-sandbox",
        "--sandbox",
        action="store_true",
        help="run the engine in the sandbox of a site, with its limits of memory, processes and files",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=_option,
        metavar="NAME=VALUE",
        help="an option to set in the engine, as in [options] of bot.toml",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help="the time limit of the whole check (default: %(default)g)",
    )
    parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="the command that starts the engine, or NAME@https://SITE (default: that of bot.toml)",
    )
    return parser


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds above 0 and up to {MAX_SECONDS:.0f}"
        )
    return seconds
