"""``python -m workers start``: a worker of a site, which plays games or checks new bots."""

from __future__ import annotations

import argparse
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from engines.console import complain
from engines.release import RELEASE
from workers.bundles.bundle_site import BundleSite, SiteAway, TokenRefused, TokenRevoked
from workers.bundles.cache import CacheRefused, touch_alive
from workers.sandbox.levels import SETTING, Level
from workers.sandbox.policy import trusts_all
from workers.service.messaging.signing import own_queue, parse_key
from workers.service.restart import RESTART, start_again
from workers.service.token_watch import TokenWatch

_NAMES = {"games": "players", "validation": "validators"}
"""The default name of a worker, by queue; ``@`` and the host's name follow."""
KEY = "DUARENA_KEY"
"""The environment variable with the key of a worker that the site itself starts."""
TOKEN_REVOKED = 77
"""The exit code of a worker whose token was revoked; a restart would not help. ``EX_NOPERM`` in C."""
MOST_PAUSE_SECONDS = 30.0
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}(@[A-Za-z0-9._-]{1,60})?")


def main(arguments: Sequence[str]) -> int:
    """Run a worker; on SIGTERM and Ctrl-C it returns its running games before it ends.

    Returns ``TOKEN_REVOKED`` if the site does not accept its token, or no longer.
    """
    options = _parser().parse_args(arguments)
    if options.queue == "validation":
        # Not pinned to a core: it is idle most of the time, and games can use the core.
        os.environ.setdefault("DUARENA_PIN", "0")
    name = worker_name(options.name, options.queue)
    try:
        check_redis_user(options.broker or os.environ.get("REDIS_URL", ""), name)
        site = _open_site(options)
        key = _find_key(site, name, options.queue)
    except ValueError as error:
        return complain(str(error))
    except TokenRefused as refused:
        code = complain(refused.why)
        return TOKEN_REVOKED if isinstance(refused, TokenRevoked) else code
    settings = {
        "REDIS_URL": options.broker,
        "DUARENA_BUNDLES": options.bundles,
        "DUARENA_CACHE": options.cache,
        "DUARENA_NAME": name,
        "DUARENA_SITE": options.site,
        "DUARENA_TOKEN": options.token,
    }
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)  # a worker does not set up Django
    os.environ.update({name: value for name, value in settings.items() if value is not None})
    slots = options.slots or _default_slots(options.queue)
    os.nice(options.nice)
    watch = TokenWatch(site)
    try:
        app = _join(name, options.queue, slots, key, watch)
    except CacheRefused as refused:
        return complain(str(refused))
    become_worker: Callable[[list[str]], object] = app.worker_main  # its stubs say it never returns
    become_worker(
        [
            "worker",
            f"--queues={own_queue(options.queue, name)}",
            f"--concurrency={slots}",
            f"--hostname={name}",
            "--loglevel=INFO",
            "--without-gossip",
            "--without-heartbeat",  # Celery's own, to all
            "--without-mingle",
        ]
    )
    if watch.is_revoked:
        return TOKEN_REVOKED
    if RESTART.is_due:
        start_again("--nice=0")  # the niceness is inherited
    return 0


def _join(name: str, queue: str, slots: int, key: bytes, watch: TokenWatch) -> Any:
    """The Celery app, ready to start; values that all slots share are computed before they are forked."""
    # Imported here: the app is configured from the environment, and no other command needs Celery.
    from workers.service.celery import app, use_keyring
    from workers.service.context import probe_sandbox, sandbox_policy, worker_cache, worker_speed
    from workers.service.messaging.replays import FileMemory
    from workers.service.messaging.sending import send_heartbeat
    from workers.service.messaging.signing import WorkerKeyring
    from workers.service.recheck import SandboxRecheck
    from workers.service.registration import Identity, join

    use_keyring(WorkerKeyring(name, key), FileMemory(worker_cache() / f"received-{name}"))
    refusal, (verdict, _) = sandbox_policy().refusal, probe_sandbox()
    if refusal:
        print(explain_refusal(refusal, verdict.level), file=sys.stderr, flush=True)
    host = socket.gethostname()
    identity = Identity(name, host, queue, RELEASE, slots, worker_speed(), str(verdict.level), refusal)

    def on_tick() -> None:
        touch_alive(worker_cache())
        watch.start()

    recheck = SandboxRecheck(verdict, worker_cache() / f"probed-{name}")
    is_sandboxed = not trusts_all(os.environ)
    join(
        identity,
        send_heartbeat,
        find_change=lambda: recheck.find_change(time.monotonic()) if is_sandboxed else "",
        on_tick=on_tick,
    )
    return app


