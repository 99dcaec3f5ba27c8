"""``python -m workers start``: a worker of a site, which plays games or checks new bots."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import socket
import sys
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from engines.console import complain
from workers.bundles.bundle_site import BundleSite, SiteAway, TokenRefused
from workers.bundles.cache import CacheRefused
from workers.cores import count_cores
from workers.jobs import Work
from workers.sandbox.levels import SETTING, Level

_NAMES = {"games": "players", "validation": "validators"}
"""The default name of a worker, by queue; ``@`` and the host's name follow."""
_WORK = {"games": Work.GAMES, "validation": Work.CHECKS}
VALIDATION_SLOTS = 2
"""One checks, and the other one is free for people's searches meanwhile."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}(@[A-Za-z0-9._-]{1,60})?")


def main(arguments: Sequence[str]) -> int:
    """Run a worker; on SIGTERM and Ctrl-C it returns its running games before it ends.

    Returns 77 if the site does not accept its token, or no longer, and 78 if the site has another version of
    the messages.
    """
    options = _parser().parse_args(arguments)
    if options.queue == "validation":
        # Not pinned to a core: it is idle most of the time, and games can use the core.
        os.environ.setdefault("DUARENA_PIN", "0")
    settings = {
        "REDIS_URL": options.broker,
        "DUARENA_BUNDLES": options.bundles,
        "DUARENA_CACHE": options.cache,
        "DUARENA_NAME": worker_name(options.name, options.queue),
        "DUARENA_SITE": options.site,
        "DUARENA_TAKES": str(_WORK[options.queue]),
        "DUARENA_TOKEN": options.token,
    }
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)  # a worker does not set up Django
    os.environ.update({name: value for name, value in settings.items() if value is not None})
    try:
        _check_semaphores()
        _check_site()
        _check_redis(os.environ.get("REDIS_URL", ""))
    except ValueError as error:
        return complain(str(error))
    except TokenRefused as refused:
        complain(refused.why)
        return refused.exit_status
    os.nice(options.nice)
    try:
        return _run(options.slots or (count_cores() if options.queue == "games" else VALIDATION_SLOTS))
    except CacheRefused as refused:
        return complain(str(refused))


def _run(slots: int) -> int:
    # Imported here: the app is configured from the environment, and no other command needs Celery.
    from workers.service.context import probe_sandbox, sandbox_policy
    from workers.service.restart import RESTART, start_again
    from workers.service.worker import run

    if refusal := sandbox_policy().refusal:
        print(explain_refusal(refusal, probe_sandbox()[0].level), file=sys.stderr, flush=True)
    status = run(slots)
    if not status and RESTART.is_due:
        start_again()
    return status


def explain_refusal(refusal: str, level: Level) -> str:
    """Why a worker runs no uploaded bots, for its operator, and the setting that changes that."""
    lines = [f"This worker runs no uploaded bots: {refusal}."]
    if level is Level.B:
        lines.append(f"{SETTING}=B on this host lets it run them at level B, at your own risk.")
    return "\n".join(lines)


def _check_semaphores() -> None:
    """Raises ``ValueError`` where no semaphore can be made, which the C library does in ``/dev/shm``."""
    try:
        multiprocessing.Lock()
    except OSError as error:
        raise ValueError(
            f"a worker needs /dev/shm, which cannot be used here ({error.strerror}): mount a tmpfs there that"
            " its user can write"
        ) from None


def _check_site() -> None:
    """Check that the site lets this worker in, if it answers; raises ``ValueError`` and ``TokenRefused``."""
    address, token = os.environ.get("DUARENA_SITE", ""), os.environ.get("DUARENA_TOKEN", "")
    if not address or not token:
        raise ValueError(
            "a worker needs its site's address and a worker token: set DUARENA_SITE and DUARENA_TOKEN"
        )
    site = BundleSite(address, token)
    if not site.is_encrypted:
        print("The token is sent unencrypted: use https:// if the site offers it.", file=sys.stderr)
    try:
        site.check()
    except TokenRefused:
        raise
    except SiteAway as away:
        print(f"{away.why}; this worker asks again and again.", file=sys.stderr, flush=True)


def _check_redis(url: str) -> None:
    """Raises ``ValueError`` for an address that cannot be one of a Redis."""
    if url and urlsplit(url).scheme not in {"redis", "rediss", "redis+socket"}:
        begin = url.partition(":")[0]
        raise ValueError(f"{begin!r} begins no address of a Redis, but redis, rediss and redis+socket do")


def worker_name(given: str | None, queue: str) -> str:
    """The name with ``@`` and a place, which Celery needs; the default place is the host's name."""
    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60] or "host"
    return given if given and "@" in given else f"{given or _NAMES[queue]}@{host}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers start",
        description="Play a site's games, or check its new bots, until stopped.",
    )
    parser.add_argument(
        "--queue",
        choices=list(_NAMES),
        default="games",
        help="games (the default), or validation, which checks new bots: a site needs a worker for each",
    )
    parser.add_argument(
        "--broker",
        help="the site's Redis, if it can be reached; without it the worker asks the site every few seconds "
        "(default: $REDIS_URL)",
    )
    parser.add_argument("--site", metavar="URL", help="the address of the site (default: $DUARENA_SITE)")
    parser.add_argument(
        "--token", help="a worker token of that site (default: $DUARENA_TOKEN, which no process list shows)"
    )
    parser.add_argument("--bundles", help="the folder with the bundles (default: $DUARENA_BUNDLES)")
    parser.add_argument("--cache", help="the folder for unpacked bundles (default: $DUARENA_CACHE)")
    parser.add_argument(
        "--slots",
        type=_number(1, 1024, "slots"),
        help="games at the same time (default: number of cores; two for validation, one for searches)",
    )
    parser.add_argument(
        "--nice",
        type=_number(0, 19, "steps"),
        default=0,
        help="lower the priority of the worker, by so many steps of nice(1) (default: 0)",
    )
    parser.add_argument(
        "--name",
        type=_checked_name,
        help="a name unique at the site, shown to all users: NAME, to which @ and this host are added, or "
        "NAME@PLACE (default: players, or validators)",
    )
    return parser


def _checked_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a name: use letters, digits, dots, dashes, underscores, and @ before the place"
        )
    return text


def _number(least: int, most: int, what: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what} from {least} to {most}")
        return int(text)

    return read
