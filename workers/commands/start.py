"""``python -m workers start``: a game worker of a site, until it is told to stop."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence


def main(arguments: Sequence[str]) -> int:
    """Become a game worker; SIGTERM and Ctrl-C give games under way back before it ends."""
    options = _parser().parse_args(arguments)
    settings = {
        "REDIS_URL": options.broker,
        "DUARENA_BUNDLES": options.bundles,
        "DUARENA_CACHE": options.cache,
    }
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)  # a game worker has no site to set up
    os.environ.update({name: value for name, value in settings.items() if value is not None})
    # Read here: the app is made from the environment, and no other command needs Celery.
    from workers.celery import GAMES, app
    from workers.tasks import settle_policy, settle_speed

    # Before the slots are forked, so that they share what is found.
    settle_policy()
    settle_speed()
    become_worker: Callable[[list[str]], object] = app.worker_main  # its stubs say it never returns
    become_worker(
        [
            "worker",
            f"--queues={GAMES}",
            f"--concurrency={options.slots}",
            f"--hostname={options.name}",
            "--loglevel=INFO",
            "--without-gossip",
            "--without-mingle",
        ]
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m workers start", description="Play a site's games until told to stop."
    )
    parser.add_argument("--broker", help="the site's broker (default: $REDIS_URL)")
    parser.add_argument("--bundles", help="the store folder of bundles (default: $DUARENA_BUNDLES)")
    parser.add_argument("--cache", help="where bundles are unpacked (default: $DUARENA_CACHE)")
    parser.add_argument(
        "--slots", type=_slots, default=os.cpu_count() or 1, help="games at a time (default: cores)"
    )
    parser.add_argument("--name", default="players@%h", help="the worker's name, unique on the broker")
    return parser


def _slots(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of slots from 1 to 1024")
    return int(text)
