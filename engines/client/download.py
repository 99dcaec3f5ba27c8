"""``python -m engines download``: records of games, and logs of engines."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import BinaryIO

from engines.client.filters import filters_of
from engines.client.output import ProgressBar, print_json, print_words
from engines.client.site_client import CannotAsk, SiteClient, find_token, site_of, with_query
from engines.visible import visible_lines


def run_record(parsed: Namespace) -> int:
    """Write the record of a game."""
    site = SiteClient(site_of(parsed.site), find_token(is_needed=False))
    return _write(parsed, site.parts(f"/games/{parsed.game}.pgn"), "")


def run_records(parsed: Namespace) -> int:
    """Write the records of all games that match the filters."""
    site = SiteClient(site_of(parsed.site), find_token(is_needed=False))
    return _write(parsed, site.parts(with_query("/games/games.pgn", filters_of(parsed))), "\n")


def run_log(parsed: Namespace) -> int:
    """Write the log of an engine of the token's user."""
    site = SiteClient(site_of(parsed.site), find_token())
    return _write(parsed, site.parts(f"/api/v1/games/{parsed.game}/log/{parsed.side}/"), "")


def _write(parsed: Namespace, parts: Iterable[bytes], between: str) -> int:
    """Write the parts to the file of the options, else to standard output, on a terminal escaped.

    A file that exists is replaced when all parts are there.
    """
    if parsed.output is None:
        for number, part in enumerate(parts):
            text = part.decode("utf-8", "backslashreplace")
            if parsed.json:
                print_json({"text": text})
                continue
            text = f"{between if number else ''}{text}"
            sys.stdout.write(visible_lines(text) if sys.stdout.isatty() else text)
        return 0
    beside = parsed.output.with_name(f".{parsed.output.name}.part")
    size = 0
    try:
        with beside.open("wb") as file:
            size = _copy(parts, file, between.encode())
        beside.replace(parsed.output)
    except OSError as error:
        raise CannotAsk(f"cannot write {str(parsed.output)!r}: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)
    if parsed.json:
        print_json({"file": str(parsed.output), "bytes": size})
    else:
        print_words(f"{parsed.output} has {size} bytes")
    return 0


def _copy(parts: Iterable[bytes], file: BinaryIO, between: bytes) -> int:
    progress, size = ProgressBar(), 0
    for number, part in enumerate(parts):
        size += file.write((between if number else b"") + part)
        progress.show(f"{size // 1024} KiB", 0, 0)
    progress.clear()
    return size
