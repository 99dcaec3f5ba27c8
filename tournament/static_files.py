"""The static files as they are served: minified, and with hashed names, which browsers keep for a year."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import rcssmin
import rjsmin
from django import template
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.urls import reverse
from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe
from whitenoise.storage import CompressedManifestStaticFilesStorage

from engines import svg

BOARDS_DIGEST = hashlib.sha256(svg.STYLE.encode()).hexdigest()[:12]
"""The digest of the boards' style sheet, which is no file."""

register = template.Library()


@register.simple_tag
def boards_css() -> str:
    """The address of the boards' style sheet, which changes with it."""
    return reverse("boards-css-hashed", args=[BOARDS_DIGEST])


class _Compact(json.JSONEncoder):
    """Without spaces."""

    item_separator = ","
    key_separator = ":"


@register.filter("compact_script")
def compact_script(values: Any, element: str) -> SafeString:
    """As ``json_script``, without spaces: a long game has thousands of values."""
    return json_script(values, element, _Compact)


@register.simple_tag
def board_materials() -> SafeString:
    """The gradients that the boards' style sheet names, for pages with boards."""
    return mark_safe(
        f'<svg class="materials unseen" aria-hidden="true">{svg.MATERIALS}</svg>'
    )  # safe: constant


def minified(name: str, content: bytes) -> bytes:
    """A script or style of ours without comments and needless white space; other files as they are.

    ``name`` is the name below ``static/``. Files in folders are not ours, and come minified by their makers.
    """
    if "/" in name or not name.endswith((".js", ".css")):
        return content
    text = content.decode()
    return str(rjsmin.jsmin(text) if name.endswith(".js") else rcssmin.cssmin(text)).encode()


@dataclass(frozen=True, slots=True)
class Minified:
    """The files of a storage, minified, as far as ``collectstatic`` reads them."""

    storage: Storage

    def open(self, name: str, mode: str = "rb") -> File[bytes]:
        with self.storage.open(name, mode) as file:
            return ContentFile(minified(name, file.read()))


class HashedFiles(CompressedManifestStaticFilesStorage):
    """What ``manage.py collectstatic`` writes; names in imports of modules are hashed too."""

    support_js_module_import_aggregation = True

    def post_process(
        self, paths: Mapping[str, tuple[Storage, str]], **options: Any
    ) -> Iterator[tuple[str, str | None, bool]]:
        """Write the files under their hashed names; those that the pages link."""
        yield from super().post_process(
            {name: (Minified(storage), path) for name, (storage, path) in paths.items()}, **options
        )
