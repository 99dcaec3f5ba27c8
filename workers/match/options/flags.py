"""The flags of a match: their names, values and help texts, and how they become the options."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engines.pairing.swiss import MAX_PLAYERS
from engines.rules.registry import GAMES
from workers.match.options.entrants import MAX_MARGIN_MS, MAX_STARTUP_SECONDS, read_entrants
from workers.match.options.hints import ELSEWHERE
from workers.match.options.options import (
    ROUND_BY_ROUND,
    Format,
    MatchOptionError,
    MatchOptions,
    MatchTerms,
    Openings,
)
from workers.match.options.settings import (
    DRAW,
    RESIGN,
    SPRT,
    Setting,
    choice,
    label,
    one,
    openings_words,
    quote_word,
    read_control,
    read_cpus,
    read_file,
    read_folder,
    read_ladders,
    read_openings,
    read_switch,
    read_toml,
    split_arguments,
    whole,
)

MAX_ROUNDS = 1_000_000
SPRT_ROUNDS = 100_000
"""A test that is still undecided ends after this number of rounds."""
MAX_LABEL = 80
DEFAULT_PLIES = 8
OF_ONE_RUN = ("resume", "json", "dry_run")
"""Flags that say nothing of the match itself."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag; ``read`` converts a setting, or raises ``ValueError``.

    ``again``: it may be given more than once.
    """

    name: str
    usage: str
    purpose: str
    read: Callable[[Setting], Any] = lambda setting: setting
    again: bool = False
    also: str = ""
    """A second name, as in other match runners."""
    field: str = ""
    """The field of ``MatchTerms`` or ``MatchOptions`` that has the value, if it has not the flag's name."""
    write: Callable[[Any], object] = lambda value: value
    """The words of a value, or the table of them; None or empty without any."""

    @property
    def target(self) -> str:
        return self.field or self.name


def read_options(arguments: Sequence[str], store: Path) -> MatchOptions:
    """Read the options of a command line and of its ``-config`` file; bundles are copied into ``store``.

    The command line overrides the file. Raises ``MatchOptionError``, which names the place and quotes the
    text.
    """
    given = _collect(split_arguments(arguments))
    if "config" in given:
        given = _collect(read_toml(given["config"][-1])) | given
    return _options(given, store)


def written_options(options: MatchOptions) -> dict[str, object]:
    """The words, or the table of them, of each flag that gives these options again, without the engines."""
    parts = (options.terms, options)
    values = {field.name: getattr(part, field.name) for part in parts for field in dataclasses.fields(part)}
    words = {flag.name: flag.write(values[flag.target]) for flag in FLAGS if flag.target in values}
    left_out = {*OF_ONE_RUN, *(["rounds"] if options.terms.format is Format.KNOCKOUT else [])}
    return {
        name: value
        for name, value in words.items()
        if name not in left_out and value not in (None, "", (), {})
    }


def _collect(settings: Sequence[Setting]) -> dict[str, list[Any]]:
    """The values of each flag, in order."""
    values: dict[str, list[Any]] = {}
    for setting in settings:
        flag = _BY_NAME.get(setting.flag)
        if flag is None:
            setting.refuse(f"unknown option; {_hint(setting.flag)}")
        if flag.name in values and not flag.again:
            setting.refuse("is given twice")
        with setting.refusing():
            values.setdefault(flag.name, []).append(flag.read(setting))
    return values


def _hint(name: str) -> str:
    """What to write instead of an unknown option."""
    known, equals, value = name.partition("=")
    if equals and known in _BY_NAME:
        return f"write -{known} {quote_word(value)}"
    near = [flag.name for flag in FLAGS if flag.name.startswith(name[:3])]
    similar = f", among them -{' and -'.join(near)}" if near else ""
    return ELSEWHERE.get(known) or f"-help lists all{similar}"


