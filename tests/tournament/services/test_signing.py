"""The site's signatures, as ``ssh-keygen`` reads them, and the validity of its keys."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from engines.evidence.signatures import SIGNERS_PATH, Signature, check_signature
from tests.support.ssh_keygen import put_in_path
from tournament.models import SigningKey
from tournament.services import signing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_path(tmp_path, monkeypatch)


def verdict(message: bytes, signature: bytes, *, at: datetime.datetime) -> Signature:
    signers = Client().get(SIGNERS_PATH).content.decode()
    return check_signature(message, signature, signers, at=at)[0]


def test_what_the_site_signs_is_verified_with_its_published_keys() -> None:
    signature = signing.sign(b"a list of files")
    assert signature == signing.sign(b"a list of files")
    assert verdict(b"a list of files", signature, at=timezone.now()) is Signature.GOOD
    assert verdict(b"another list", signature, at=timezone.now()) is Signature.BAD
    assert SigningKey.objects.count() == 1


def test_a_new_secret_key_ends_the_old_one_s_validity_and_not_its_signatures(settings: object) -> None:
    began = timezone.now()
    old = signing.sign(b"old")
    SigningKey.objects.update(since=began - datetime.timedelta(days=2))
    settings.SECRET_KEY = "another secret key"  # type: ignore[attr-defined]
    new = signing.sign(b"new")
    yesterday, tomorrow = (began + datetime.timedelta(days=days) for days in (-1, 1))
    assert verdict(b"old", old, at=yesterday) is Signature.GOOD
    assert verdict(b"old", old, at=tomorrow) is Signature.BAD
    assert verdict(b"new", new, at=tomorrow) is Signature.GOOD
    assert verdict(b"new", new, at=yesterday) is Signature.GOOD, "of an event before the key"


def test_a_secret_key_that_comes_back_is_valid_again(settings: object) -> None:
    first = settings.SECRET_KEY  # type: ignore[attr-defined]
    signing.sign(b"one")
    settings.SECRET_KEY = "another secret key"  # type: ignore[attr-defined]
    signing.sign(b"two")
    settings.SECRET_KEY = first  # type: ignore[attr-defined]
    signature = signing.sign(b"three")
    assert verdict(b"three", signature, at=timezone.now()) is Signature.GOOD
    assert SigningKey.objects.filter(until=None).count() == 1
