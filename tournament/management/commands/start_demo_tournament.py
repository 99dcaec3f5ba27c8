"""Start the round robin that an empty site begins with."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tournament.models import Tournament
from tournament.services.samples import DEMO_PAIRS, DEMO_SEED, DEMO_TIME_CONTROL, start_demo
from tournament.services.tournaments import TournamentError
from workers.manifest import BundleError


class Command(BaseCommand):
    help = "Register the sample bots and start a rated round robin of them over all ladders."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pairs", type=int, default=DEMO_PAIRS)
        parser.add_argument("--time-control", default=DEMO_TIME_CONTROL)
        parser.add_argument("--seed", type=int, default=DEMO_SEED)
        parser.add_argument("--if-empty", action="store_true", help="do nothing where there are tournaments")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_empty"] and Tournament.objects.public().exists():
            return
        try:
            pk = start_demo(
                pairs=options["pairs"], time_control=options["time_control"], seed=options["seed"]
            )
        except (BundleError, TournamentError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(Tournament.objects.get(pk=pk).slug)