def _options(given: Mapping[str, list[Any]], store: Path) -> MatchOptions:
    values = {_BY_NAME[name].target: found[-1] for name, found in given.items()}
    _refuse("game" not in given, f"-game is missing: choose from {', '.join(GAMES)}")
    values["ladders"] = tuple(dict.fromkeys(code for codes in given["game"] for code in codes))
    engines = read_entrants(
        given.get("engine", ()),
        given.get("each", ()),
        ladders=values["ladders"],
        store=store,
        startup_seconds=values.get("startup"),
    )
    _refuse(len(engines) < 2, f"-engine: a match needs at least two engines, not {len(engines)}")
    form = _format(values, len(engines))
    rounds, games = _numbers(values, form, len(engines))
    own = [engine.time_control for engine in engines]
    control = values.get("time_control") or (own[0] if all(own) else None)
    _refuse(not control, "-tc is missing: give the time control, such as 10+0.1, 0.1/move or nodes=1000")
    cpus, concurrency = values.get("cpus"), values.get("concurrency", 1)
    if cpus:
        _refuse(not values.get("pin", True), "-cpus: cannot be combined with -pin off")
        few = f"-cpus: {concurrency} games at a time need {concurrency} CPUs, not {len(cpus)}"
        _refuse(len(cpus) < concurrency, few)
    values.setdefault("openings", Openings(plies=DEFAULT_PLIES))
    values |= {"entrants": engines, "format": form, "rounds": rounds, "games": games, "time_control": control}
    terms = MatchTerms(**_of(MatchTerms, values))
    return MatchOptions(terms, **_of(MatchOptions, values))


def _of(kind: type[MatchTerms | MatchOptions], values: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: values[field.name] for field in dataclasses.fields(kind) if field.name in values}


def _refuse(is_wrong: bool, why: str) -> None:
    if is_wrong:
        raise MatchOptionError(why)


def _format(values: Mapping[str, Any], engines: int) -> Format:
    has_test = "sprt" in values
    form: Format = values.get("format", Format.SPRT if has_test else Format.ROUND_ROBIN)
    needs = f"-tournament {form}: -sprt elo0=… elo1=… is for -tournament sprt, which needs it"
    _refuse((form is Format.SPRT) != has_test, needs)
    _refuse(has_test and engines != 2, f"-sprt: a test is between two engines, not {engines}")
    if form is Format.SWISS:
        needs = "-tournament swiss: needs the Python package networkx (pip install networkx)"
        _refuse(find_spec("networkx") is None, needs)
        _refuse(engines > MAX_PLAYERS, f"-tournament swiss: at most {MAX_PLAYERS} engines, not {engines}")
    return form


def _numbers(values: Mapping[str, Any], form: Format, engines: int) -> tuple[int, int]:
    """The number of rounds, and of games in each meeting."""
    if "pairs" in values:
        for name in ("rounds", "games"):
            _refuse(name in values, f"-pairs: cannot be combined with -{name}")
        return values["pairs"], 2
    games, is_test = values.get("games", 2), form is Format.SPRT
    in_pairs = f"-games {games}: a {form} is played in pairs of games, so the number must be even"
    _refuse(form in ROUND_BY_ROUND and games % 2 > 0, in_pairs)
    in_rounds = "-rounds: a knock-out has as many rounds as its engines need; -games is for a match"
    _refuse(form is Format.KNOCKOUT and "rounds" in values, in_rounds)
    both = "-noswap: a test needs both colours of every opening"
    _refuse(is_test and not values.get("swaps", True), both)
    even = f"-games {games}: a test counts pairs of games, so the number must be even"
    _refuse(is_test and games % 2 > 0, even)
    usual = {Format.SPRT: SPRT_ROUNDS, Format.SWISS: (engines - 1).bit_length()}
    return values.get("rounds", usual.get(form, 1)), games


def _ply_limit_results() -> str:
    """What the ply limit means in each game."""
    counts = {game.family: game.score_unit for game in GAMES.values() if game.score_unit}
    return "; ".join(("a draw", *(f"in {family} the {unit}s decide" for family, unit in counts.items())))


