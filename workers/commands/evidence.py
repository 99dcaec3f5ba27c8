"""``python -m workers evidence``: plays games of an archive of evidence again, with the published bundles.

The other checks of an archive run no bot and need no sandbox: ``python -m engines evidence``.
"""

from __future__ import annotations

import argparse
import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engines.bundles.archive import MAX_ZIP_BYTES
from engines.bundles.store import bundle_path, store_bundle
from engines.console import complain, run_command
from engines.evidence.archive import EvidenceArchive, check_files
from engines.evidence.command import opened
from engines.evidence.format import BUNDLES, EvidenceGame, EvidenceVersion
from engines.evidence.reading import read_games
from engines.evidence.report import EvidenceReport
from engines.evidence.strict_json import FormatError
from engines.http_client import AddressError
from engines.records import Record, side_controls
from engines.rules.base import quote
from engines.timecontrol import TimeControlError
from engines.visible import visible
from workers.commands.replay import replay_players
from workers.match.options.entrants import read_entrants, usual_store
from workers.match.options.options import Entrant, MatchOptionError
from workers.match.options.settings import Setting
from workers.match.replay import ReplayError

MOST = 10_000
Drawn = list[tuple[EvidenceGame, Record]]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers evidence",
        description="Play games of an archive of evidence again, in the sandbox of this machine.",
        epilog="exit codes: 0 the same games; 1 a difference; 2 it cannot be read; 3 a game was not played",
    )
    parser.add_argument("file", metavar="FILE", help="evidence.zip, its folder, or its address")
    parser.add_argument("--replay", metavar="N", type=int, required=True, help="how many games, at random")
    parser.add_argument("--seed", metavar="WORD", default="", help="draws other games")
    parsed = parser.parse_args(arguments)
    if not 1 <= parsed.replay <= MOST:
        return complain(f"--replay: {parsed.replay} is not a number from 1 to {MOST}")
    return run_command(lambda: _run(parsed), FormatError, AddressError, MatchOptionError)


def _run(parsed: argparse.Namespace) -> int:
    report = EvidenceReport(lambda line: print(line, flush=True))
    try:
        with opened(parsed.file) as archive:
            check_files(archive, report)
            replay_games(archive, parsed.replay, parsed.seed, report)
    except OSError as error:
        return complain(f"cannot read {visible(str(error.filename or parsed.file))!r}: {error.strerror}")
    return report.exit_code


def replay_games(archive: EvidenceArchive, number: int, seed: str, report: EvidenceReport) -> None:
    """Play so many games again that both published bundles and a limit of nodes decide alone."""
    rows = archive.rows("versions.jsonl", EvidenceVersion)
    bundles = {one.version: one.bundle_sha256 for one in rows if one.published}
    with report.check("replay") as check:
        games = (
            (row, record)
            for row, record in read_games(archive, check)
            if record is not None and {row.white, row.black} <= bundles.keys() and _is_repeatable(record)
        )
        drawn = _draw(games, number, random.Random(f"{archive.sha256} {seed}"))
        if not drawn:
            check.skip("no game has a limit of nodes and two players with published bundles")
            return
        for row, record in drawn:
            try:
                difference = replay_players(record, _players_of(archive, row, bundles))
            except ReplayError as error:
                check.skip(f"game {quote(row.game)}: {error}")
                continue
            if difference is not None:
                found = f"the record has {difference.recorded}, now it came to {difference.played}"
                check.differs(f"game {quote(row.game)}, ply {difference.ply}: {found}")
        check.ok(f"{len(drawn)} games are the same, played again by their bundles")


def _is_repeatable(record: Record) -> bool:
    """Whether no clock decides about the moves."""
    try:
        controls = side_controls(record)
    except TimeControlError:
        return False
    return all(one.nodes is not None and one.base_ms is None and one.move_ms is None for one in controls)


def _draw(games: Iterator[tuple[EvidenceGame, Record]], number: int, source: random.Random) -> Drawn:
    """So many games, each as likely as any other (Vitter's algorithm R, 1985)."""
    drawn: Drawn = []
    for count, game in enumerate(games, 1):
        if count <= number:
            drawn.append(game)
        elif (place := source.randrange(count)) < number:
            drawn[place] = game
    return drawn


def _players_of(
    archive: EvidenceArchive, row: EvidenceGame, bundles: dict[str, str]
) -> tuple[Entrant, Entrant]:
    """Both players, as strangers, which only run in a sandbox; their bundles are stored on this machine."""
    engines = []
    for side, version in (("White", row.white), ("Black", row.black)):
        content = archive.read(f"{BUNDLES}{bundles[version]}.zip", MAX_ZIP_BYTES)
        path: Path = bundle_path(usual_store(), store_bundle(usual_store(), content))
        words = (f"cmd={shlex.quote(str(path))}", f"name={side}")
        engines.append(Setting("engine", words, f"evidence: {version}"))
    white, black = (
        replace(one, site=archive.manifest.site, trusted=False)
        for one in read_entrants(engines, [], ladders=(row.ladder,), store=usual_store())
    )
    return white, black
