"""``python -m workers match``: plays a match between engines on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing

from engines.console import BAD_INPUT, complain, discard_output, run_command
from engines.release import RELEASE
from workers.commands.sandboxes import find_sandbox_level
from workers.cores import count_cores
from workers.engine.fair_clock import find_clock_method
from workers.match.book import make_books
from workers.match.director import Director
from workers.match.game_logs import GameLogs
from workers.match.ledger import Ledger
from workers.match.options.dryrun import describe_match
from workers.match.options.entrants import usual_store
from workers.match.options.flags import help_text, read_options
from workers.match.options.options import MatchError, MatchOptionError, MatchOptions
from workers.match.recordfile import RecordFile, check_state, write_state
from workers.match.reports import EventReport, LineReport, MatchEnding, MatchReport, ScreenReport
from workers.match.slots.messages import SlotSetup
from workers.match.slots.pool import SlotPool, choose_cores
from workers.sandbox.policy import policy_for_level
from workers.strays import adopting_orphans

ALL_PLAYED, GAMES_MISSING, STOPPED = 0, 1, 3
"""Exit codes; 2 is for bad input, and then nothing was played."""
HELP = {"-h", "-help", "--help"}


def main(arguments: Sequence[str]) -> int:
    return run_command(lambda: _run(arguments), MatchError)


def _run(arguments: Sequence[str]) -> int:
    if HELP & set(arguments):
        print(help_text())
        return 0
    if {"-version", "--version"} & set(arguments[:1]):
        print(f"Duarena {RELEASE}")
        return 0
    return play_match(read_options(arguments, usual_store()))


def play_match(options: MatchOptions) -> int:
    """Play a match and print its reports, or describe a dry run; returns the exit code."""
    if options.dry_run:
        sys.stdout.writelines(f"{line}\n" for line in describe_match(options))
        return ALL_PLAYED
    _warn_of_few_cores(options.concurrency)
    books = make_books(options.terms)
    sandbox_level = find_sandbox_level(options.terms.entrants, is_asked=options.sandbox)
    game_logs = GameLogs(options.records, options.log)
    ledger = Ledger(options.terms, options.withdraw)
    with closing(RecordFile(options.records)) as file:
        _restore(options, ledger, file)
        cores = choose_cores(options.concurrency, pin=options.pin, cpus=options.cpus)
        setup = SlotSetup(options, usual_store(), sandbox_level=sandbox_level)
        sandbox = policy_for_level(sandbox_level, is_for_all=options.sandbox).sandbox
        clock = find_clock_method(sandbox, is_pinned=None not in cores).sentence
        pool, report = SlotPool(setup, cores), _report(options, ledger)
        try:
            with adopting_orphans():
                ending = Director(options, ledger, books, pool, file, report, game_logs, clock).run()
        except MatchError as error:  # a file cannot be written; its content so far stays
            complain(f"{error}; continue with -resume when it can be")
            return STOPPED
        except BrokenPipeError:  # nobody reads the output, as with | head
            discard_output()
            return STOPPED
    if ending is MatchEnding.REFUSED:
        return BAD_INPUT
    if ending in (MatchEnding.STOPPED, MatchEnding.FAULT):
        return STOPPED
    return GAMES_MISSING if ledger.left_out or ledger.halted else ALL_PLAYED


def _warn_of_few_cores(games: int) -> None:
    cores = count_cores()
    if games > cores:
        there = "there is 1 core" if cores == 1 else f"there are {cores} cores"
        print(
            f"warning: -concurrency {games}: {there}; more games at a time take processor time from each "
            "other, and clocks are unfair",
            file=sys.stderr,
        )


def _restore(options: MatchOptions, ledger: Ledger, file: RecordFile) -> None:
    """Restore the games of the record file; raises ``MatchOptionError`` if it has any without ``-resume``."""
    if not options.resume and not file.is_empty:
        raise MatchOptionError(
            f"-records {options.records}: the file already has games; continue them with -resume"
        )
    if options.resume:
        check_state(options.records, options.terms)
        ledger.restore(file.read_results())
    write_state(options.records, options.terms)


def _report(options: MatchOptions, ledger: Ledger) -> MatchReport:
    if options.json:
        return EventReport(ledger)
    kind = ScreenReport if sys.stdout.isatty() else LineReport
    report = kind(ledger, options.concurrency)
    report.every = options.ratinginterval
    return report
