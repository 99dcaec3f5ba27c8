"""``python -m engines watch``: a game of a site, or its broadcast, as a board in the terminal."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator

from engines import text
from engines.client.output import print_json, print_words
from engines.client.site_client import NO_SITE, CannotAsk, Json, SiteClient, find_token, site_of
from engines.rules.base import RulesError
from engines.rules.registry import find_game
from engines.visible import visible

TV = "tv"
CLEAR = "\x1b[H\x1b[J"
"""Moves to the top of a terminal and clears it."""


def run(parsed: Namespace) -> int:
    """Show the moves as they are played: a board on a terminal, else a line a move. A game ends it."""
    site = SiteClient(site_of(parsed.site), find_token(is_needed=False))
    if parsed.game == TV:
        events, shown = site.events("/api/v1/tv/events/"), _Board(None)
    else:
        game = site.get(f"/api/v1/games/{parsed.game}/")
        events, shown = site.events(f"/api/v1/games/{parsed.game}/events/"), _Board(game)
    for event in events:
        if parsed.json:
            print_json(event)
        else:
            shown.take(event)
        if event["type"] == "game.ended" and parsed.game != TV:
            break
    return 0


class _Board:
    """What is known of the game that is shown; None before the first one."""

    def __init__(self, game: Json | None) -> None:
        self._game = game
        self._redraws = sys.stdout.isatty()

    def take(self, event: Json) -> None:
        """Show an event; those of other types are left out."""
        data = event["data"]
        if event["type"] == "tv.game":
            self._game = data
            print_words(f"{_players(data)} on {data.get('ladder')}: {data.get('page')}")
        elif event["type"] == "game.move":
            self._show(data)
        elif event["type"] == "game.ended":
            how = data.get("reason") or data.get("termination") or ""
            print_words(f"{_players(data)}: {data.get('result') or 'no result'} {how}".rstrip())

    def _show(self, move: Json) -> None:
        line = " ".join(_facts(move))
        if not self._redraws:
            print_words(line)
            return
        head = visible(_players(self._game or {}), 200)
        print(f"{CLEAR}{head}\n\n{self._drawn(move)}\n{visible(line, 200)}", flush=True)

    def _drawn(self, move: Json) -> str:
        try:
            position = find_game(str((self._game or {})["ladder"])).position.parse(str(move["position"]))
            return text.draw(position, last_move=str(move["move"]))
        except (KeyError, RulesError):
            raise CannotAsk(NO_SITE) from None


def _players(game: Json) -> str:
    return " – ".join(f"{game.get(side)} v{game.get(f'{side}_version')}" for side in ("white", "black"))


def _facts(move: Json) -> Iterator[str]:
    """The move with its number, and what its engine said."""
    yield f"{move.get('ply')}. {move.get('side')} {move.get('move')}"
    if move.get("mate") is not None:
        yield f"mate {move['mate']}"
    elif move.get("score") is not None:
        yield f"{int(move['score']) / 100:+.2f}"
    for name in ("depth", "nodes"):
        if move.get(name) is not None:
            yield f"{name} {move[name]}"
    if move.get("white_ms") is not None and move.get("black_ms") is not None:
        yield f"clocks {int(move['white_ms']) / 1000:.1f} s, {int(move['black_ms']) / 1000:.1f} s"
