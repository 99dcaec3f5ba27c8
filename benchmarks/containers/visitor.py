"""A browser of one visitor of the site, as far as the benchmark of containers needs one."""

from __future__ import annotations

import http.cookiejar
import re
import urllib.parse
import urllib.request
from typing import Final

from benchmarks.containers.site import ContainerSite
from benchmarks.runs import Broken

LOG_IN: Final = "/log-in/"


class Visitor:
    """Requests pages with the cookies of a session of its own."""

    def __init__(self, site: ContainerSite) -> None:
        self._url = site.url
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies, urllib.request.HTTPSHandler(context=site.trust()))

    def page(self, path: str) -> str:
        """The text of a page; raises ``OSError``, also for a status from 400 on."""
        with self._opener.open(self._url + path, timeout=30) as answer:
            return str(answer.read().decode())

    def submit(self, path: str, **values: str) -> str:
        """Fetch the form of a page and send it; returns the page that answers, and raises as ``page``."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.page(path))
        if token is None:
            raise Broken(f"{path} has no form")
        content = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1], **values}).encode()
        address = self._url + path
        request = urllib.request.Request(address, content, headers={"Referer": address})
        with self._opener.open(request, timeout=30) as answer:
            return str(answer.read().decode())

    def log_in(self, name: str, password: str) -> str:
        return self.submit(LOG_IN, username=name, password=password)
