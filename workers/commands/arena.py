"""``python -m workers arena``: an engine against the published bots of a site, and its place among them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engines.bundles.manifest import MANIFEST_NAME, Manifest
from engines.bundles.sites import RatedBot, SiteError, SiteLadder, ask_ladder, site_root
from engines.bundles.store import BundleError, read_manifest
from engines.client.site_client import SITE
from engines.console import complain, run_command
from engines.rules.base import UnknownGame
from engines.rules.registry import find_game
from workers.check import CannotCheck
from workers.check.run import declared_ladders
from workers.commands.match import ALL_PLAYED, GAMES_MISSING, play_match
from workers.engine.launch import explain_no_program, find_engine_program, plan_launch
from workers.jobs import EngineSpec
from workers.match.options.entrants import usual_store
from workers.match.options.flags import read_options
from workers.match.options.options import MatchError, MatchOptionError, MatchOptions
from workers.match.options.settings import Setting, only_word, split_arguments, whole
from workers.match.performance import performance
from workers.match.recordfile import RecordFile
from workers.match.results import Scores, rank_rows, share

HELP = {"-h", "-help", "--help"}
OWN = ("site", "game", "bots", "name")
ROUNDS, BOTS, MAX_BOTS = 5, 4, 100
NO_ENGINE = f"no engine was given: write its command after --, as in -- ./my-engine, or into {MANIFEST_NAME}"
USAGE = f"""\
usage: python3 -m workers arena [-site URL] [-game CODE…] [-bots N] [-name NAME] [OPTION…] [-- COMMAND…]

Play an engine against the best N published bots of a site ({BOTS}) and its samples, on each ladder that the
engine plays, and print its Elo on the scale of the site and the place that it would have there. COMMAND is
run in the present folder; without it the command is that of {MANIFEST_NAME} there. -site is the address of
the site (default: ${SITE}), -game names ladders (default: those of {MANIFEST_NAME}, else all that the engine
declares). Other options are those of 'match', among them -rounds ({ROUNDS} pairs of games with each bot), -tc
and -openings (those of the ladder), -concurrency, -sandbox and -resume. The games are written to
arena-CODE.pgn.

