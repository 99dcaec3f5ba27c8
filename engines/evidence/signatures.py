"""Checks the signature of a file by the site that published it, with ``ssh-keygen`` where that is installed.

The signature and the list of keys are OpenSSH's: ``ssh-keygen(1)``, SIGNATURES and ALLOWED SIGNERS.
"""

from __future__ import annotations

import datetime
import shutil
import subprocess
import tempfile
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

NAMESPACE: Final = "duarena"
"""What the signatures are for: a signature of the same key for something else is refused."""
VALIDITY: Final = "%Y%m%d%H%M%SZ"
"""The form of moments, in UTC, in a list of keys."""
SIGNERS_PATH: Final = "/.well-known/duarena/allowed_signers"
"""Where a site has the list of its keys."""
_TIMEOUT_SECONDS: Final = 30.0
_NO_ACCOUNT: Final = b"No user exists for uid"


class Signature(Enum):
    """What is known of a signature."""

    GOOD = "good"
    """Of these bytes, by a key of the list that was valid then."""
    BAD = "bad"
    UNKNOWN = "unknown"
    """``ssh-keygen`` does not run here, or is too old."""


def host_of(site: str) -> str:
    """The name of a site in its list of keys, by its address."""
    try:
        return urlsplit(site).hostname or "localhost"
    except ValueError:  # a bracket that is not closed
        return "localhost"


def check_signature(
    message: bytes, signature: bytes, signers: str, *, at: datetime.datetime
) -> tuple[Signature, str]:
    """The verdict, and who signed or what is wrong. ``at`` is when it was signed, with its time zone."""
    program = shutil.which("ssh-keygen")
    if program is None:
        return Signature.UNKNOWN, "ssh-keygen is not installed here"
    try:
        verdict, said = _ask(program, message, signature, signers, at)
        if verdict is Signature.BAD and _ask(program, b"", *_KNOWN)[0] is not Signature.GOOD:
            return Signature.UNKNOWN, "the ssh-keygen of this machine is too old, or does not work"
    except subprocess.TimeoutExpired:
        return Signature.UNKNOWN, f"ssh-keygen does not answer within {_TIMEOUT_SECONDS:.0f} s"
    except OSError as error:
        return Signature.UNKNOWN, f"ssh-keygen does not run here: {error.strerror}"
    return verdict, said


def _ask(
    program: str, message: bytes, signature: bytes, signers: str, at: datetime.datetime
) -> tuple[Signature, str]:
    """What ``ssh-keygen`` says; raises ``OSError`` and ``TimeoutExpired`` where it does not run."""
    with tempfile.TemporaryDirectory() as name:
        keys, signed = Path(name, "allowed_signers"), Path(name, "signature")
        keys.write_text(signers)
        signed.write_bytes(signature)
        moment = f"-Overify-time={at.astimezone(datetime.UTC):{VALIDITY}}"
        given = (program, "-Y", "find-principals", "-f", str(keys), "-s", str(signed), moment)
        found = _run(given, b"")
        if _NO_ACCOUNT in found.stderr:
            return Signature.UNKNOWN, "ssh-keygen runs only for a user with an account on this machine"
        if found.returncode != 0:
            return Signature.BAD, "no key of the list that was valid then has signed it"
        who = found.stdout.decode(errors="replace").split("\n", 1)[0].strip()
        words = ("-Y", "verify", "-f", str(keys), "-I", who, "-n", NAMESPACE, "-s", str(signed), moment)
        run = _run((program, *words), message)
    if run.returncode == 0:
        return Signature.GOOD, who
    return Signature.BAD, run.stderr.decode(errors="replace").strip().rpartition("\n")[2]


def _run(words: tuple[str, ...], given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, input=given, capture_output=True, check=False, timeout=_TIMEOUT_SECONDS)


_KNOWN: Final = (
    b"""-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgZPf3DANeJCIdfNBSU79TTyRjyk
9QE9jJ9IDQxAcAKk4AAAAHZHVhcmVuYQAAAAAAAAAGc2hhNTEyAAAAUwAAAAtzc2gtZWQy
NTUxOQAAAEAr/QQH3KmORvcZ+faV7ukETrA7W+9WxnpE9CZ6pbnZXehgPcoEW7+V0RcbQQ
HedTxzZ9M/vuHpia3rI9hJdj8M
-----END SSH SIGNATURE-----
""",
    f"""known.example namespaces="{NAMESPACE}",valid-after="20260101000000Z" ssh-ed25519 \
AAAAC3NzaC1lZDI1NTE5AAAAIGT39wwDXiQiHXzQUlO/U08kY8pPUBPYyfSA0MQHACpO
""",
    datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC),
)
"""A good signature of nothing, its key and its moment: an old ``ssh-keygen`` refuses this one too."""
