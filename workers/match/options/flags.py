"""The flags of a match: their names, values and help texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engines.rules.base import MAX_NUMBER
from engines.rules.registry import GAMES
from workers.match.options.entrants import read_entrants
from workers.match.options.hints import ELSEWHERE
from workers.match.options.options import ROUND_BY_ROUND, Entrant, Format, MatchOptions, MatchTerms, Openings
from workers.match.options.readers import (
    MAX_MARGIN_MS,
    MAX_STARTUP_SECONDS,
    read_cpus,
    read_draw,
    read_file,
    read_folder,
    read_form,
    read_label,
    read_ladders,
    read_openings,
    read_resign,
    read_sprt,
    read_switch,
    read_time_control,
    read_whole,
)
from workers.match.options.words import MatchOptionError, Setting, quote_word, read_toml, split_arguments
from workers.pairing.swiss import MAX_PLAYERS

MAX_ROUNDS = 1_000_000
SPRT_ROUNDS = 100_000
"""A test that is still undecided ends after this number of rounds."""
MAX_GAMES = 1_000
MAX_SLOTS = 1_024
MAX_WAIT_MS = 3_600_000
MAX_SEED = 2**63 - 1
DEFAULT_PLIES = 8


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag; ``read`` converts a setting to its value. ``again``: it may be given more than once."""

    name: str
    usage: str
    purpose: str
    read: Callable[[Setting], object] = lambda setting: setting
    again: bool = False
    also: str = ""
    """A second name, as in other match runners."""


def read_options(arguments: Sequence[str], store: Path) -> MatchOptions:
    """Read the options of a command line and of its ``-config`` file; bundles are copied into ``store``.

    The command line overrides the file. Raises ``MatchOptionError``, which names the place and quotes the
    text.
    """
    given = _collect(split_arguments(arguments))
    if "config" in given:
        given = _collect(read_toml(given["config"][-1])) | given
    return _options(given, store)


def _collect(settings: Sequence[Setting]) -> dict[str, list[Any]]:
    """The values of each flag, in order."""
    values: dict[str, list[Any]] = {}
    for setting in settings:
        flag = _BY_NAME.get(setting.flag)
        if flag is None:
            setting.refuse(f"unknown option; {_hint(setting.flag)}")
        if flag.name in values and not flag.again:
            setting.refuse("is given twice")
        values.setdefault(flag.name, []).append(flag.read(setting))
    return values


def _hint(name: str) -> str:
    """What to write instead of an unknown option."""
    known, equals, value = name.partition("=")
    if equals and known in _BY_NAME:
        return f"write -{known} {quote_word(value)}"
    return ELSEWHERE.get(known) or f"-help lists all{_similar(name)}"


def _similar(name: str) -> str:
    near = [flag.name for flag in FLAGS if flag.name.startswith(name[:3])]
    return f", among them -{' and -'.join(near)}" if near else ""


def _options(given: Mapping[str, list[Any]], store: Path) -> MatchOptions:
    single = {name: values[-1] for name, values in given.items()}
    fields = {name: single[name] for name in _MATCH_FIELDS if name in single}
    _check_cpus(single)
    return MatchOptions(_terms(given, single, store), **fields)


def _check_cpus(single: Mapping[str, Any]) -> None:
    if "cpus" not in single:
        return
    cpus, games = single["cpus"], single.get("concurrency", 1)
    if not single.get("pin", True):
        raise MatchOptionError("-cpus: cannot be combined with -pin off")
    if len(cpus) < games:
        raise MatchOptionError(f"-cpus: {games} games at a time need {games} CPUs, not {len(cpus)}")


_MATCH_FIELDS = tuple(
    "records resume concurrency pin cpus sandbox strict recover withdraw wait ratinginterval log event site "
    "json dry_run".split()
)
"""Flags that are fields of ``MatchOptions`` under the same name."""


