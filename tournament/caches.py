"""The cache of pieces of pages, in the memory of each process. Django's own is shared; allauth uses it."""

from __future__ import annotations

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.utils.connection import ConnectionProxy

cache: BaseCache = ConnectionProxy(caches, "pages")  # type: ignore[assignment]
