"""``python -m engines games``: the games of a site that match filters, and the records of these games."""

from __future__ import annotations

from argparse import Namespace

from engines.client.filters import filters_of
from engines.client.output import print_json, print_table
from engines.client.site_client import Json, SiteClient, find_token, site_of
from engines.rules.registry import GAMES

HEADS = ("game", "ladder", "white", "black", "result", "plies", "end", "finished")


def run(parsed: Namespace) -> int:
    """Print the games as a table, or as one JSON object a line; the ladders if nothing is asked of a site."""
    filters = filters_of(parsed)
    if not (filters or parsed.site or parsed.json or parsed.all):
        print("\n".join(GAMES))
        return 0
    site = SiteClient(site_of(parsed.site), find_token(is_needed=False))
    rows = site.rows("/api/v1/games/", filters, None if parsed.all else parsed.most)
    if parsed.json:
        for row in rows:
            print_json(row)
    else:
        print_table(
            ("game", "ladder", "white", "black", "result", "plies", "end", "finished"), map(_cells, rows)
        )
    return 0


def _cells(row: Json) -> list[object]:
    white, black = (f"{row.get(side)} v{row.get(f'{side}_version')}" for side in ("white", "black"))
    end = row.get("reason") or row.get("termination")
    moment = str(row.get("finished") or "")[:16].replace("T", " ")
    return [row.get("id"), row.get("ladder"), white, black, row.get("result"), row.get("plies"), end, moment]