def _terms(given: Mapping[str, list[Any]], single: Mapping[str, Any], store: Path) -> MatchTerms:
    if "game" not in single:
        raise MatchOptionError(f"-game is missing: choose from {', '.join(GAMES)}")
    ladders = tuple(dict.fromkeys(code for codes in given["game"] for code in codes))
    if "startup" in single:
        each = Setting("each", (f"startup={single['startup']}",), "-startup")
        given = {**given, "each": [each, *given.get("each", ())]}
    entrants = read_entrants(given.get("engine", ()), given.get("each", ()), ladders=ladders, store=store)
    if len(entrants) < 2:
        raise MatchOptionError(f"-engine: a match needs at least two engines, not {len(entrants)}")
    form = _format(single, len(entrants))
    rounds, games = _numbers(single, form, len(entrants))
    return MatchTerms(
        entrants=entrants,
        ladders=ladders,
        time_control=_time_control(single, entrants),
        format=form,
        rounds=rounds,
        games=games,
        openings=single.get("openings", Openings(plies=DEFAULT_PLIES)),
        sprt=single.get("sprt"),
        margin_ms=single.get("margin", 50),
        ply_limit=single.get("plylimit"),
        draw=single.get("draw"),
        resign=single.get("resign"),
        seed=single.get("seed", 0),
        swaps=not single.get("noswap", False),
        reverse=single.get("reverse", False),
    )


def _time_control(single: Mapping[str, Any], entrants: Sequence[Entrant]) -> str:
    """The time control of the match; if every engine has its own and ``-tc`` is missing, the first one's."""
    own = [entrant.spec.time_control for entrant in entrants]
    control: str | None = single.get("tc") or (own[0] if all(own) else None)
    if control is None:
        raise MatchOptionError(
            "-tc is missing: give the time control, such as 10+0.1, 0.1/move or nodes=1000"
        )
    return control


def _format(single: Mapping[str, Any], engines: int) -> Format:
    default = Format.SPRT if "sprt" in single else Format.ROUND_ROBIN
    form: Format = single.get("tournament", default)
    if (form is Format.SPRT) != ("sprt" in single):
        raise MatchOptionError(
            f"-tournament {form}: -sprt elo0=… elo1=… is for -tournament sprt, which needs it"
        )
    if form is Format.SPRT and engines != 2:
        raise MatchOptionError(f"-sprt: a test is between two engines, not {engines}")
    if form is Format.SWISS and find_spec("networkx") is None:
        raise MatchOptionError("-tournament swiss: needs the Python package networkx (pip install networkx)")
    if form is Format.SWISS and engines > MAX_PLAYERS:
        raise MatchOptionError(f"-tournament swiss: at most {MAX_PLAYERS} engines, not {engines}")
    return form


def _numbers(single: Mapping[str, Any], form: Format, engines: int) -> tuple[int, int]:
    """The number of rounds, and of games in each meeting."""
    if "pairs" in single:
        for name in ("rounds", "games"):
            if name in single:
                raise MatchOptionError(f"-pairs: cannot be combined with -{name}")
        return single["pairs"], 2
    games = single.get("games", 2)
    if form in ROUND_BY_ROUND and games % 2:
        raise MatchOptionError(
            f"-games {games}: a {form} is played in pairs of games, so the number must be even"
        )
    if form is Format.KNOCKOUT and "rounds" in single:
        raise MatchOptionError(
            "-rounds: a knock-out has as many rounds as its engines need; -games is for a match"
        )
    if form is Format.SPRT and single.get("noswap"):
        raise MatchOptionError("-noswap: a test needs both colours of every opening")
    if form is Format.SPRT and games % 2:
        raise MatchOptionError(f"-games {games}: a test counts pairs of games, so the number must be even")
    usual = {Format.SPRT: SPRT_ROUNDS, Format.SWISS: (engines - 1).bit_length()}
    return single.get("rounds", usual.get(form, 1)), games


def _ply_limit_results() -> str:
    """What the ply limit means in each game."""
    counts = {game.family: game.score_unit for game in GAMES.values() if game.score_unit}
    return "; ".join(("a draw", *(f"in {family} the {unit}s decide" for family, unit in counts.items())))


