"""Write a backup of the site, or note one that other programs wrote."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from tournament.embedded.console import Console
from tournament.services.accounts.acts import BACKUP, record_act
from tournament.services.backups.archive import BackupError
from tournament.services.backups.writing import write_backup


class Command(BaseCommand):
    help = (
        "Write the site's database, bundles and secret key into FILE, also while games are played."
        " `manage.py restore FILE` makes a site of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="compressed if it ends in .gz or .tgz")

        parser.add_argument(
            "--note",
            action="store_true",
            help="write nothing: note that other programs wrote the backup FILE",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"].resolve()
        if not options["note"]:
            self._write(file)
        record_act(
            None,
            "noted a backup" if options["note"] else "wrote a backup",
            f"file {file.name}",
            command=BACKUP,
        )

    def _write(self, file: Path) -> None:
        if not file.parent.is_dir():
            raise CommandError(f"no backup was written: there is no folder {file.parent}")
        console = Console(self.stderr)  # type: ignore[arg-type]
        try:
            size = write_backup(file, console.show_step)
        except BackupError as error:
            raise CommandError(f"no backup was written: {error}") from None
        except (OSError, DatabaseError) as error:
            raise CommandError(f"no backup was written: {str(error).strip()}") from None
        finally:
            console.end_progress()
        self.stdout.write(f"{file}: {size:,} bytes")
