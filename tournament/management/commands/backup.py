"""Write a backup of the site."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from engines.release import RELEASE
from tournament.embedded.console import Console
from tournament.services.accounts.acts import BACKUP, record_act
from tournament.services.backups import BackupError
from tournament.services.backups.archive import write_archive, write_backup
from tournament.sites import INTERRUPTED


class Command(BaseCommand):
    help = (
        "Write the site's database, bundles and secret key into the zip archive FILE, also while games are"
        " played. `manage.py restore FILE` makes a site of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="- is the standard output")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        path = Path(file).resolve()
        if not path.parent.is_dir():
            raise CommandError(f"no backup was written: there is no folder {path.parent}")
        console = Console(self.stderr, quiet=not options["verbosity"])  # type: ignore[arg-type]

        def show(progress: str) -> None:
            console.progress(f"backup: {progress}")

        try:
            if file == "-":
                write_archive(sys.stdout.buffer, show)
            else:
                write_backup(path, show)
            console.end_progress()
        except KeyboardInterrupt:
            raise CommandError("interrupted: no backup was written", returncode=INTERRUPTED) from None
        except (BackupError, OSError, Error) as error:
            raise CommandError(f"no backup was written: {str(error).strip()}") from None
        if file != "-":
            self.stdout.write(f"{path}: {path.stat().st_size:,} bytes, release {RELEASE}")
        try:
            record_act(None, "wrote a backup", f"file {path.name}", command=BACKUP)
        except Error as error:
            raise CommandError(f"the backup could not be noted for /staff/: {error}") from None
