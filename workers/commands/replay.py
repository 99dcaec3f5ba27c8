"""``python -m workers replay``: plays a recorded game again, up to the first difference."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from engines.bundles.sites import SiteError, ask_engines, fetch_site_bundle
from engines.console import run_command
from engines.files import open_text
from engines.records import Record, read_records
from engines.records.seeds import SEED_HEADER, seed_of
from engines.rules.base import quote
from workers.commands.sandboxes import find_sandbox_level
from workers.match.options.entrants import read_entrants, usual_store
from workers.match.options.options import Entrant, MatchOptionError
from workers.match.options.settings import Setting, only_word, split_arguments
from workers.match.replay import Difference, ReplayError, replay_game
from workers.play.runner import PooledEngine, WorkerContext
from workers.sandbox.policy import policy_for_level

SAME, DIFFERS = 0, 1
USAGE = """\
usage: python3 -m workers replay FILE.pgn [--game ID] -engine cmd=… -engine cmd=… [-each KEY=VALUE…]
       python3 -m workers replay FILE.pgn [--game ID] --site URL [-engine cmd=… name=…]

Play a recorded game again with its limits and seed, and print the first difference. The first engine is
White, unless the names of both engines (name=…) are those of Black and White in the record. The keys of
-engine are those of 'match'. --game is the record's GameId, needed if the file has more than one game.
--site fetches the bundles of a game that was played on a site, as far as they are published, and runs them
in the sandbox of this machine, if it has one; an engine that is given as well plays for the player with its
name.

exit codes: 0 the same game; 1 a difference; 2 bad input"""
HELP = {"-h", "-help", "--help"}
FLAGS = ("game", "engine", "each", "site")


def main(arguments: Sequence[str]) -> int:
    return run_command(lambda: _run(arguments), MatchOptionError, ReplayError, SiteError)


def _run(arguments: Sequence[str]) -> int:
    if HELP & set(arguments):
        print(USAGE)
        return SAME
    if not arguments or arguments[0].startswith("-"):
        raise MatchOptionError("the first word must be FILE.pgn, the file with the game's record")
    given: dict[str, list[Setting]] = {flag: [] for flag in FLAGS}
    for setting in split_arguments(arguments[1:]):
        if setting.flag not in given:
            setting.refuse(f"unknown option (known are {', '.join(f'-{flag}' for flag in FLAGS)})")
        given[setting.flag].append(setting)
    wanted, site = (only_word(given[flag][-1]) if given[flag] else None for flag in ("game", "site"))
    record = _read_game(arguments[0], wanted)
    return _print_result(
        record, replay_players(record, _read_players(record, given["engine"], given["each"], site))
    )


def _read_game(name: str, wanted: str | None) -> Record:
    """The game with the id ``wanted``; with None the only game of the file."""
    found: list[Record] = []
    try:
        with open_text(Path(name)) as lines:
            for record in read_records(lines, name):
                if isinstance(record, Record):
                    found += [record] if wanted in (None, record.header("GameId")) else []
                elif wanted is None:
                    raise ReplayError(str(record))
    except OSError as error:
        raise ReplayError(f"cannot read {quote(name)}: {error.strerror}") from None
    if len(found) == 1:
        return found[0]
    if wanted is None:
        raise ReplayError(f"{name} has {len(found)} games: choose one with --game and its GameId")
    raise ReplayError(f"{name} has {len(found)} games with the id {quote(wanted)}")


def _read_players(
    record: Record, engines: list[Setting], each: list[Setting], site: str | None
) -> tuple[Entrant, Entrant]:
    """The engines of White and Black."""
    read = partial(read_entrants, each=each, ladders=(record.header("Game"),), store=usual_store())
    players = read(engines)
    if site is not None:
        fetched = _fetch_others(record, {player.name for player in players}, site)
        players += tuple(replace(other, site=site, trusted=False) for other in read(fetched))
    if len(players) != 2:
        raise MatchOptionError(f"-engine: a game has two engines, not {len(players)}")
    one, two = players
    if (one.name, two.name) == (record.header("Black"), record.header("White")):
        return two, one
    return one, two


def _fetch_others(record: Record, given: set[str], site: str) -> list[Setting]:
    """The engines of the record that are not ``given``; their bundles are fetched from the site."""
    names = {"white": record.header("White"), "black": record.header("Black")}
    for name in given - set(names.values()):
        raise MatchOptionError(
            f"-engine name={quote(name)}: with --site the name must be that of one of the two players"
        )
    engines = ask_engines(site, record.header("GameId"))
    fetched = []
    for side, name in names.items():
        if name not in given:
            path = fetch_site_bundle(engines[side], usual_store())
            words = (f"cmd={shlex.quote(str(path))}", f"name={name}")
            fetched.append(Setting("engine", words, f"--site {site}: {side}"))
    return fetched


def replay_players(record: Record, players: tuple[Entrant, Entrant]) -> Difference | None:
    """The first difference of the game played again by White and Black; raises ``ReplayError``."""
    policy = policy_for_level(find_sandbox_level(players, is_asked=False), is_for_all=False)
    worker = WorkerContext("replay", usual_store(), usual_store(), policy)
    engines = [PooledEngine(player, record.header("Game"), worker) for player in players]
    for engine in engines:
        engine.player.seed = seed_of(record)
    try:
        return replay_game(record, engines[0].player, engines[1].player)
    finally:
        for engine in engines:
            engine.player.kill()


def _print_result(record: Record, difference: Difference | None) -> int:
    if seed_of(record) is None:
        print(f"the record has no {SEED_HEADER}: engines that use random numbers may play differently")
    if difference is None:
        print(f"the same game: {len(record.moves)} plies, {record.header('Termination')}, {record.result}")
        return SAME
    side = difference.position.side.name.lower()
    print(f"first difference at ply {difference.ply}, {side} to move in position '{difference.position}'")
    print(f"the record has: {difference.recorded}")
    print(f"now it came to: {difference.played}")
    return DIFFERS
