"""The flags of a match: one table of their names, help texts, readers and fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engines.rules.base import MAX_NUMBER
from engines.rules.registry import GAMES
from workers.jobs import EngineSpec
from workers.match.options.engines import read_engines
from workers.match.options.hints import ELSEWHERE
from workers.match.options.options import Format, MatchOptions, MatchTerms, Openings
from workers.match.options.readers import (
    read_draw,
    read_form,
    read_label,
    read_ladders,
    read_openings,
    read_path,
    read_resign,
    read_sprt,
    read_switch,
    read_time_control,
    read_whole,
)
from workers.match.options.words import MatchOptionError, Setting, split_arguments
from workers.pairing.swiss import MAX_PLAYERS

MAX_ROUNDS = 1_000_000
SPRT_ROUNDS = 100_000
"""A test that is still undecided ends after this number of rounds."""
MAX_SLOTS = 1_024
MAX_MARGIN_MS = 60_000
MAX_SEED = 2**63 - 1
DEFAULT_PLIES = 8


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag; ``read`` converts a setting to the value of ``field``, a field of the terms or the options.

    Without ``read`` it may be given more than once.
    """

    name: str
    field: str
    usage: str
    purpose: str
    read: Callable[[Setting], object] | None = None


def read_options(arguments: Sequence[str], store: Path) -> MatchOptions:
    """Read the options of a command line; bundles are copied into ``store``.

    Raises ``MatchOptionError``, which names the place and quotes the text.
    """
    given: dict[str, Any] = {}
    for setting in split_arguments(arguments):
        flag = _BY_NAME.get(setting.flag)
        if flag is None:
            setting.refuse(f"unknown option; {ELSEWHERE.get(setting.flag, '-help lists all')}")
        if flag.read is None:
            given.setdefault(flag.field, []).append(setting)
        elif flag.field in given:
            setting.refuse("is given twice")
        else:
            given[flag.field] = flag.read(setting)
    if "ladders" not in given:
        raise MatchOptionError(f"-game is missing: choose from {', '.join(GAMES)}")
    found = given.pop("engines", ()), given.pop("each", ())
    engines = read_engines(*found, ladders=given["ladders"], store=store)
    given = _defaults(given, engines) | given
    terms = {field.name: given.pop(field.name) for field in fields(MatchTerms) if field.name in given}
    return MatchOptions(MatchTerms(**terms), **given)


def _defaults(given: Mapping[str, Any], engines: Sequence[EngineSpec]) -> dict[str, Any]:
    """The values that depend on others; raises ``MatchOptionError`` for values that exclude each other."""
    if len(engines) < 2:
        raise MatchOptionError(f"-engine: a match needs at least two engines, not {len(engines)}")
    own = [engine.time_control for engine in engines]
    if not all(own) and "time_control" not in given:
        raise MatchOptionError(
            "-tc is missing: give the time control, such as 10+0.1, 0.1/move or nodes=1000"
        )
    is_swiss, is_test = given.get("format") is Format.SWISS, "sprt" in given
    if is_test and len(engines) != 2:
        raise MatchOptionError(f"-sprt: a test is between two engines, not {len(engines)}")
    if is_test and is_swiss:
        raise MatchOptionError("-sprt: cannot be combined with -tournament swiss")
    if is_swiss and find_spec("networkx") is None:
        raise MatchOptionError("-tournament swiss: needs the Python package networkx (pip install networkx)")
    if is_swiss and len(engines) > MAX_PLAYERS:
        raise MatchOptionError(f"-tournament swiss: at most {MAX_PLAYERS} engines, not {len(engines)}")
    if (is_test or is_swiss) and given.get("games") == 1:
        raise MatchOptionError("-games 1: a test and a Swiss event need both colours of every opening")
    rounds = (len(engines) - 1).bit_length() if is_swiss else 1
    return {
        "engines": engines,
        "time_control": own[0],
        "rounds": SPRT_ROUNDS if is_test else rounds,
        "openings": Openings(DEFAULT_PLIES),
    }


def _ply_limit_results() -> str:
    """What the ply limit means in each game."""
    counts = {game.family: game.score_unit for game in GAMES.values() if game.score_unit}
    return "; ".join(("a draw", *(f"in {family} the {unit}s decide" for family, unit in counts.items())))


