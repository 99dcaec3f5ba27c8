"""Writes files atomically: a reader sees the old content or all of the new."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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
