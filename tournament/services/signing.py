"""Signatures of files that the site publishes: Ed25519, in the format of OpenSSH.

The key is derived from the secret key: every process of the site has it, backups contain it, and a new
secret key makes a new one. The public keys of all times are kept with their validity, so that older files
can still be verified.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterator
from functools import lru_cache
from textwrap import wrap

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from engines.evidence.signatures import NAMESPACE, VALIDITY, host_of
from tournament.models import SigningKey

_MAGIC = b"SSHSIG"
_PURPOSE = b"duarena: signatures of published files"
_HASH = b"sha512"
_TYPE = b"ssh-ed25519"
_LINE = 70


def sign(message: bytes) -> bytes:
    """The signature of a file's bytes; the same key and bytes have the same one."""
    key = _key(settings.SECRET_KEY)
    _keep(public_text(key))
    return signature_of(key, message)


def signature_of(key: Ed25519PrivateKey, message: bytes) -> bytes:
    """An armored SSH signature; the key is not stored."""
    signed = _MAGIC + _strings(NAMESPACE.encode(), b"", _HASH, hashlib.sha512(message).digest())
    signature = _strings(_TYPE, key.sign(signed))
    public = _strings(_TYPE, _public_bytes(key))
    whole = _MAGIC + struct.pack(">I", 1) + _strings(public, NAMESPACE.encode(), b"", _HASH, signature)
    lines = wrap(base64.b64encode(whole).decode(), _LINE)
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]).encode()


def allowed_signers() -> str:
    """The site's public keys, the oldest first, as ``ssh-keygen`` reads them.

    Old ones have the end of their validity; none has a beginning, as one may sign what is older than it.
    """
    return "".join(_signers())


def signer() -> str:
    """The name of the site in that list: its host."""
    return host_of(settings.SITE)


def _signers() -> Iterator[str]:
    for key in SigningKey.objects.order_by("since", "pk"):
        limits = [f'namespaces="{NAMESPACE}"']
        if key.until is not None:
            limits.append(f'valid-before="{key.until:{VALIDITY}}"')
        yield f"{signer()} {','.join(limits)} {key.public}\n"


def _keep(public: str) -> None:
    """Store the present key with the moment from which it is used, which ends the validity of the others."""
    if SigningKey.objects.filter(public=public, until=None).exists():
        return
    now = timezone.now().replace(microsecond=0)
    with transaction.atomic():
        SigningKey.objects.filter(until=None).exclude(public=public).update(until=now)
        SigningKey.objects.update_or_create(
            public=public, defaults={"until": None}, create_defaults={"since": now}
        )


@lru_cache(maxsize=1)
def _key(secret: str) -> Ed25519PrivateKey:
    seed = HKDF(SHA256(), 32, salt=None, info=_PURPOSE).derive(secret.encode())
    return Ed25519PrivateKey.from_private_bytes(seed)


def _public_bytes(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def public_text(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def _strings(*values: bytes) -> bytes:
    """As SSH writes strings: each after its length."""
    return b"".join(struct.pack(">I", len(value)) + value for value in values)
