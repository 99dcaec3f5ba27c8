"""The slugs of tournaments, which are part of their addresses and of the keys of their games.

A draft's slug says nothing: if it came from the name, the next tournament of that name would get another one,
and its owner would learn of a draft that nobody else may see. The name's slug is taken at the publication.
"""

from __future__ import annotations

import re
import secrets

from django.db import IntegrityError, transaction
from django.db.models import Value
from django.db.models.functions import Concat, Substr

from tournament.formats.base import TournamentError
from tournament.models import Game, Tournament
from tournament.models.names import latin_slug

_DRAFT = re.compile("draft-[0-9a-f]{16}")
TRIES = 5
"""Another transaction may take a slug after it was found free."""


def draft_slug() -> str:
    """A slug for a tournament that only its owner may see."""
    return f"draft-{secrets.token_hex(8)}"


def name_slug(name: str) -> str:
    """The slug of a tournament's name, with a number if it is taken."""
    return unique_slug(latin_slug(name, "tournament"))


def publish_slug(draft: Tournament) -> None:
    """Give a draft and its games the slug of its name; part of the transaction that makes it public.

    Raises ``TournamentError`` if others take that slug again and again.
    """
    before = draft.slug
    if not _DRAFT.fullmatch(before):
        return  # it was announced before, or it is older than these slugs
    draft.slug = _take_slug(draft)
    key = Concat(Value(draft.slug), Substr("key", len(before) + 1))
    Game.objects.filter(tournament=draft).update(key=key)


def unique_slug(base: str) -> str:
    """``base``, or ``base`` with a number if it is taken by a tournament or by a page of the site."""
    taken = {"new", *Tournament.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    slug, suffix = base, 2
    while slug in taken:
        slug, suffix = f"{base}-{suffix}", suffix + 1
    return slug


def _take_slug(draft: Tournament) -> str:
    for _ in range(TRIES):
        slug = name_slug(draft.name)
        try:
            with transaction.atomic():
                Tournament.objects.filter(pk=draft.pk).update(slug=slug, draft_slug=draft.slug)
        except IntegrityError:
            continue
        return slug
    raise TournamentError(f"name: many tournaments are called {draft.name!r} at this moment: try again")
