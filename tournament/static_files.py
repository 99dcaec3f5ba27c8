"""The static files with hashed names, which browsers keep for a year.

A separate module, because the settings name the storage and Django loads this module as template tags.
"""

from __future__ import annotations

import hashlib

from django import template
from django.urls import reverse
from whitenoise.storage import CompressedManifestStaticFilesStorage

from engines import svg

BOARDS_DIGEST = hashlib.sha256(svg.STYLE.encode()).hexdigest()[:12]
"""Of the boards' style sheet, which is no file."""

register = template.Library()


@register.simple_tag
def boards_css() -> str:
    """The address of the boards' style sheet, which changes with it."""
    return reverse("boards-css-hashed", args=[BOARDS_DIGEST])


class HashedFiles(CompressedManifestStaticFilesStorage):
    """What ``manage.py collectstatic`` writes; names in imports of modules are hashed too."""

    support_js_module_import_aggregation = True
