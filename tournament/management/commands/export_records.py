"""Write the published records to files, one for each ladder, in completion sequence."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from engines.files import atomic_file
from engines.rules.registry import GAMES
from tournament.access import public_records


class Command(BaseCommand):
    help = "Write each ladder's records to FOLDER/<ladder>.pgn and print the paths."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="default: records/ in the data folder")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"] or settings.DATA / "records"
        folder.mkdir(parents=True, exist_ok=True)
        for ladder in GAMES:
            path = folder / f"{ladder}.pgn"
            count = _write(ladder, path)
            self.stdout.write(f"{path}: {count} games")


def _write(ladder: str, path: Path) -> int:
    """Write the file atomically; returns the number of games."""
    texts, count = public_records(ladder), 0
    with atomic_file(path) as file:
        for text in texts.values_list("text", flat=True).iterator(500):
            file.write(f"{text}\n".encode())
            count += 1
    return count
