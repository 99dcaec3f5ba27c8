"""Reads texts, also compressed ones; writes files so that a reader sees the old content or all of the new."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TextIO

GZIP: Final = b"\x1f\x8b"
"""The first bytes of a file that is compressed with gzip."""
COMPRESSED: Final = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d"),
    b"\xfd7zXZ": ("xz", "unxz"),
    b"BZh": ("bzip2", "bunzip2"),
    b"PK\x03\x04": ("zip", "unzip"),
}
"""The first bytes of other compressed files, with the format and the command that unpacks it."""


@contextmanager
def open_text(path: Path, *, encoding: str = "utf-8", errors: str = "backslashreplace") -> Iterator[TextIO]:
    """A text to read, also from a file that is compressed with gzip.

    Raises ``OSError``, whose ``strerror`` says it, for a file that cannot be opened, for one that is
    compressed otherwise, and within the block for one that is damaged.
    """
    with path.open("rb") as file:
        beginning = file.peek(8)
        for magic, (form, command) in COMPRESSED.items():
            if beginning.startswith(magic):
                reason = f"it is compressed with {form}: unpack it first, with {command}"
                raise OSError(errno.EINVAL, reason, str(path))
        unpacked = gzip.GzipFile(fileobj=file) if beginning.startswith(GZIP) else file
        try:
            with io.TextIOWrapper(unpacked, encoding=encoding, errors=errors) as text:
                yield text
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise OSError(errno.EINVAL, "its compressed data is cut off or damaged", str(path)) from None


@contextmanager
def atomic_file(path: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file to write that replaces ``path`` at the end of the block, and is removed after an exception.

    ``mode`` is the file's permissions; None leaves them to the umask. The folder must exist. Several
    processes may write the same path: the last one that ends its block wins.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    with draft.open("xb") as file, replacing(path, draft, file):
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        yield file


@contextmanager
def replacing(path: Path, draft: Path, file: BinaryIO) -> Iterator[None]:
    """Replace ``path`` by the open file ``draft`` at the end of the block; remove that after an exception."""
    try:
        yield
        file.flush()
        os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink()
        raise
