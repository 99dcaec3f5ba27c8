"""What a worker's process needs to play, from environment variables: see ``workers.service.celery``.

The sandbox and the speed are measured once in the worker's main process; its slots inherit the results.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
import uuid
from pathlib import Path

from workers.bundles.bundle_site import BundleSite
from workers.bundles.cache import cache_folder
from workers.engine.sandbox_probe import probe
from workers.play.environment import measure_speed
from workers.play.runner import WorkerContext
from workers.sandbox.levels import Verdict, describe
from workers.sandbox.policy import Policy, make_policy, write_verdict
from workers.sandbox.sandbox import Sandbox
from workers.service.celery import app, slot_index, work_taken
from workers.service.site import SPOOL_BYTES, Sender, SiteDoor, Spool, spool_folders
from workers.service.slot import Slot
from workers.service.slots import SLOTS

RUN = str(uuid.uuid4())
"""The id of this start of the worker; its slots are forked and have the same."""

log = logging.getLogger("workers.service.context")


@functools.cache
def this_slot() -> Slot:
    """The slot of this process; first called in the slot's own process."""
    slots = int(app.conf.worker_concurrency or 1)
    index = slot_index()
    folders = spool_folders(worker_cache() / f"spool-{worker_name()}", index, slots)
    sender = Sender(
        open_door(),
        Spool(*folders),
        worker=worker_name(),
        run=RUN,
        slot=index,
        most_bytes=SPOOL_BYTES // slots,
    )
    sender.start()
    return Slot(worker_context(), SLOTS, index, work_taken(), sender)


def worker_name() -> str:
    return os.environ.get("DUARENA_NAME") or socket.gethostname()


def open_door() -> SiteDoor:
    """The site's door, for one thread."""
    return SiteDoor(os.environ.get("DUARENA_SITE", ""), os.environ.get("DUARENA_TOKEN", ""))


def worker_context() -> WorkerContext:
    """The context of this process."""
    return WorkerContext(
        name=f"{worker_name()}/{os.getpid()}",
        store=Path(os.environ.get("DUARENA_BUNDLES") or worker_cache() / "zips"),
        cache=worker_cache(),
        policy=sandbox_policy(),
        speed=worker_speed(),
        site=BundleSite(os.environ.get("DUARENA_SITE", ""), os.environ.get("DUARENA_TOKEN", "")),
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


worker_speed = functools.cache(measure_speed)
"""The speed of this worker, measured once."""


@functools.cache
def worker_cache() -> Path:
    """The folder of unpacked bundles; raises ``CacheRefused``."""
    return cache_folder(os.environ)
