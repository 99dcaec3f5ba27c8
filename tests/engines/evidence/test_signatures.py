"""Signatures are checked by ``ssh-keygen``, with the keys and moments of a list."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.evidence.signatures import NAMESPACE, Signature, check_signature, host_of
from tests.support.ssh_keygen import put_in_path

NOW = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
Signer = Callable[[bytes], bytes]


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A key made by OpenSSH itself."""
    put_in_path(tmp_path, monkeypatch)
    path = tmp_path / "key"
    words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path)
    subprocess.run(words, check=True)
    return path


def signed(key: Path, message: bytes, namespace: str = NAMESPACE) -> bytes:
    words = ("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace)
    return subprocess.run(words, input=message, capture_output=True, check=True).stdout


def listed(key: Path, limits: str = f'namespaces="{NAMESPACE}"') -> str:
    return f"one.example {limits} {key.with_suffix('.pub').read_text()}"


def test_a_good_signature_names_who_signed(key: Path) -> None:
    signature = signed(key, b"text")
    assert check_signature(b"text", signature, listed(key), at=NOW) == (Signature.GOOD, "one.example")


def test_other_bytes_keys_purposes_and_moments_are_refused(key: Path) -> None:
    signature, keys = signed(key, b"text"), listed(key)

    def verdict(message: bytes, signature: bytes, signers: str) -> Signature:
        return check_signature(message, signature, signers, at=NOW)[0]

    assert verdict(b"texT", signature, keys) is Signature.BAD
    assert verdict(b"text", signature, "") is Signature.BAD
    assert verdict(b"text", b"no signature", keys) is Signature.BAD
    assert verdict(b"text", signed(key, b"text", "file"), keys) is Signature.BAD
    for limits in ('valid-after="20261130Z"', 'valid-before="20261129110000Z"'):
        assert verdict(b"text", signature, listed(key, limits)) is Signature.BAD
    assert verdict(b"text", signature, listed(key, 'valid-before="20261129130000Z"')) is Signature.GOOD


def test_a_site_is_named_by_its_host() -> None:
    sites = ["https://one.example:8000/x", "http://127.0.0.1", "http://[::1", "one.example", ""]
    assert [host_of(site) for site in sites] == ["one.example", "127.0.0.1", *["localhost"] * 3]


def test_without_the_program_nothing_is_known(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signature = signed(key, b"text")
    monkeypatch.setenv("PATH", "/nowhere")
    verdict, words = check_signature(b"text", signature, listed(key), at=NOW)
    assert (verdict, words) == (Signature.UNKNOWN, "ssh-keygen is not installed here")


@pytest.mark.parametrize(
    ("script", "seconds", "words"),
    [
        ("echo unknown option -- Y >&2; exit 1", 30, "the ssh-keygen of this machine is too old"),
        ("kill -9 $$", 30, "the ssh-keygen of this machine is too old, or does not work"),
        ("exec sleep 10", 0.1, "ssh-keygen does not answer within "),
    ],
)
def test_a_program_that_is_old_or_hangs_accuses_nobody(
    script: str, seconds: float, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssh-keygen"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr("engines.evidence.signatures._TIMEOUT_SECONDS", seconds)
    verdict, said = check_signature(b"text", b"signature", "keys", at=NOW)
    assert verdict is Signature.UNKNOWN
    assert said.startswith(words)
