"""The commands of ``python -m engines``: rules, boards and records from a shell."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engines.client.arguments import add_commands
from engines.console import complain, run_command
from engines.rules.base import Outcome, Position, RulesError
from engines.rules.history import History
from engines.rules.registry import GAMES, Variant, find_game

if TYPE_CHECKING:  # the other commands start faster without
    from engines.records import Record, RecordError

DISAGREES = 1
EVIDENCE_CODES = "0 all agrees; 1 something differs; 2 it cannot be read; 3 something was not checked"
MAX_PERFT_DEPTH = 100
MAX_BENCH_SECONDS = 3600

Command = Callable[[Namespace], int]
AddCommand = Callable[..., ArgumentParser]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parsed = _parse(arguments)
    return run_command(lambda: int(parsed.command(parsed)), RulesError)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    """Like ``parse_args``, which in Python 3.11 does not accept the MOVEs after ``--fen``."""
    parser = _build_parser()
    parsed, rest = parser.parse_known_args(arguments)
    if rest and (parsed.command is not _play or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        parsed.moves += rest
    return parsed


def _build_parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python3 -m engines",
        description="Show rules, boards and records; upload and fetch bots; ask a site.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str, command: Command, description: str, *, on: Sequence[ArgumentParser] = ()
    ) -> ArgumentParser:
        one = commands.add_parser(name, help=description, parents=on)
        one.set_defaults(command=command)
        return one

    game = ArgumentParser(add_help=False)
    game.add_argument("game", metavar="GAME", help="a ladder, as 'games' prints them")
    _add_rules(add, game)
    _add_records(add, game)
    site = ArgumentParser(add_help=False)
    site.add_argument("--site", help="the site's address (default: $DUARENA_SITE)")
    getting = add("get", _get, "download a published bot of a site and unpack it", on=[site])
    getting.add_argument("bot", metavar="NAME[@VERSION]", help="the bot; without a version its newest")
    getting.add_argument("--folder", type=Path, help="where to unpack it (default: by its name and version)")
    add_commands(commands, site)
    return parser


def _add_rules(add: AddCommand, game: ArgumentParser) -> None:
    position = ArgumentParser(add_help=False, parents=[game])
    position.add_argument("--fen", metavar="F", help="a position string, as one argument, to start from")
    add("rules", _rules, "print a game's rules page, with its examples", on=[game])
    tasks = add("tasks", _tasks, "find tasks for beginners in records, and print them, one a line", on=[game])
    tasks.add_argument("records", metavar="RECORDS.pgn")
    tasks.add_argument("--seed", metavar="N", type=int, default=1, help="which tasks are drawn (default 1)")
    add("positions", _positions, "print hard positions with their perft counts, one a line", on=[game])
    perft = add("perft", _perft, "count the sequences of DEPTH moves", on=[position])
    perft.add_argument("depth", metavar="DEPTH", type=_depth)
    add("moves", _moves, "print the legal moves, sorted, and the result", on=[position])
    result = "print the position after MOVEs, and the result under the match rules"
    play = add("play", _play, result, on=[position])
    play.add_argument("moves", metavar="MOVE", nargs="*")
    show = add("show", _show, "draw the board", on=[position])
    show.add_argument("--svg", action="store_true", help="as an SVG document instead of text")
    bench = add("bench", _bench, "measure the speed of the rules, and show in which form they run")
    bench.add_argument("games", metavar="GAME", nargs="*", help="only these ladders")
    bench.add_argument(
        "--seconds", metavar="S", type=_seconds, default=1.0, help="time for each figure (default 1)"
    )


def _add_records(add: AddCommand, game: ArgumentParser) -> None:
    files = ArgumentParser(add_help=False)
    files.add_argument("files", metavar="FILE.pgn", nargs="+")
    add("verify", _verify, "replay records and name every disagreement", on=[files])
    evidence = add("evidence", _evidence, "recompute what a site publishes of a tournament or a ladder")
    evidence.add_argument("file", metavar="FILE", help="evidence.zip, its folder, or its address")
    evidence.add_argument("--previous", metavar="FILE", help="the revision before, or another that you have")
    evidence.add_argument("--signers", metavar="FILE", type=Path, help="the keys of the site")
    evidence.add_argument("--json", action="store_true", help="print one object of JSON")
    evidence.epilog = f"exit codes: {EVIDENCE_CODES}"
    merging = add("merge", _merge, "estimate strengths from the evidence of one ladder on several sites")
    merging.add_argument("archives", metavar="FILE", nargs="+", help="as for evidence")
    merging.add_argument("--signers", metavar="FILE", type=Path, help="the keys of the sites")
    result = "print openings whose results in records are near even, for matches"
    book = add("book", _book, result, on=[game, files])
    number = partial(_number, most=1_000_000)
    book.add_argument(
        "--plies", metavar="N", type=partial(_number, most=40), default=4, help="of each opening (default 4)"
    )
    book.add_argument(
        "--games", metavar="N", type=number, default=10, help="that reached it at least (default 10)"
    )
    book.add_argument(
        "--balance",
        metavar="PERCENT",
        type=partial(_number, most=50),
        default=10,
        help="by which White's score may be off from 50 (default 10)",
    )
    book.add_argument("--most", metavar="N", type=number, default=100, help="openings (default 100)")


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= MAX_PERFT_DEPTH):
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to {MAX_PERFT_DEPTH}")
    return int(text)


def _number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
    return int(text)


def _seconds(text: str, most: int = MAX_BENCH_SECONDS) -> float:
    seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else 0.0
    if not 0 < seconds <= most:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds up to {most}")
    return seconds


def _start(parsed: Namespace) -> tuple[Variant, Position]:
    game = find_game(parsed.game)
    return game, game.position.initial() if parsed.fen is None else game.position.parse(parsed.fen)


def _print_result(outcome: Outcome) -> None:
    print(f"result: {outcome.result} {outcome.reason}".rstrip())


def _rules(parsed: Namespace) -> int:
    from engines.examples import format_examples

    game = find_game(parsed.game)
    print(f"{game.rules.strip()}\n\n{format_examples(game.code)}")
    return 0


def _positions(parsed: Namespace) -> int:
    from engines.positions import read_hard_positions

    for position in read_hard_positions(find_game(parsed.game).code):
        print(position)
    return 0


def _tasks(parsed: Namespace) -> int:
    from engines.records import RecordError
    from engines.tasks.finder import find_tasks

    game, records = find_game(parsed.game), []
    try:
        for record in _read_file(parsed.records):
            if isinstance(record, RecordError):
                return complain(str(record))
            records.append(record)
    except _UnreadableFile as error:
        return complain(str(error))
    for task in find_tasks(game, records, parsed.seed):
        print(task)
    return 0


def _perft(parsed: Namespace) -> int:
    from engines.counting import perft

    _, position = _start(parsed)
    print(perft(position, parsed.depth))
    return 0


def _moves(parsed: Namespace) -> int:
    _, position = _start(parsed)
    for token in sorted(position.legal_moves()):  # tokens are ASCII, so this is bytewise order
        print(token)
    _print_result(position.outcome())
    return 0


def _play(parsed: Namespace) -> int:
    game, position = _start(parsed)
    history = History(game, position)
    for token in parsed.moves:
        history.play(token)
    print(history.position)
    _print_result(history.outcome)
    return 0


def _show(parsed: Namespace) -> int:
    _, position = _start(parsed)
    if parsed.svg:
        from engines import svg

        print(svg.draw(position, style=svg.STYLE).rstrip("\n"))
    else:
        from engines import text

        print(text.draw(position).rstrip("\n"))
    return 0


def _bench(parsed: Namespace) -> int:
    from engines.bench import run_benchmark

    games = [find_game(code) for code in parsed.games] or list(GAMES.values())
    for line in run_benchmark(games, parsed.seconds):
        print(line, flush=True)
    return 0


def _get(parsed: Namespace) -> int:
    from engines.get import get

    return get(parsed.bot, site=parsed.site, folder=parsed.folder)


def _verify(parsed: Namespace) -> int:
    """Checks every file, also after one that cannot be read or has disagreements."""
    games = bad = empty = 0
    code = 0
    for name in parsed.files:
        before = games
        try:
            for complaints in _find_complaints(name):
                games += 1
                bad += bool(complaints)
                if complaints:
                    print("\n".join(complaints))
        except _UnreadableFile as error:
            code = complain(str(error))
        else:
            if games == before:
                print(f"{name}: the file has no game")
                empty += 1
    if games or not code:
        print(f"{games} {'game' if games == 1 else 'games'}, {bad or 'none'} with disagreements")
    return code or (DISAGREES if bad or empty else 0)


def _evidence(parsed: Namespace) -> int:
    from engines.evidence.command import run

    return run(parsed.file, parsed.previous, parsed.signers, as_json=parsed.json)


def _merge(parsed: Namespace) -> int:
    from engines.evidence.merging import run

    return run(parsed.archives, parsed.signers)


def _book(parsed: Namespace) -> int:
    """Records that cannot be read are named and left out."""
    from engines.book import choose_balanced, count_openings, format_book
    from engines.records import RecordError

    game, code = find_game(parsed.game), 0

    def records() -> Iterator[Record]:
        nonlocal code
        for name in parsed.files:
            try:
                for record in _read_file(name):
                    if isinstance(record, RecordError):
                        code = complain(str(record))
                    else:
                        yield record
            except _UnreadableFile as error:
                code = complain(str(error))

    found = count_openings(game, records(), parsed.plies)
    chosen = choose_balanced(found, parsed.games, parsed.balance, parsed.most)
    if not chosen:
        print(f"no opening of {parsed.plies} plies is near even in {parsed.games} games", file=sys.stderr)
        return code or DISAGREES
    print(format_book(game, chosen), end="")
    return code


class _UnreadableFile(Exception):
    """A file cannot be opened or read to its end; distinct from an ``OSError`` of the output."""


def _find_complaints(name: str) -> Iterator[list[str]]:
    """The disagreements of each game of a file, one a line; also a ``GameId`` that occurs again."""
    from engines.records import RecordError, find_disagreements

    first_games: dict[str, int] = {}
    for record in _read_file(name):
        if isinstance(record, RecordError):
            yield [str(record)]
            continue
        assert record.source is not None
        source = record.source
        complaints = [f"{source.at(wrong.line)}: {wrong.sentence}" for wrong in find_disagreements(record)]
        identifier = record.header("GameId")
        first = first_games.setdefault(identifier, source.number) if identifier else source.number
        if first != source.number:
            complaints.append(f"{source.at()}: GameId {identifier!r} is that of game {first} too")
        yield complaints


def _read_file(name: str) -> Iterator[Record | RecordError]:
    """The games of a file; raises ``_UnreadableFile``."""
    from engines.files import open_text
    from engines.records import read_records

    try:
        # Bytes that are not UTF-8 appear as \xff in the message.
        with open_text(Path(name)) as lines:
            yield from read_records(lines, name)
    except OSError as error:
        raise _UnreadableFile(f"cannot read {name!r}: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
