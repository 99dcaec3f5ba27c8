"""What a worker's process needs to play: its context from environment variables, and its message consumer.

The sandbox and the speed are measured once in the worker's main process; its slots inherit the results.
``workers.service.celery`` lists the variables.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
from pathlib import Path

from workers.bundles.bundle_site import BundleSite
from workers.bundles.cache import cache_folder
from workers.engine.sandbox_probe import probe
from workers.play.environment import measure_speed
from workers.play.runner import WorkerContext
from workers.sandbox.levels import Verdict, describe
from workers.sandbox.policy import Policy, make_policy, write_verdict
from workers.sandbox.sandbox import Sandbox
from workers.service.celery import slot_index
from workers.service.consumer import MessageCallbacks, MessageConsumer
from workers.service.messaging.heartbeat import Trouble
from workers.service.messaging.sending import PROGRESS, send_news, send_releases, send_reports, send_trouble
from workers.service.self_test import SelfTest
from workers.service.slots import SLOTS

NAME, SITE, TOKEN = "DUARENA_NAME", "DUARENA_SITE", "DUARENA_TOKEN"
"""The worker's name, the site to fetch bundles from, and the worker token: see ``workers.commands.start``."""

log = logging.getLogger("workers.service.context")


def slot_consumer() -> MessageConsumer:
    """The message consumer of this slot."""
    callbacks = MessageCallbacks(send_reports, PROGRESS.put, send_releases, send_news)
    return MessageConsumer(worker_context(), SLOTS, slot_index(), _self_test(), callbacks)


@functools.cache
def _self_test() -> SelfTest:
    """The self-test of this slot; first called in the slot's own process."""
    return SelfTest(SLOTS, slot_index(), lambda why: send_trouble(Trouble(worker_context().name, why)))


def worker_context() -> WorkerContext:
    """The context of this process."""
    return WorkerContext(
        name=f"{os.environ.get(NAME) or socket.gethostname()}/{os.getpid()}",
        store=_store(),
        cache=worker_cache(),
        policy=sandbox_policy(),
        speed=worker_speed(),
        site=bundle_site(),
    )


@functools.cache
def sandbox_policy() -> Policy:
    """The sandbox policy of this worker, from its environment and ``probe_sandbox``."""
    return make_policy(*probe_sandbox(), os.environ)


@functools.cache
def probe_sandbox() -> tuple[Verdict, Sandbox | None]:
    """Test once, before the first game, which sandbox works here; stores the verdict in the cache folder."""
    verdict, sandbox = probe(socket.gethostname())
    for line in describe(verdict):
        log.warning("%s", line)
    write_verdict(worker_cache(), verdict)
    return verdict, sandbox


@functools.cache
def worker_speed() -> str:
    """The speed of this worker, measured once."""
    return measure_speed()


@functools.cache
def bundle_site() -> BundleSite | None:
    """The site to fetch bundles from; None without a token. Raises ``ValueError`` for a wrong address."""
    if not (token := os.environ.get(TOKEN)):
        return None
    return BundleSite(os.environ.get(SITE, ""), token)


def _store() -> Path:
    """The store folder: the site's own on its host; below the cache if bundles are fetched from a site."""
    default = worker_cache() / "zips" if bundle_site() else Path("bundles")
    return Path(os.environ.get("DUARENA_BUNDLES") or default)


@functools.cache
def worker_cache() -> Path:
    """The folder of unpacked bundles; raises ``CacheRefused``."""
    return cache_folder(os.environ)
