"""The site's cache: pieces of pages stay in each process, what allauth counts is shared by all processes."""

from __future__ import annotations

from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache

SHARED = "allauth"
"""The beginning of the shared keys. allauth uses the cache ``default`` and lets no other be chosen."""


class SplitCache(LocMemCache):
    """Keeps the keys of allauth in the cache ``shared`` (a table of the database), all others in memory."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__("", params)

    def add(self, key: str, *args: Any, **kwargs: Any) -> bool:
        return _shared().add(key, *args, **kwargs) if _is_shared(key) else super().add(key, *args, **kwargs)

    def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
        return _shared().get(key, *args, **kwargs) if _is_shared(key) else super().get(key, *args, **kwargs)

    def set(self, key: str, *args: Any, **kwargs: Any) -> None:
        if _is_shared(key):
            _shared().set(key, *args, **kwargs)
        else:
            super().set(key, *args, **kwargs)

    def delete(self, key: str, *args: Any, **kwargs: Any) -> bool:
        if _is_shared(key):
            return _shared().delete(key, *args, **kwargs)
        return super().delete(key, *args, **kwargs)


def _is_shared(key: str) -> bool:
    return key.startswith(SHARED)


def _shared() -> BaseCache:
    return caches["shared"]
