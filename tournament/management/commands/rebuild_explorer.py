"""Have the explorer's tables made again from the records."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engines.rules.base import UnknownGame
from engines.rules.registry import GAMES, find_game
from tournament.services.explorer.counting import begin_again


class Command(BaseCommand):
    help = "Have the record keeper count the moves of the explorer again, from the records."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--ladder", metavar="CODE", help="one ladder; default all")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            ladders = [find_game(options["ladder"]).code] if options["ladder"] else list(GAMES)
        except UnknownGame as error:
            raise CommandError(str(error)) from None
        for code in ladders:
            begin_again(code)
        self.stdout.write(f"The record keeper counts again: {', '.join(ladders)}.")
