"""``python -m workers start``: a worker of a site, for its games or its validations, until told to stop."""

from __future__ import annotations

import argparse
import os
import re
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

import engines
from engines.console import complain
from workers.bundles.bundle_site import BundleSite, SiteAway, TokenRefused
from workers.sandbox.host import missing_programs
from workers.service.restart import RESTART, start_again

_NAMES = {"games": "players", "validation": "validators"}
"""By queue: what a worker is called, before the host's name, unless it is told."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}(@[A-Za-z0-9._-]{1,60})?")


def main(arguments: Sequence[str]) -> int:
    """Become a worker; SIGTERM and Ctrl-C give what is under way back before it ends."""
    options = _parser().parse_args(arguments)
    if complaint := _look_at_site(options):
        return complain(complaint)
    if options.queue == "validation":
        # It has no core of its own: mostly it has nothing to do, and then its core is a game's.
        os.environ.setdefault("DUARENA_PIN", "0")
    name = _name(options.name, options.queue)
    settings = {
        "REDIS_URL": options.broker,
        "DUARENA_BUNDLES": options.bundles,
        "DUARENA_CACHE": options.cache,
        "DUARENA_NAME": name,
        "DUARENA_SITE": options.site,
        "DUARENA_TOKEN": options.token,
    }
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)  # a game worker has no site to set up
    os.environ.update({name: value for name, value in settings.items() if value is not None})
    slots = options.slots or _usual_slots(options.queue)
    os.nice(options.nice)
    app = _join(name, options.queue, slots)
    become_worker: Callable[[list[str]], object] = app.worker_main  # its stubs say it never returns
    become_worker(
        [
            "worker",
            f"--queues={options.queue}",
            f"--concurrency={slots}",
            f"--hostname={name}",
            "--loglevel=INFO",
            "--without-gossip",
            "--without-mingle",
        ]
    )
    if RESTART.is_due:
        start_again("--nice=0")  # it has its niceness already
    return 0


def _join(name: str, queue: str, slots: int) -> Any:
    """The app, ready to become a worker: what its slots share is found out before they are forked."""
    # Read here: the app is made from the environment, and no other command needs Celery.
    from workers.service.celery import app
    from workers.service.context import probe_sandbox, sandbox_policy, worker_speed
    from workers.service.messages import send_heartbeat
    from workers.service.registration import Identity, join

    refusal, (verdict, _) = sandbox_policy().refusal, probe_sandbox()
    host = socket.gethostname()
    identity = Identity(
        name, host, queue, engines.__version__, slots, worker_speed(), str(verdict.level), refusal
    )
    # A worker that runs uploads lacks nothing that would change this.
    join(identity, send_heartbeat, lambda: bool(refusal and verdict.packages and not missing_programs()))
    return app


def _look_at_site(options: argparse.Namespace) -> str:
    """Whether the site lends its bundles to this worker: what is wrong that trying again would not change."""
    token = options.token or os.environ.get("DUARENA_TOKEN")
    if not token:
        return "--site needs a worker token: give --token, or set DUARENA_TOKEN" if options.site else ""
    try:
        site = BundleSite(options.site or os.environ.get("DUARENA_SITE", ""), token)
    except ValueError as error:
        return str(error)
    if not site.is_encrypted:
        print("The token travels unencrypted: use https:// where the site has it.", file=sys.stderr)
    try:
        site.check()
    except TokenRefused as refused:
        return refused.why
    except SiteAway as away:
        print(f"{away.why}; its bundles are asked for again when there is a game.", file=sys.stderr)
    return ""


def _name(given: str | None, queue: str) -> str:
    """With the host's name after an ``@``, as Celery wants it."""
    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60] or "host"
    return given if given and "@" in given else f"{given or _NAMES[queue]}@{host}"


def _usual_slots(queue: str) -> int:
    return (os.cpu_count() or 1) if queue == "games" else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers start",
        description="Play a site's games, or examine its new bots, until told to stop.",
    )
    parser.add_argument(
        "--queue",
        choices=list(_NAMES),
        default="games",
        help="games of tournaments (the default), or validation: a site needs a worker for each",
    )
    parser.add_argument("--broker", help="the site's broker (default: $REDIS_URL)")
    parser.add_argument("--site", metavar="URL", help="fetch bundles from there (default: $DUARENA_SITE)")
    parser.add_argument(
        "--token", help="a worker token of that site (default: $DUARENA_TOKEN, which nobody sees in a list)"
    )
    parser.add_argument("--bundles", help="the store folder of bundles (default: $DUARENA_BUNDLES)")
    parser.add_argument("--cache", help="where bundles are unpacked (default: $DUARENA_CACHE)")
    parser.add_argument("--slots", type=_slots, help="games at a time (default: cores; one for validation)")
    parser.add_argument(
        "--nice",
        type=_niceness,
        default=0,
        help="let other programs of this machine go first, by so many steps of nice(1) (default: none)",
    )
    parser.add_argument(
        "--name",
        type=_checked_name,
        help="unique on the broker, and seen by everybody: NAME, to which @ and this host are added, or "
        "NAME@PLACE (default: players, or validators)",
    )
    return parser


def _checked_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name: letters, digits, dots, dashes and underscores, and an @ before the place"
        )
    return text


def _niceness(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 19:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of steps from 0 to 19")
    return int(text)


def _slots(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of slots from 1 to 1024")
    return int(text)
