"""Annul recorded games, or take annulments back."""

from __future__ import annotations

import datetime
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engines.visible import visible
from tournament.models import Game, WorkerName
from tournament.models.games import MAX_REASON
from tournament.services.accounts.acts import record_act
from tournament.services.annulments import Selection, annul, count_again

COMMAND = "manage.py annul"


class Command(BaseCommand):
    help = (
        "Annul one recorded game, or all games of a worker in a period. Their records stay published; they"
        " count in no rating and no table, and are not played again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--game", metavar="ID", help="the game's number, or its record's GameId")
        which.add_argument("--worker", metavar="NAME", help="the name of a worker, as its page shows it")
        parser.add_argument("--since", type=_time, metavar="TIME", help="games that ended from then on (UTC)")
        parser.add_argument("--until", type=_time, metavar="TIME", help="games that ended before (UTC)")
        parser.add_argument("--reason", default="", help="one public sentence; needed to annul")
        parser.add_argument("--take-back", action="store_true", help="let annulled games count again")
        parser.add_argument("--preview", action="store_true", help="change nothing: print how many games")

    def handle(self, *args: Any, **options: Any) -> None:
        selection = _selection(options)
        back: bool = options["take_back"]
        games = (selection.to_count_again() if back else selection.to_annul()).count()
        what = "would count again" if back else "would be annulled"
        if options["preview"]:
            self.stdout.write(f"{games} games {what}: {selection}")
            return
        reason = visible(options["reason"], MAX_REASON)
        if not (reason or back):
            raise CommandError("--reason is missing: say why the games are annulled")
        deed = f"took the annulment of {games} games back" if back else f"annulled {games} games: {reason}"
        path = selection.game.get_absolute_url() if selection.game else ""
        if games:
            record_act(None, deed, str(selection), path, command=COMMAND)
        now = timezone.now()
        done = count_again(selection.games(), now) if back else annul(selection.games(), reason, now)
        self.stdout.write(f"{done} games {'count again' if back else 'annulled'}: {selection}")
        if done:
            self.stdout.write("The record keeper rebuilds the ratings; or run manage.py rebuild_ratings.")


def _selection(options: dict[str, Any]) -> Selection:
    if (name := options["worker"]) is not None:
        worker = WorkerName.objects.filter(name=name).first()
        if worker is None:
            raise CommandError(f"no worker {name!r} has recorded a game")
        return Selection(None, worker, options["since"], options["until"])
    if options["since"] or options["until"]:
        raise CommandError("--since and --until need --worker")
    wanted: str = options["game"]
    known = Game.objects.filter(pk=int(wanted)) if _is_number(wanted) else Game.objects.filter(key=wanted)
    game = known.filter(sequence__isnull=False).first()
    if game is None:
        raise CommandError(f"no recorded game {wanted!r}")
    return Selection(game)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _time(text: str) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=datetime.UTC)