FLAGS = (
    Flag("engine", "cmd=COMMAND [KEY=VALUE…]", "an engine; keys are cmd, arg, dir, name, version, its "
         "own time by tc, st (seconds a move), nodes and depth, timemargin (ms), startup (seconds), restart "
         "(on, off, auto) and option.NAME. COMMAND may be a bundle (bot.zip)",
         again=True),
    Flag("each", "KEY=VALUE…", "defaults for every engine: the keys above except cmd, arg, name, version",
         again=True),
    Flag("game", "CODE…", f"the games to play: {', '.join(GAMES)}", read_ladders, again=True, also="ladder"),
    Flag("tc", "TIME", "10+0.1, 0.1/move, nodes=N or depth=N, joined by ';'", read_time_control),
    Flag("tournament", "FORMAT", "roundrobin, gauntlet (the first engine against the others), sprt, "
         "knockout (engines are seeded in their order) or swiss (needs networkx)", read_form),
    Flag("sprt", "elo0=A elo1=B [KEY=VALUE…]", "play until the test is decided; other keys are alpha (0.05), "
         "beta (0.05) and model (normalized, or logistic)", read_sprt),
    Flag("rounds", "N", "how many times all engines meet each other (1), or the rounds of a Swiss event",
         read_whole(1, MAX_ROUNDS)),
    Flag("games", "N", "games in each meeting; each pair of games has one opening, colours reversed (2)",
         read_whole(1, MAX_GAMES)),
    Flag("pairs", "N", "the same as -rounds N -games 2", read_whole(1, MAX_ROUNDS)),
    Flag("openings", "random:PLIES | file=FILE [order=sequential|random] [start=N] | none",
         f"where games begin (random:{DEFAULT_PLIES})", read_openings),
    Flag("margin", "MS", "milliseconds granted on each move before a flag falls (50)",
         read_whole(0, MAX_MARGIN_MS)),
    Flag("startup", "SECONDS", "the time limit for an engine's start (10)",
         read_whole(1, MAX_STARTUP_SECONDS)),
    Flag("plylimit", "N", f"end a game after N plies, instead of after its own limit: {_ply_limit_results()}",
         read_whole(1, MAX_NUMBER)),
    Flag("draw", "movenumber=N movecount=M score=S", "a draw from move N on, when both engines' last M "
         "scores were at most S hundredths from 0", read_draw),
    Flag("resign", "movecount=M score=S [twosided=false]", "a loss, when the last M scores of an engine were "
         "-S or less and (unless twosided=false) those of the other S or more", read_resign),
    Flag("noswap", "", "do not reverse the colours in the second game of an opening", read_switch),
    Flag("reverse", "", "the first engine of a meeting has Black in the first game", read_switch),
    Flag("wait", "MS", "a pause before each game (0)", read_whole(0, MAX_WAIT_MS)),
    Flag("seed", "N", "the seed of the openings and of the engines (0)", read_whole(0, MAX_SEED)),
    Flag("concurrency", "N", "games played at the same time (1)", read_whole(1, MAX_SLOTS)),
    Flag("pin", "on|off", "give each game a core of its own (on)", read_switch),
    Flag("cpus", "LIST", "the CPUs of the games, one for each game at a time, such as 0-3,6", read_cpus,
         also="use-affinity"),
    Flag("sandbox", "", "run every engine in a sandbox, as on a site: see docs/sandbox.md", read_switch),
    Flag("strict", "", "end the match if an engine does not take an option that is set", read_switch),
    Flag("recover", "on|off", "off: end the match when an engine crashes or stalls (on)", read_switch),
    Flag("withdraw", "N", "withdraw an engine after N forfeits in a row (never)", read_whole(1, 1_000_000)),
    Flag("records", "FILE", "where the games are written (match.pgn)", read_file, also="pgnout"),
    Flag("resume", "", "continue the match of the record file", read_switch),
    Flag("ratinginterval", "N", "print the table after every N games, instead of every minute",
         read_whole(1, MAX_ROUNDS)),
    Flag("log", "FOLDER", "keep the lines exchanged with the engines, one file a game", read_folder),
    Flag("event", "TEXT", "the header Event of the records", read_label),
    Flag("site", "TEXT", "the header Site of the records", read_label),
    Flag("json", "", "print everything as JSON, one event a line", read_switch),
    Flag("dry_run", "", "print what would be played, and play nothing", read_switch, also="dry-run"),
    Flag("config", "FILE", "read options from a TOML file; the command line overrides them", read_file),
)  # fmt: skip

_BY_NAME = {name: flag for flag in FLAGS for name in (flag.name, flag.also) if name}


USAGE = """\
usage: python3 -m workers match -engine cmd=… -engine cmd=… -game CODE… -tc TIME [OPTION…]

Play a match between engines on this machine. Options take one hyphen or two.
"""
EXIT_CODES = """\
exit codes: 0 all games were played, or the test is decided; 1 some games were not played, because
engines were withdrawn or games given up; 2 bad input, nothing was played; 3 stopped: continue with -resume"""


def help_text() -> str:
    """The text of ``-help``."""
    return "\n".join((USAGE, *map(_paragraph, FLAGS), "", EXIT_CODES))


def _paragraph(flag: Flag) -> str:
    return f"  -{flag.name.replace('_', '-')} {flag.usage}".rstrip() + f"\n      {flag.purpose}"