exit codes: those of 'match'; 1 also if a ladder has no opponents"""


@dataclass(frozen=True, slots=True)
class Arena:
    """An engine, as the words of ``-engine``, and the site; ``words`` are further options of its matches."""

    engine: tuple[str, ...]
    site: str
    bots: int
    words: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    return run_command(lambda: _run(arguments), MatchError, SiteError, CannotCheck, UnknownGame)


def _run(arguments: Sequence[str]) -> int:
    if HELP & set(arguments):
        print(USAGE)
        return 0
    if arguments and not arguments[0].startswith("-"):
        arguments = ["--", *arguments]  # argparse removes one that comes first
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given, words = _split(arguments[:end])
    manifest = _manifest_here()
    command = tuple(arguments[end + 1 :]) or (manifest.command if manifest else ())
    if not command:
        raise MatchOptionError(NO_ENGINE)
    arena = _read_arena(given, command, words)
    codes = [code for setting in given["game"] for code in setting.words]
    codes = codes or list(manifest.games if manifest else _declared(command))
    worst = ALL_PLAYED
    for game in map(find_game, codes):
        worst = max(worst, _play(arena, game.code))
        if worst > GAMES_MISSING:
            break
    return worst


def _split(arguments: Sequence[str]) -> tuple[dict[str, list[Setting]], tuple[str, ...]]:
    """The options of this command, by name, and the words of the others."""
    given = {name: list[Setting]() for name in OWN}
    words: list[str] = []
    for setting in split_arguments(arguments):
        if setting.flag == "json":
            setting.refuse("only 'match' has it: the place is printed as a sentence")
        if setting.flag in given:
            given[setting.flag].append(setting)
        else:
            words += (f"-{setting.flag}", *setting.words)
    return given, tuple(words)


def _read_arena(given: dict[str, list[Setting]], command: Sequence[str], words: tuple[str, ...]) -> Arena:
    one = {flag: only_word(settings[-1]) for flag, settings in given.items() if settings and flag != "game"}
    site = one.get("site") or os.environ.get(SITE, "")
    if not site:
        raise MatchOptionError(f"-site is missing: give the address of a site, or set {SITE}")
    bots = BOTS
    if "bots" in one:
        with given["bots"][-1].refusing():
            bots = whole(0, MAX_BOTS)(one["bots"])
    engine = (f"cmd={shlex.join(command)}", *([f"name={one['name']}"] if "name" in one else []))
    return Arena(engine, site_root(site), bots, words)


def _manifest_here() -> Manifest | None:
    """The manifest of a bot in the present folder; None without one."""
    if not Path(MANIFEST_NAME).is_file():
        return None
    try:
        return read_manifest(Path())
    except (BundleError, OSError) as error:
        raise MatchOptionError(f"{MANIFEST_NAME}: {error}") from None


def _declared(command: Sequence[str]) -> list[str]:
    """The ladders that the engine declares; raises ``CannotCheck``."""
    folder = Path.cwd()
    program = find_engine_program(command[0], folder)
    if program is None:
        raise CannotCheck(explain_no_program(command[0], folder))
    spec = EngineSpec("engine", "", (program, *command[1:]), directory=str(folder))
    return declared_ladders(lambda: plan_launch(spec, folder))


def _play(arena: Arena, code: str) -> int:
    """Play the match on one ladder, and print what its result means there."""
    ladder = ask_ladder(arena.site, code)
    opponents = list(_choose(ladder, arena.bots))
    if not opponents:
        complain(f"{code}: {arena.site} has no published bot and no sample with an estimated Elo")
        return GAMES_MISSING
    print(f"{code}: against {', '.join(f'{bot.name} v{bot.version} ({bot.elo:+.0f})' for bot in opponents)}")
    options = read_options([*_words(arena, code, ladder, opponents)], usual_store())
    ended = play_match(options)
    if not options.dry_run:
        _print_standing(arena.site, ladder, options, {bot.name: bot.elo or 0.0 for bot in opponents})
    return ended


def _choose(ladder: SiteLadder, count: int) -> Iterator[RatedBot]:
    """The best published version of the best bots, and of each sample; only those with an Elo."""
    names = set[str]()
    for bot in ladder.bots:
        if bot.elo is None or bot.name in names or not (bot.is_sample or (bot.is_published and count)):
            continue
        names.add(bot.name)
        count -= not bot.is_sample
        yield bot


def _words(arena: Arena, code: str, ladder: SiteLadder, opponents: Sequence[RatedBot]) -> Iterator[str]:
    """The options of the match on a ladder."""
    yield from ("-engine", *arena.engine)
    for bot in opponents:
        yield from ("-engine", f"cmd={bot.name}@{bot.version}@{arena.site}", f"name={bot.name}")
    plies = ladder.opening_plies
    usual = {
        "tournament": "gauntlet",
        "tc": ladder.time_control,
        "openings": f"random:{plies}" if plies else "none",
        "rounds": str(ROUNDS),
    }
    for flag, word in usual.items():
        if f"-{flag}" not in arena.words and not (flag == "rounds" and "-pairs" in arena.words):
            yield from (f"-{flag}", word)
    yield from ("-game", code, "-records", f"arena-{code}.pgn", *arena.words)


def _print_standing(site: str, ladder: SiteLadder, options: MatchOptions, elo: dict[str, float]) -> None:
    """The engine's Elo on the scale of the site, with its interval, and the place that it would have."""
    own, *others = (entrant.name for entrant in options.terms.entrants)
    scores = Scores([own, *others])
    played = list[float]()
    with closing(RecordFile(options.records)) as file:
        for game in file.read_results():
            if not game.is_void:
                scores.add(game)
                played.append(elo[game.black if game.white == own else game.white])
    if not played:
        return
    row = next(row for row in rank_rows(scores, options.terms.ladders) if row.name == own)
    found = performance(row.counts, played)
    print(
        f"{own} scored {share(row.games):.1%} of {len(played)} games: {found.elo:+.0f} Elo "
        f"({found.low:+.0f} to {found.high:+.0f} at 95 %) on the scale of {site}"
    )
    code = options.terms.ladders[0]
    placed = [bot.elo for bot in ladder.bots if bot.place is not None and bot.elo is not None]
    ends = (found.elo, found.high, found.low)
    place, best, worst = (1 + sum(other > end for other in placed) for end in ends)
    if placed:
        print(f"That would be number {place} of {len(placed) + 1} on {code} ({best} to {worst})")
    else:
        print(f"No bot has a place on {code} yet")
