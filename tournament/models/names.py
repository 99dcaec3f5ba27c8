"""Keys by which names are compared: the same key for the same name, and for names that look alike."""

from __future__ import annotations

import unicodedata
from functools import cache

from anyascii import anyascii
from confusable_homoglyphs import confusables
from django.utils.crypto import salted_hmac
from django.utils.text import slugify

MAX_LOOK = 255
MAX_SLUG = 50
"""Longest slug, without the number that distinguishes it from an equal one."""


def latin_slug(name: str, otherwise: str) -> str:
    """The name in Latin letters, digits and hyphens, for an address; ``otherwise`` if nothing is left."""
    return slugify(anyascii(name))[:MAX_SLUG].strip("-") or otherwise


def name_key(name: str) -> str:
    """The same key for names that a reader would take for the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def look_key(name: str) -> str:
    """The same key for names that look alike in some font: ``Random`` and the same with a Cyrillic ``а``.

    The skeleton of Unicode's technical standard 39, without differences of case. Cut after ``MAX_LOOK``.
    """
    return _skeleton(_skeleton(unicodedata.normalize("NFKC", name)).casefold())[:MAX_LOOK]


def look_keys(name: str) -> set[str]:
    """The keys of a new name as it is and in small letters: a Greek ``Ι`` is like ``l``, ``ι`` like ``i``."""
    return {look_key(name), look_key(name.casefold())}


def closed_name(look: str) -> str:
    """What an account is called after it was closed: only who knows the key of its old name can tell it."""
    return f"closed-{salted_hmac('closed account', look, algorithm='sha256').hexdigest()[:12]}"


def _skeleton(text: str) -> str:
    return "".join(map(_prototype, text))


@cache
def _prototype(character: str) -> str:
    """The character (or characters) that stands for all that look like this one.

    The package's table lists for a prototype all characters that look like it, for any other character its
    prototype alone.
    """
    alike = [str(entry["c"]) for entry in confusables.confusables_data.get(character, ())]
    if len(alike) != 1:
        return character
    (other,) = alike
    is_prototype = len(confusables.confusables_data.get(other, ())) > 1
    return other if is_prototype else min(character, other)
