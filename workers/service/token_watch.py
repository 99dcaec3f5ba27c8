"""Ends a worker whose token is revoked while it runs: the site then ignores its messages."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable

from workers.bundles.bundle_site import BundleSite, SiteAway, TokenRevoked

CHECK_SECONDS = 60.0

log = logging.getLogger("workers.service.token_watch")


def _stop_worker() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


class TokenWatch:
    """Asks the site in a thread whether it still accepts the token, and stops the worker once if not."""

    def __init__(self, site: BundleSite | None, stop: Callable[[], None] = _stop_worker) -> None:
        """Without a site nothing is asked."""
        self._site = site
        self._stop = stop
        self._is_started = False
        self.is_revoked = False

    def start(self) -> None:
        """Begin to watch; may be repeated. Only after the slots were forked: they do not get the thread."""
        if self._site is not None and not self._is_started:
            self._is_started = True
            threading.Thread(target=self._watch, args=(self._site,), name="token", daemon=True).start()

    def _watch(self, site: BundleSite) -> None:
        pause = threading.Event()
        while not pause.wait(CHECK_SECONDS):
            try:
                site.check()
            except TokenRevoked as revoked:
                log.error("%s This worker ends and needs another token.", revoked.why)
                self.is_revoked = True
                self._stop()
                return
            except SiteAway:
                continue
