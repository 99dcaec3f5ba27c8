"""Make a site of a backup."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from tournament.embedded.console import Console
from tournament.embedded.data_folder import claim_data_folder
from tournament.embedded.processes.lock import AlreadyRunning, instance_lock
from tournament.services.backups.archive import BackupError
from tournament.services.backups.restoring import restore_backup


class Command(BaseCommand):
    help = (
        "Make a site of a backup, in the empty data folder DUARENA_DATA and, if DATABASE_URL names"
        " PostgreSQL, in that empty database."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what `manage.py backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(self.stderr)  # type: ignore[arg-type]
        try:
            with instance_lock(settings.DATA):
                about = restore_backup(options["file"].resolve(), console.show_step)
        except (AlreadyRunning, BackupError) as error:
            raise CommandError(f"nothing was restored: {error}") from None
        except (OSError, DatabaseError) as error:
            raise CommandError(f"the restore is not complete: {str(error).strip()}") from None
        finally:
            console.end_progress()
        claim_data_folder(settings.DATA)
        self.stdout.write(f"restored the site of {about.created}, release {about.release}: {settings.DATA}")
