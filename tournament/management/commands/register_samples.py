"""Register the sample bots as the site's own."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engines.bundles.manifest import BundleError
from tournament.embedded.samples import register_samples


class Command(BaseCommand):
    help = "Register the current sample bots; may be repeated."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            versions = register_samples()
        except BundleError as error:
            raise CommandError(str(error)) from None
        for version in versions:
            self.stdout.write(str(version))