FLAGS = (
    Flag("engine", "cmd=COMMAND [KEY=VALUE…]", "an engine; keys are cmd, arg, dir, name, version, its "
         "own time by tc, st (seconds a move), nodes and depth, timemargin (ms), startup (seconds), restart "
         "(on, off, auto) and option.NAME. COMMAND may be a bundle (bot.zip) or a published bot (NAME@https://SITE)",
         again=True),
    Flag("each", "KEY=VALUE…", "defaults for every engine: the keys above except cmd, arg, name, version",
         again=True),
    Flag("game", "CODE…", f"the games to play: {', '.join(GAMES)}", read_ladders, again=True, also="ladder",
         field="ladders"),
    Flag("tc", "TIME", "10+0.1, 0.1/move, nodes=N or depth=N, joined by ';'", one(read_control),
         field="time_control"),
    Flag("tournament", "FORMAT", "roundrobin, gauntlet (the first engine against the others), sprt, "
         "knockout (engines are seeded in their order) or swiss (needs networkx)", one(choice(Format)),
         field="format"),
    Flag("sprt", "elo0=A elo1=B [KEY=VALUE…]", "play until the test is decided; other keys are alpha (0.05), "
         "beta (0.05) and model (normalized, or logistic)", SPRT,
         write=SPRT.words),
    Flag("rounds", "N", "how many times all engines meet each other (1), or the rounds of a Swiss event",
         one(whole(1, MAX_ROUNDS))),
    Flag("games", "N", "games in each meeting; each pair of games has one opening, colours reversed (2)",
         one(whole(1, 1_000))),
    Flag("pairs", "N", "the same as -rounds N -games 2", one(whole(1, MAX_ROUNDS))),
    Flag("openings", "random:PLIES | file=FILE [order=sequential|random] [start=N] [plies=N] | none",
         f"where games begin (random:{DEFAULT_PLIES})", read_openings, write=openings_words),
    Flag("margin", "MS", "milliseconds granted on each move before a flag falls (50)",
         one(whole(0, MAX_MARGIN_MS)), field="margin_ms"),
    Flag("startup", "SECONDS", "the time limit for an engine's start (10)",
         one(whole(1, MAX_STARTUP_SECONDS))),
    Flag("plylimit", "N", f"end a game after N plies, instead of after its own limit: {_ply_limit_results()}",
         one(whole(1)), field="ply_limit"),
    Flag("draw", "movenumber=N movecount=M score=S", "a draw from move N on, when both engines' last M "
         "scores were at most S hundredths from 0", DRAW,
         write=DRAW.words),
    Flag("resign", "movecount=M score=S [twosided=false]", "a loss, when the last M scores of an engine were "
         "-S or less and (unless twosided=false) those of the other S or more", RESIGN,
         write=RESIGN.words),
    Flag("noswap", "", "do not reverse the colours in the second game of an opening",
         lambda setting: not read_switch(setting), field="swaps", write=lambda swaps: not swaps),
    Flag("reverse", "", "the first engine of a meeting has Black in the first game", read_switch),
    Flag("wait", "MS", "a pause before each game (0)", one(whole(0, 3_600_000))),
    Flag("seed", "N", "the seed of the openings and of the engines (0)", one(whole(0, 2**63 - 1))),
    Flag("concurrency", "N", "games played at the same time (1)", one(whole(1, 1_024))),
    Flag("pin", "on|off", "give each game a core of its own (on)", read_switch),
    Flag("cpus", "LIST", "the CPUs of the games, one for each game at a time, such as 0-3,6", read_cpus,
         also="use-affinity", write=lambda cpus: ",".join(map(str, cpus))),
    Flag("sandbox", "", "run every engine in a sandbox, as on a site: see docs/sandbox.md", read_switch),
    Flag("strict", "", "end the match if an engine does not take an option that is set", read_switch),
    Flag("recover", "on|off", "off: end the match when an engine crashes or stalls (on)", read_switch),
    Flag("withdraw", "N", "withdraw an engine after N forfeits in a row (0: never)",
         one(whole(0, 1_000_000))),
    Flag("records", "FILE", "where the games are written (match.pgn)", one(read_file), also="pgnout"),
    Flag("resume", "", "continue the match of the record file", read_switch),
    Flag("ratinginterval", "N", "print the table after every N games (0: every minute)",
         one(whole(0, MAX_ROUNDS))),
    Flag("log", "FOLDER", "keep the lines exchanged with the engines, one file a game", one(read_folder)),
    Flag("event", "TEXT", "the header Event of the records", one(label(MAX_LABEL))),
    Flag("site", "TEXT", "the header Site of the records", one(label(MAX_LABEL))),
    Flag("json", "", "print everything as JSON, one event a line", read_switch),
    Flag("dry_run", "", "print what would be played, and play nothing", read_switch, also="dry-run"),
    Flag("config", "FILE", "read options from a TOML file; the command line overrides them", one(read_file)),
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
