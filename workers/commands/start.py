"""``python -m workers start``: a worker of a site, for its games or its validations, until told to stop."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence

_NAMES = {"games": "players@%h", "validation": "validators@%h"}
"""By queue: what a worker is called unless it is told."""


def main(arguments: Sequence[str]) -> int:
    """Become a worker; SIGTERM and Ctrl-C give what is under way back before it ends."""
    options = _parser().parse_args(arguments)
    if options.queue == "validation":
        # It has no core of its own: mostly it has nothing to do, and then its core is a game's.
        os.environ.setdefault("DUARENA_PIN", "0")
    settings = {
        "REDIS_URL": options.broker,
        "DUARENA_BUNDLES": options.bundles,
        "DUARENA_CACHE": options.cache,
    }
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)  # a game worker has no site to set up
    os.environ.update({name: value for name, value in settings.items() if value is not None})
    # Read here: the app is made from the environment, and no other command needs Celery.
    from workers.celery import app
    from workers.tasks import settle_policy, settle_speed

    # Before the slots are forked, so that they share what is found.
    settle_policy()
    settle_speed()
    become_worker: Callable[[list[str]], object] = app.worker_main  # its stubs say it never returns
    become_worker(
        [
            "worker",
            f"--queues={options.queue}",
            f"--concurrency={options.slots or _usual_slots(options.queue)}",
            f"--hostname={options.name or _NAMES[options.queue]}",
            "--loglevel=INFO",
            "--without-gossip",
            "--without-mingle",
        ]
    )
    return 0


def _usual_slots(queue: str) -> int:
    return (os.cpu_count() or 1) if queue == "games" else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m workers start",
        description="Play a site's games, or examine its new bots, until told to stop.",
    )
    parser.add_argument(
        "--queue",
        choices=list(_NAMES),
        default="games",
        help="games of tournaments (the default), or validation: a site needs a worker for each",
    )
    parser.add_argument("--broker", help="the site's broker (default: $REDIS_URL)")
    parser.add_argument("--bundles", help="the store folder of bundles (default: $DUARENA_BUNDLES)")
    parser.add_argument("--cache", help="where bundles are unpacked (default: $DUARENA_CACHE)")
    parser.add_argument("--slots", type=_slots, help="games at a time (default: cores; one for validation)")
    parser.add_argument(
        "--name", help="the worker's name, unique on the broker (default: players@ this host)"
    )
    return parser


def _slots(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of slots from 1 to 1024")
    return int(text)
