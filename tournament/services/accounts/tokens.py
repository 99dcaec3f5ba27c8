"""Tokens for programs: creation, recognition by their hash, revocation, and the limit on requests."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from tournament import access
from tournament.models import Allowance, Bot, Token, User
from tournament.services.locks import locking

PREFIX = "duarena_"
"""A prefix that shows a reader of a file which site the token is for."""
RANDOM_BYTES = 32
GIVEN_OWNER = "(workers)"
"""The owner of the token of the settings; nobody can sign up under a name with parentheses."""
MAX_TOKENS = 20
"""Most valid tokens of one user."""
WORKERS = {Token.Scope.WORKER, Token.Scope.OWN_WORKER}

MAX_ALLOWED = 240.0
ALLOWED_A_SECOND = 2.0
REQUEST_COST = 1.0
UPLOAD_COST = 40.0
"""Six uploads at once and three a minute from then on, or two other requests a second.

A refused upload costs as much as another request.
"""


class TokenError(ValueError):
    """A token that cannot be created: one sentence."""


class TooMuch(Exception):
    """The allowance is used up for now."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many requests: try again in {seconds} s")
        self.seconds = seconds


def create_token(
    user: User,
    name: str,
    scopes: Sequence[str],
    *,
    bot: Bot | None = None,
    ends_at: datetime.datetime | None = None,
) -> tuple[Token, str]:
    """Create a token; returns it with its text, which is not stored. Raises ``TokenError``.

    With ``bot`` it may act only for that bot of the user, and from ``ends_at`` on it is refused.
    """
    now = timezone.now()
    if Token.Scope.WORKER in scopes and not access.may_lend_bundles(user):
        raise TokenError("only staff can create tokens for workers")
    if bot is not None and bot.owner_id != user.pk:
        raise TokenError(f"{bot.name!r} is not one of your bots")
    if bot is not None and WORKERS & set(scopes):
        raise TokenError("a worker plays for all bots: its token cannot be for one bot alone")
    if ends_at is not None and ends_at <= now:
        raise TokenError("the token would be over at once: choose an end in the future")
    if user.tokens.valid(now).count() >= MAX_TOKENS:
        raise TokenError(f"you have {MAX_TOKENS} tokens: revoke one first")
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    token = Token.objects.create(
        user=user, name=name, scopes=list(scopes), digest=_digest(text), bot=bot, ends_at=ends_at
    )
    return token, text


def find_token(text: str, now: datetime.datetime) -> Token | None:
    """The token with this text; records its use. None for one that is unknown, revoked or over."""
    if not text.startswith(PREFIX) or len(text) > 200:
        return None
    known = Token.objects.valid(now).select_related("user", "bot")
    valid = known.filter(digest=_digest(text), user__is_active=True)
    token = valid.first()
    if token is None and _store_given(text):
        token = valid.first()
    if token is not None and (token.used_at is None or now - token.used_at > datetime.timedelta(minutes=1)):
        Token.objects.filter(pk=token.pk).update(used_at=now)
    return token


def own_token(user: User, text: str) -> Token | None:
    """The user's token with this text, without counting as a use of it."""
    return user.tokens.valid(timezone.now()).filter(digest=_digest(text)).first()


@transaction.atomic
def _store_given(text: str) -> bool:
    """Store the token of the settings at its first use; False for any other text.

    Its owner is an account of staff that nobody can log in to. Earlier tokens of the settings are deleted.
    """
    given = settings.WORKER_TOKEN
    if len(given) < len(PREFIX) + RANDOM_BYTES or not hmac.compare_digest(text.encode(), given.encode()):
        return False
    account = {"is_staff": True, "password": make_password(None)}
    owner, _ = User.objects.get_or_create(username=GIVEN_OWNER, defaults=account)
    owner.tokens.exclude(digest=_digest(text)).delete()
    fresh = {"user": owner, "name": "from the settings", "scopes": [Token.Scope.WORKER]}
    Token.objects.get_or_create(digest=_digest(text), defaults=fresh)
    return True


def revoke(token: Token) -> None:
    """Make a token invalid from now on; may be repeated."""
    Token.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())


def revoke_all(user: User) -> int:
    """Make all tokens of a user invalid; returns how many were valid."""
    return user.tokens.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())


def refund(user: User, cost: float) -> None:
    """Add what was deducted for a request that came to nothing."""
    Allowance.objects.filter(user=user).update(left=F("left") + cost)


@transaction.atomic
def spend(user: User, cost: float, now: datetime.datetime) -> None:
    """Deduct ``cost`` from a user's allowance; raises ``TooMuch`` and deducts nothing if it is too small."""
    Allowance.objects.get_or_create(user=user, defaults={"left": MAX_ALLOWED, "at": now})
    allowance = locking(Allowance.objects.all()).get(user=user)
    passed = max(0.0, (now - allowance.at).total_seconds())
    left = min(MAX_ALLOWED, allowance.left + passed * ALLOWED_A_SECOND)
    if left < cost:
        raise TooMuch(max(1, round((cost - left) / ALLOWED_A_SECOND + 0.5)))
    allowance.left, allowance.at = left - cost, now
    allowance.save()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