def explain_refusal(refusal: str, level: Level) -> str:
    """Why a worker runs no uploaded bots, for its operator, and the setting that changes that."""
    lines = [f"This worker runs no uploaded bots: {refusal}."]
    if level is Level.B:
        lines.append(f"{SETTING}=B on this host lets it run them at level B, at your own risk.")
    return "\n".join(lines)


def _open_site(options: argparse.Namespace) -> BundleSite | None:
    """The site at which the worker registers; None without a token.

    Raises ``ValueError``, and ``TokenRefused``; a site that does not answer may answer later.
    """
    token = options.token or os.environ.get("DUARENA_TOKEN")
    if not token:
        if options.site:
            raise ValueError("--site needs a worker token: give --token, or set DUARENA_TOKEN")
        return None
    site = BundleSite(options.site or os.environ.get("DUARENA_SITE", ""), token)
    if not site.is_encrypted:
        print("The token is sent unencrypted: use https:// if the site offers it.", file=sys.stderr)
    try:
        site.check()
    except TokenRefused:
        raise
    except SiteAway as away:
        print(f"{away.why}; bundles will be requested again when there is a game.", file=sys.stderr)
    return site


def _find_key(site: BundleSite | None, name: str, queue: str) -> bytes:
    """The key of this worker, from the environment or from the site, for which it waits.

    Raises ``ValueError`` and ``TokenRefused``.
    """
    if given := os.environ.get(KEY):
        return parse_key(given)
    if site is None:
        raise ValueError(
            "the worker has no key: it registers with --site and a worker token in DUARENA_TOKEN"
        )
    pause = 1.0
    while True:
        try:
            return parse_key(site.register(name, queue))
        except TokenRefused:
            raise
        except SiteAway as away:
            print(f"{away.why}; registering again in {pause:.0f} s.", file=sys.stderr, flush=True)
        time.sleep(pause)
        pause = min(2 * pause, MOST_PAUSE_SECONDS)


def worker_name(given: str | None, queue: str) -> str:
    """The name with ``@`` and a place, which Celery needs; the default place is the host's name."""
    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60] or "host"
    return given if given and "@" in given else f"{given or _NAMES[queue]}@{host}"


def check_redis_user(url: str, name: str) -> None:
    """Raise ``ValueError`` if the Redis user of this URL is that of a worker with another name."""
    user = unquote(urlsplit(url).username or "")
    if "@" in user and user != name:
        raise ValueError(
            f"the Redis user of REDIS_URL is that of a worker {user}, but this worker is {name}: start it "
            f"with --name {user}, or make a user for {name}"
        )


def _default_slots(queue: str) -> int:
    return (os.cpu_count() or 1) if queue == "games" else 1


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
    parser.add_argument("--broker", help="the site's broker (default: $REDIS_URL)")
    parser.add_argument("--site", metavar="URL", help="fetch bundles from this site (default: $DUARENA_SITE)")
    parser.add_argument(
        "--token", help="a worker token of that site (default: $DUARENA_TOKEN, which no process list shows)"
    )
    parser.add_argument("--bundles", help="the folder with the bundles (default: $DUARENA_BUNDLES)")
    parser.add_argument("--cache", help="the folder for unpacked bundles (default: $DUARENA_CACHE)")
    parser.add_argument(
        "--slots", type=_slots, help="games at the same time (default: number of cores; one for validation)"
    )
    parser.add_argument(
        "--nice",
        type=_niceness,
        default=0,
        help="lower the priority of the worker, by so many steps of nice(1) (default: 0)",
    )
    parser.add_argument(
        "--name",
        type=_checked_name,
        help="a name unique on the broker, shown to all users: NAME, to which @ and this host are added, or "
        "NAME@PLACE (default: players, or validators)",
    )
    return parser


def _checked_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a name: use letters, digits, dots, dashes, underscores, and @ before the place"
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
