"""Make a site of a backup."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from engines.release import RELEASE
from tournament.embedded import StartError
from tournament.embedded.console import Console
from tournament.embedded.data_folder import claim_data_folder
from tournament.embedded.processes.lock import instance_lock
from tournament.known_database import note_database
from tournament.services.backups import RESTORING, BackupError
from tournament.services.backups.restoring import is_later, restore_backup
from tournament.sites import INTERRUPTED


class Command(BaseCommand):
    help = (
        "Make a site of a backup, in the empty data folder DUARENA_DATA, with SQLite or the empty database"
        " of DATABASE_URL, whichever database the backup is of."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what `manage.py backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(self.stderr, quiet=not options["verbosity"])  # type: ignore[arg-type]

        def show(progress: str) -> None:
            console.progress(f"restore: {progress}")

        os.umask(0o077)  # a database has hashes of passwords
        try:
            with instance_lock(settings.DATA):
                about = restore_backup(options["file"].resolve(), show)
                claim_data_folder(settings.DATA)
                note_database(settings.DATA, connection.vendor)
        except (BackupError, StartError, OSError, Error) as error:
            raise CommandError(f"{_state()}: {str(error).strip()}") from None
        except KeyboardInterrupt:
            raise CommandError(f"interrupted: {_state()}", returncode=INTERRUPTED) from None
        finally:
            console.end_progress()
        if is_later(about.release):
            self.stderr.write(f"The backup is of a later release than this one, {RELEASE}.")
        self.stdout.write(f"restored the site of {about.created}, release {about.release}: {settings.DATA}")


def _state() -> str:
    """What there is of the new site."""
    is_begun = (settings.DATA / RESTORING).exists()
    return "the restore is not complete" if is_begun else "nothing was restored"
