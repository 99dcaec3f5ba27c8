"""``python -m workers match``: a match of many games between engines of this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from engines.console import complain, run_command
from workers.match.book import make_books
from workers.match.crew import Crew, choose_cores
from workers.match.diary import Diary
from workers.match.director import Director
from workers.match.dryrun import describe_match
from workers.match.entrants import usual_store
from workers.match.flags import help_text, read_options
from workers.match.ledger import Ledger
from workers.match.options import MatchOptions
from workers.match.recordfile import RecordFile
from workers.match.reports import Ending, EventReport, LineReport, Report, ScreenReport
from workers.match.state import check_state, write_state
from workers.match.walls import find_walls
from workers.match.words import MatchError, OptionError

ALL_PLAYED, GAMES_MISSING, STOPPED = 0, 1, 3
"""Exit codes, beside 2 for bad input: nothing was played then."""
HELP = {"-h", "-help", "--help"}


def main(arguments: Sequence[str]) -> int:
    return run_command(lambda: _run(arguments), MatchError)


def _run(arguments: Sequence[str]) -> int:
    if HELP & set(arguments):
        print(help_text())
        return 0
    options = read_options(arguments, usual_store())
    if options.dry_run:
        sys.stdout.writelines(f"{line}\n" for line in describe_match(options))
        return 0
    return _play(options)


def _play(options: MatchOptions) -> int:
    books = make_books(options.terms)
    walls = find_walls(options.terms) if options.sandbox else ""
    diary = Diary(options.records, options.log)
    ledger = Ledger(options.terms, options.withdraw)
    file = RecordFile(options.records)
    try:
        _go_on(options, ledger, file)
        crew = Crew(usual_store(), choose_cores(options.concurrency, pin=options.pin), walls)
        director = Director(options, ledger, books, crew, file, _report(options), diary)
        try:
            ending = director.run()
        except MatchError as error:  # of a file: what it holds by now stays
            complain(f"{error}; -resume goes on once it can be")
            return STOPPED
    finally:
        file.close()
    if ending in (Ending.STOPPED, Ending.FAULT):
        return STOPPED
    return GAMES_MISSING if ledger.left_out or ledger.halted else ALL_PLAYED


def _go_on(options: MatchOptions, ledger: Ledger, file: RecordFile) -> None:
    """Take over what the record file holds; raises ``OptionError`` when that was not asked for."""
    if not options.resume and not file.is_empty:
        raise OptionError(f"-records {options.records}: it holds games already; -resume goes on with them")
    if options.resume:
        check_state(options.records, options.terms)
        ledger.restore(file.read_results())
    write_state(options.records, options.terms)


def _report(options: MatchOptions) -> Report:
    if options.json:
        return EventReport()
    return ScreenReport() if sys.stdout.isatty() else LineReport()
