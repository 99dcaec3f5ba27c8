"""Make a site of a backup."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from tournament.embedded import StartError
from tournament.embedded.data_folder import claim_data_folder
from tournament.embedded.processes.lock import instance_lock
from tournament.known_database import note_database
from tournament.services.backups import RESTORING, BackupError
from tournament.services.backups.restoring import restore_backup


class Command(BaseCommand):
    help = (
        "Make a site of a backup, in the empty data folder DUARENA_DATA, with SQLite or the empty database"
        " of DATABASE_URL, whichever database the backup is of."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what `manage.py backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # a database has hashes of passwords
        try:
            with instance_lock(settings.DATA):
                about = restore_backup(options["file"].resolve())
                claim_data_folder(settings.DATA)
                note_database(settings.DATA, connection.vendor)
        except (BackupError, StartError, OSError, Error) as error:
            is_begun = (settings.DATA / RESTORING).exists()
            state = "the restore is not complete" if is_begun else "nothing was restored"
            raise CommandError(f"{state}: {str(error).strip()}") from None
        self.stdout.write(f"restored the site of {about.created}, release {about.release}: {settings.DATA}")
