"""Rebuild the ratings, from the database's games or from published records alone."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engines.records import Record, RecordError, read_headers
from engines.rules.base import UnknownGame
from engines.rules.registry import GAMES, find_game
from tournament.embedded.console import Console
from tournament.services.results.corrections import Corrections, RebuildError, read_corrections
from tournament.services.results.exact import exact_from_records, exact_from_tables
from tournament.services.results.rebuilding import Rebuilt, rebuild, rebuild_from_records
from tournament.sites import INTERRUPTED


class Command(BaseCommand):
    help = "Rebuild the ratings and report whether anything changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--ladder", metavar="CODE", help="one ladder; default all")
        parser.add_argument(
            "--from-records",
            nargs="+",
            type=Path,
            metavar="FILE",
            help="published records, each ladder's in completion sequence, instead of the database's games",
        )
        parser.add_argument(
            "--annulled",
            type=Path,
            metavar="FILE",
            help="with --from-records: the published list of annulled games, CSV or JSON",
        )
        parser.add_argument(
            "--print",
            action="store_true",
            help="change nothing: print the exact ratings of the tables, or with --from-records those"
            " computed from the records alone, without a database",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        files: list[Path] | None = options["from_records"]
        annulled: Path | None = options["annulled"]
        if annulled and not files:
            raise CommandError("--annulled belongs to --from-records: the database knows its annulled games")
        try:
            corrections = read_corrections(annulled.read_text("utf-8"), str(annulled)) if annulled else {}
            ladders = [find_game(options["ladder"]).code] if options["ladder"] else list(GAMES)
            if not options["print"]:
                self._rebuild(ladders, files, corrections, quiet=not options["verbosity"])
            elif files is None:
                for ladder in ladders:
                    self.stdout.write(str(exact_from_tables(ladder)))
            else:
                for exact in exact_from_records(ladders, _records(files), corrections):
                    self.stdout.write(str(exact))
        except KeyboardInterrupt:
            raise CommandError(
                "interrupted: rebuild the ladder that was under way again, its ratings are changed in part"
                if not options["print"]
                else "interrupted: nothing was changed",
                returncode=INTERRUPTED,
            ) from None
        except RebuildError as error:
            raise CommandError(f"{error} (--print shows the ratings without a database)") from None
        except (UnknownGame, OSError, UnicodeDecodeError) as error:
            raise CommandError(str(error)) from None

    def _rebuild(
        self, ladders: list[str], files: list[Path] | None, corrections: Corrections, *, quiet: bool
    ) -> None:
        console = Console(self.stderr, quiet=quiet)  # type: ignore[arg-type]

        def show(what: str, done: int, total: int) -> None:
            console.progress(f"{what}: {done:,}/{total:,} games rated")

        if files is None:
            rebuilt: Iterator[Rebuilt] = (rebuild(ladder, show)[0] for ladder in ladders)
        else:
            rebuilt = rebuild_from_records(ladders, _records(files), show, corrections)
        try:
            for one in rebuilt:
                console.end_progress()
                self._report(one)
        finally:
            console.end_progress()

    def _report(self, rebuilt: Rebuilt) -> None:
        changed = "changed" if rebuilt.changed else "nothing changed"
        self.stdout.write(f"{rebuilt.ladder}: {rebuilt.games} rated games, {changed}")
        for (name, number), standing in sorted(rebuilt.standings.items()):
            self.stdout.write(
                f"  {name} v{number}: mu {standing.rating.mu!r} sigma {standing.rating.sigma!r}"
            )


def _records(files: list[Path]) -> Iterator[Record | RecordError]:
    for path in files:
        with path.open(encoding="utf-8") as file:
            yield from read_headers(file, str(path))
