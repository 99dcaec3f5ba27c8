"""``python3 -m engines merge``: one estimate from the evidence of a ladder on several sites.

Versions with the same bundle, by its SHA-256, are one player; they connect the sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from engines.arithmetic.ratings import POINTS
from engines.console import complain
from engines.evidence.archive import EvidenceArchive, check_files
from engines.evidence.command import check_signer, opened, read_signers
from engines.evidence.estimate_check import Results, find_anchor
from engines.evidence.format import EvidenceVersion
from engines.evidence.reading import read_games
from engines.evidence.report import EvidenceReport
from engines.evidence.strict_json import FormatError
from engines.http_client import AddressError
from engines.visible import visible


def run(files: Sequence[str], signers: Path | None) -> int:
    """Print the strengths in Elo, the best first, with the number of sites that know each bundle.

    ``signers`` are the keys of all sites; those of addresses are fetched without.
    """
    report = EvidenceReport(print)
    try:
        with ExitStack() as stack:
            archives = [stack.enter_context(opened(file)) for file in files]
            for file, archive in zip(files, archives, strict=True):
                check_files(archive, report)
                check_signer(archive, read_signers(file, signers), report)
            for line in merge(archives, report):
                print(line)
    except (FormatError, AddressError) as error:
        return complain(visible(str(error), 1000))
    except ImportError:
        return complain("the estimate needs the package numpy, which this Python does not have")
    except BrokenPipeError:
        raise  # nobody reads what is printed
    except OSError as error:
        return complain(f"cannot read {visible(str(error.filename))!r}: {error.strerror}")
    return report.exit_code


def merge(archives: Sequence[EvidenceArchive], report: EvidenceReport) -> list[str]:
    """The lines of the table; raises ``FormatError`` unless some bundle played on two sites."""
    if len({one.manifest.name for one in archives}) > 1 or len({one.manifest.kind for one in archives}) > 1:
        raise FormatError("these are not the evidence of one ladder")
    if len({one.manifest.site for one in archives}) < len(archives):
        raise FormatError("two of these are of one site, whose games would count twice")
    results, labels, sites = Results(), dict[str, str](), dict[str, set[str]]()
    names = dict[str, str]()
    """The version of each player on the first site that knows it."""
    versions: list[EvidenceVersion] = []
    for archive in archives:
        rows = list(archive.rows("versions.jsonl", EvidenceVersion))
        site = archive.manifest.site
        for row in rows:
            label = labels.setdefault(row.bundle_sha256, f"{site} {row.version}")
            sites.setdefault(label, set()).add(site)
            names.setdefault(label, row.version)
            versions.append(replace(row, version=label))
        _add_games(results, archive, {row.version: labels[row.bundle_sha256] for row in rows}, report)
    shared = [player for player in results.players if len(sites[player]) > 1]
    if not shared:
        raise FormatError("no bundle has played on two of the sites: nothing connects them")
    named = {names[player]: player for player in reversed(shared)}
    samples = (replace(row, version=names[row.version]) for row in versions if row.version in shared)
    anchor = find_anchor(samples, list(named))
    found, players = results.estimate(None if anchor is None else named[anchor])
    table = zip(players, found.strengths.values(), strict=True)
    ranked = sorted(table, key=lambda one: -one[1].elo)
    return [
        f"{strength.elo:+7.0f} ± {strength.error:.0f}  {visible(player, 200)} ({len(sites[player])} sites)"
        for player, strength in ranked
    ]


def _add_games(
    results: Results, archive: EvidenceArchive, labels: dict[str, str], report: EvidenceReport
) -> None:
    site = archive.manifest.site
    with report.check("records") as check:
        for row, record in read_games(archive, check):
            if not {row.white, row.black} <= labels.keys():
                raise FormatError(f"{site}: {row.game} has a player without a version")
            white, black = labels[row.white], labels[row.black]
            if record is not None and row.rated and record.result in POINTS and white != black:
                results.add(replace(row, event=f"{site} {row.event}"), white, black, record.result)
