"""The output of ``-dry-run``: the match's options as a TOML file, and its first games."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice

from workers.match.book import Book, make_books
from workers.match.ledger import Ledger
from workers.match.options.options import Entrant, Format, MatchOptions, MatchTerms
from workers.match.plan import PlannedPair

SHOWN_PAIRS = 10


def describe_match(options: MatchOptions) -> Iterator[str]:
    """Lines of TOML with the first games as comments; with ``-json``, every game as a JSON object a line."""
    terms = options.terms
    books, ledger = make_books(terms), Ledger(terms)
    planned = iter(ledger.next_pair, None)
    if options.json:
        for pair in planned:
            yield from _game_values(terms, books, pair)
        return
    yield from _toml(options)
    yield f"# {ledger.total} games:"
    for pair in islice(planned, SHOWN_PAIRS):
        for game in pair.games:
            white, black = terms.entrants[pair.white_of(game)], terms.entrants[pair.black_of(game)]
            start = books[pair.ladder].start(pair.opening)
            where = " ".join(filter(None, (start.fen, *start.moves)))
            yield f"#   {game.key}  {white.name} - {black.name}  {where}".rstrip()


def _game_values(terms: MatchTerms, books: dict[str, Book], pair: PlannedPair) -> Iterator[str]:
    start = books[pair.ladder].start(pair.opening)
    for game in pair.games:
        values = {
            "id": game.key,
            "game": pair.ladder,
            "white": terms.entrants[pair.white_of(game)].name,
            "black": terms.entrants[pair.black_of(game)].name,
            "fen": start.fen,
            "opening": start.moves,
        }
        yield json.dumps(values, ensure_ascii=False)


def _toml(options: MatchOptions) -> Iterator[str]:
    """All options, including defaults; options that are off are left out."""
    for key, value in _simple_values(options).items():
        if value is not None:
            yield f"{key} = {_value(value)}"
    for title, values in _tables(options.terms):
        yield from _table(title, values)
    for entrant in options.terms.entrants:
        yield from _engine(entrant)
    yield ""


def _simple_values(options: MatchOptions) -> dict[str, object]:
    terms = options.terms
    return {
        "tournament": terms.format,
        "game": terms.ladders,
        "tc": terms.time_control,
        "rounds": None if terms.format is Format.KNOCKOUT else terms.rounds,
        "games": terms.games,
        "margin": terms.margin_ms,
        "plylimit": terms.ply_limit,
        "noswap": None if terms.swaps else True,
        "reverse": terms.reverse or None,
        "seed": terms.seed,
        "concurrency": options.concurrency,
        "pin": options.pin,
        "sandbox": options.sandbox,
        "recover": options.recover,
        "cpus": ",".join(map(str, options.cpus)) or None,
        "strict": options.strict or None,
        "withdraw": options.withdraw or None,
        "wait": options.wait or None,
        "ratinginterval": options.ratinginterval or None,
        "records": str(options.records),
        "log": None if options.log is None else str(options.log),
        "event": options.event,
        "site": options.site or None,
        "openings": None if terms.openings.file is not None else f"random:{terms.openings.plies}",
    }


def _tables(terms: MatchTerms) -> Iterator[tuple[str, dict[str, object]]]:
    if terms.openings.file is not None:
        book = terms.openings
        yield "[openings]", {"file": str(book.file), "order": book.order, "start": book.start}
    if (test := terms.sprt) is not None:
        risks = {"alpha": test.alpha, "beta": test.beta}
        yield "[sprt]", {"elo0": test.elo0, "elo1": test.elo1, **risks, "model": test.model}
    if (draw := terms.draw) is not None:
        yield "[draw]", {"movenumber": draw.move_number, "movecount": draw.moves, "score": draw.score}
    if (resign := terms.resign) is not None:
        yield "[resign]", {"movecount": resign.moves, "score": resign.score, "twosided": resign.two_sided}


def _engine(entrant: Entrant) -> Iterator[str]:
    spec = entrant.spec
    yield from _table(
        "[[engine]]",
        {
            "name": entrant.name,
            "cmd": shlex.quote(entrant.given_command[0]),
            "arg": list(entrant.given_command[1:]),
            "dir": spec.directory,
            "version": spec.version,
            "tc": spec.time_control,
            "timemargin": entrant.margin_ms,
            "startup": entrant.startup_seconds,
            "restart": entrant.restart,
        },
    )
    if spec.options:
        yield from _table("[engine.option]", dict(spec.options))


def _table(title: str, values: Mapping[str, object]) -> Iterator[str]:
    yield ""
    yield title
    for key, value in values.items():
        if value not in (None, "", []):
            yield f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else _value(key)


def _value(value: object) -> str:
    """Text, numbers, booleans and lists are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False)
