"""The output of ``-dry-run``: the match's options as a TOML file, and its first games."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice

from workers.match.book import make_books
from workers.match.ledger import Ledger
from workers.match.options.entrants import FIELDS
from workers.match.options.flags import written_options
from workers.match.options.options import Entrant, MatchOptions

SHOWN_PAIRS = 10


def describe_match(options: MatchOptions) -> Iterator[str]:
    """Lines of TOML with the first games as comments; with ``-json``, every game as a JSON object a line."""
    books, ledger = make_books(options.terms), Ledger(options.terms)
    if not options.json:
        yield from _toml(options)
        yield f"# {ledger.total} games:"
    for pair in islice(iter(ledger.next_pair, None), None if options.json else SHOWN_PAIRS):
        start = books[pair.ladder].start(pair.opening)
        where = " ".join(filter(None, (start.fen, *start.moves)))
        for game in pair.games:
            white, black = pair.players(game)
            values = {"id": game.key, "game": pair.ladder, "white": white, "black": black, "fen": start.fen}
            if options.json:
                yield _value({**values, "opening": start.moves})
            else:
                yield f"#   {game.key}  {white} - {black}  {where}".rstrip()


def _toml(options: MatchOptions) -> Iterator[str]:
    """All options, including defaults; those without a value are left out."""
    written = written_options(options)
    for key, value in written.items():
        if not isinstance(value, dict):
            yield f"{key} = {_value(value)}"
    for key, value in written.items():
        if isinstance(value, dict):
            yield from _table(f"[{key}]", _given(value))
    for entrant in options.terms.entrants:
        yield from _engine(entrant)
    yield ""


def _engine(spec: Entrant) -> Iterator[str]:
    command, *arguments = spec.given_command
    start = {"cmd": shlex.quote(command), "arg": arguments, "dir": spec.directory, "tc": spec.time_control}
    fields = {key: getattr(spec, name) for key, (name, _) in FIELDS.items()}
    yield from _table("[[engine]]", _given(fields | start))
    if spec.options:
        yield from _table("[engine.option]", dict(spec.options))


def _table(title: str, values: Mapping[str, object]) -> Iterator[str]:
    yield ""
    yield title
    for key, value in values.items():
        yield f"{key if key.isidentifier() and key.isascii() else _value(key)} = {_value(value)}"


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """Without the keys that have no value."""
    return {key: value for key, value in values.items() if value not in (None, "", [])}


def _value(value: object) -> str:
    """Text, numbers, booleans and lists are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)