FLAGS = (
    Flag("engine", "engines", "cmd=COMMAND [KEY=VALUE…]", "an engine; keys are cmd, arg, dir, name, version, "
         "its own time by tc, st (seconds a move), nodes and depth, and option.NAME. COMMAND may be a bundle "
         "(bot.zip)"),
    Flag("each", "each", "KEY=VALUE…", "defaults for every engine: the keys above except cmd, arg, name, "
         "version"),
    Flag("game", "ladders", "CODE…", f"the games to play: {', '.join(GAMES)}", read_ladders),
    Flag("tc", "time_control", "TIME", "10+0.1, 0.1/move, nodes=N or depth=N, joined by ';'",
         read_time_control),
    Flag("tournament", "format", "FORMAT", "roundrobin (the default), gauntlet (the first engine against the "
         "others) or swiss (needs networkx)", read_form),
    Flag("sprt", "sprt", "elo0=A elo1=B [KEY=VALUE…]", "play until the test is decided; other keys are alpha "
         "(0.05), beta (0.05) and model (normalized, or logistic)", read_sprt),
    Flag("rounds", "rounds", "N", "how many times all engines meet each other (1), or the rounds of a Swiss "
         "event", read_whole(1, MAX_ROUNDS)),
    Flag("games", "games", "1|2", "games in each meeting; two have one opening, colours reversed (2)",
         read_whole(1, 2)),
    Flag("openings", "openings", "random:PLIES | file=FILE [order=sequential|random] [start=N] | none",
         f"where games begin (random:{DEFAULT_PLIES})", read_openings),
    Flag("margin", "margin_ms", "MS", "milliseconds granted on each move before a flag falls (50)",
         read_whole(0, MAX_MARGIN_MS)),
    Flag("plylimit", "ply_limit", "N", "end a game after N plies, instead of after its own limit: "
         f"{_ply_limit_results()}", read_whole(1, MAX_NUMBER)),
    Flag("draw", "draw", "movenumber=N movecount=M score=S", "a draw from move N on, when both engines' last "
         "M scores were at most S hundredths from 0", read_draw),
    Flag("resign", "resign", "movecount=M score=S [twosided=false]", "a loss, when the last M scores of an "
         "engine were -S or less and (unless twosided=false) those of the other S or more", read_resign),
    Flag("seed", "seed", "N", "the seed of the openings and of the engines (0)", read_whole(0, MAX_SEED)),
    Flag("concurrency", "concurrency", "N", "games played at the same time (1)", read_whole(1, MAX_SLOTS)),
    Flag("pin", "pin", "on|off", "give each game a core of its own (on)", read_switch),
    Flag("restart", "restart", "on|off", "start every engine anew before each game (off)", read_switch),
    Flag("sandbox", "sandbox", "", "run every engine in a sandbox, as on a site: see docs/sandbox.md",
         read_switch),
    Flag("recover", "recover", "on|off", "off: end the match when an engine crashes or stalls (on)",
         read_switch),
    Flag("records", "records", "FILE", "where the games are written (match.pgn)", read_path),
    Flag("pgnout", "records", "FILE", "the same", read_path),
    Flag("resume", "resume", "", "continue the match of the record file", read_switch),
    Flag("log", "log", "FOLDER", "keep the lines exchanged with the engines, one file a game", read_path),
    Flag("event", "event", "TEXT", "the header Event of the records", read_label),
    Flag("site", "site", "TEXT", "the header Site of the records", read_label),
    Flag("json", "json", "", "print everything as JSON, one event a line", read_switch),
)  # fmt: skip

_BY_NAME = {flag.name: flag for flag in FLAGS}


USAGE = """\
usage: python3 -m workers match -engine cmd=… -engine cmd=… -game CODE… -tc TIME [OPTION…]

Play a match between engines on this machine. Options take one hyphen or two.
"""
EXIT_CODES = """\
exit codes: 0 all games were played, or the test is decided; 1 some games were not played, because
they were given up; 2 bad input, nothing was played; 3 stopped: continue with -resume"""


def help_text() -> str:
    """The text of ``-help``."""
    return "\n".join((USAGE, *map(_paragraph, FLAGS), "", EXIT_CODES))


def _paragraph(flag: Flag) -> str:
    return f"  -{flag.name} {flag.usage}".rstrip() + f"\n      {flag.purpose}"
