"""The steps that look at the proxy and the settings, and that restore a backup as docs/deployment.md says."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Final

from benchmarks.containers.site import ContainerSite
from benchmarks.containers.steps import start_again
from benchmarks.containers.visitor import Visitor
from benchmarks.runs import Broken

SETTING: Final = ("DUARENA_MAX_BUNDLE_MB", "7")
"""The setting in ``site.env``."""
FLOOD: Final = 60
"""Requests one after another, more than the proxy's burst."""

_SETTING: Final = f"""
import json, os
print(json.dumps(os.environ.get({SETTING[0]!r})))
"""
_RATINGS: Final = """
import hashlib, json
from tournament.models import Bundle, Game, GameRecord, LadderRating
rows = sorted(LadderRating.objects.values_list("ladder", "version", "mu", "sigma", "games"))
records = hashlib.sha256()
for text in GameRecord.objects.order_by("game").values_list("text", flat=True):
    records.update(text.encode())
print(json.dumps({
    "ratings": hashlib.sha256(repr(rows).encode()).hexdigest(),
    "records": records.hexdigest(),
    "games": Game.objects.count(),
    "bundles": sorted(Bundle.objects.values_list("pk", flat=True)),
}))
"""
_BUNDLES: Final = """
import json, os
from django.conf import settings
from tournament.models import Bundle
from workers.bundles.store import bundle_path
keys = Bundle.objects.values_list("pk", flat=True)
print(json.dumps([key for key in keys if not bundle_path(settings.BUNDLES, key).exists()]))
"""


def look_through_proxy(site: ContainerSite) -> None:
    """Request pages through the proxy: TLS, static files, the log-in form, and more than its limits allow."""
    _expect_redirect(site)
    page = site.page("/")
    style = re.search(r'href="(/static/[^"]+\.css)"', page)
    if style is None:
        raise Broken("the first page names no style sheet")
    request = urllib.request.Request(site.url + style[1])
    with urllib.request.urlopen(request, timeout=30, context=site.trust()) as answer:
        if "X-Request-ID" in answer.headers or answer.headers["Server"] != "nginx":
            raise Broken(f"{style[1]} does not come from the proxy's files: {dict(answer.headers)}")
    _log_in_wrongly(site)
    refused = _flood(site)
    if not 0 < refused < FLOOD:
        raise Broken(f"the proxy refused {refused} of {FLOOD} requests in a row")
    print(f"- the proxy has TLS, static files and forms, and refused {refused} of {FLOOD} requests in a row")
    time.sleep(5)  # until the proxy's limit admits requests again


def _expect_redirect(site: ContainerSite) -> None:
    plain = urllib.parse.urlsplit(site.plain)
    connection = http.client.HTTPConnection(plain.netloc, timeout=30)
    connection.request("GET", "/ladders/", headers={"Host": "127.0.0.1"})
    answer = connection.getresponse()
    target = answer.getheader("Location", "")
    if answer.status != 301 or not target.startswith("https://127.0.0.1"):
        raise Broken(f"HTTP is answered with {answer.status} {target}")


def _log_in_wrongly(site: ContainerSite) -> None:
    """A wrong password must bring the form again, not a refusal of the form."""
    if "csrfmiddlewaretoken" not in Visitor(site).log_in("nobody", "wrong"):
        raise Broken("a wrong password does not bring the form again")


def _flood(site: ContainerSite) -> int:
    """How many of many quick requests are refused."""
    refused = 0
    for _ in range(FLOOD):
        try:
            site.page("/log-in/")
        except urllib.error.HTTPError as error:
            refused += error.code == http.client.TOO_MANY_REQUESTS
    return refused


def read_settings(site: ContainerSite) -> None:
    """A setting of ``site.env`` must reach the site."""
    if (value := site.run(_SETTING)) != SETTING[1]:
        raise Broken(f"{SETTING[0]} is {value}, not the value in site.env")
    print("- a setting of site.env reaches the site")


def restore_backup(site: ContainerSite, folder: Path) -> None:
    """Back the site up, delete its volumes, and restore it into new ones."""
    before: dict[str, Any] = site.run(_RATINGS)
    dump, bundles = folder / "duarena.dump", folder / "bundles.tar"
    dumping = "exec -T postgres pg_dump --username=duarena --format=custom duarena"
    site.compose.save(dump, *dumping.split())
    site.compose.save(bundles, *"exec -T site tar --directory=/data --create bundles".split())
    site.compose.run("down", "--volumes", "--timeout=20")
    begun = time.monotonic()
    site.compose.run("up", "--detach", "--wait", "--no-build", "postgres")
    restoring = "exec -T postgres pg_restore --username=duarena --dbname=duarena --exit-on-error"
    site.compose.load(dump, *restoring.split())
    site.compose.load(bundles, *"run --rm --no-deps -T site tar --directory=/data --extract".split())
    site.compose.run("up", "--detach", "--no-build")
    site.wait_until_healthy()
    after = site.run(_RATINGS)
    if after != before:
        raise Broken(f"restored is {after}, and not {before}")
    if missing := site.run(_BUNDLES):
        raise Broken(f"bundles are missing after the restore: {missing}")
    print(f"- a backup was restored into new volumes in {time.monotonic() - begun:.0f} s; all is as before")


def play_again(site: ContainerSite, ladder: str) -> None:
    """The restored site must play."""
    games = site.recorded()
    site.wait_for(games + start_again(site, ladder, 1))
    print("- the restored site plays")
    print(f"- {site.check()}")
