"""What the stranger does: accounts, uploads, monstrous tournaments, slow connections and floods of forms."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from benchmarks.slow_clients import KINDS, SlowClients
from benchmarks.stranger.visitor import Fields, Refused, Visitor
from workers.bundles.store import pack_bundle

ADDRESSES: Final = tuple(f"127.0.0.{number}" for number in range(2, 12))
UPLOADS: Final = 10
CONNECTIONS: Final = 300
UPLOAD_PAUSE_S: Final = 5.0
REDIRECT: Final = 302
FLOODERS: Final = 16
"""Threads that each send one form after the other."""
MONSTERS: Final[Sequence[Mapping[str, str | int]]] = (
    {"time_control": "999999+999999", "pairs": 1},
    {"time_control": "5000+0", "pairs": 300},
    {"time_control": "0.5/move", "pairs": 300},
    {"time_control": "0.2/move", "pairs": 300},
    {"time_control": "0.02/move", "pairs": 300},
    {"time_control": "60+0.5", "pairs": 50},
    {"time_control": "1+0.1", "pairs": 300},
    {"time_control": "5+0.1", "pairs": 300},
)
"""More than an account may run; the first is refused, because a game could take for ever."""
SLOW_BOT: Final = """
import time
from engines.sdk import run

def choose(turn):
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        pass
    return next(turn.position.legal_moves())

run(choose, name="Slow {number}", games={games!r})
"""
HTMX: Final = {"HX-Request": "true"}


class Stranger:
    """Everything at once, from ``ADDRESSES``; ``did`` counts what was done, and how the site answered it."""

    def __init__(self, site: tuple[str, int], bots: Sequence[int], ladders: Sequence[str]) -> None:
        self.did: Counter[str] = Counter()
        self._site, self._bots, self._ladders = site, bots, ladders
        self._me = Visitor(site, ADDRESSES[0])
        self._over = threading.Event()
        self._names = (f"stranger-{number}" for number in itertools.count(1))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Let the tournaments begin and the floods run, until the block is left."""
        self._me.sign_up(next(self._names))
        for number, terms in enumerate(MONSTERS):
            self._start_monster(number, terms)
        floods = (partial(self._flood, ADDRESSES[number % len(ADDRESSES)]) for number in range(FLOODERS))
        acts = [self._hold_connections, self._upload_all, *floods]
        threads = [threading.Thread(target=act, daemon=True) for act in acts]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _start_monster(self, number: int, terms: Mapping[str, str | int]) -> None:
        fields: Fields = {
            "name": f"Monster {number}", "bots": self._bots, "ladders": self._ladders, "opening_plies": 0,
            "seed": number, "rated": "on", **terms,
        }  # fmt: skip
        try:
            self._me.start_tournament(fields)
        except Refused as refused:
            print(f"- refused: {refused}")
            self.did["tournaments refused"] += 1
        else:
            self.did["tournaments running"] += 1

    def _upload_all(self) -> None:
        """Ten bots that think for a second and a half whatever their clock says; refused ones again."""
        waiting = [pack_slow_bot(number, self._ladders) for number in range(UPLOADS)]
        while waiting and not self._over.is_set():
            answer = self._me.upload("/upload/", "bundle", waiting[0])
            self.did[f"uploads answered {answer.status}"] += 1
            if answer.status == REDIRECT:
                waiting.pop(0)
            else:
                self._over.wait(UPLOAD_PAUSE_S)

    def _hold_connections(self) -> None:
        slow = SlowClients(KINDS, CONNECTIONS, len(ADDRESSES), self._site)
        try:
            while not self._over.wait(1):
                slow.poll()
                self.did["slow connections held"] = max(self.did["slow connections held"], slow.count_held())
        finally:
            slow.close()

    def _flood(self, address: str) -> None:
        """Send forms and searches without a pause, each as a new visitor or as the account."""
        for act in itertools.cycle(self._forms(address)):
            if self._over.is_set():
                return
            try:
                self.did[f"requests answered {act()}"] += 1
            except OSError:
                self.did["requests without an answer"] += 1
                time.sleep(0.1)  # the connection was refused at once

    def _forms(self, address: str) -> list[Callable[[], int]]:
        guest = Visitor(self._site, address)
        mine = Visitor(self._site, address, self._me.cookies.copy())
        wrong = {"login": "ada", "password": "guess"}
        many = {"bots": self._bots, "ladders": self._ladders, "pairs": 1000, "time_control": "1+1"}
        return [
            lambda: guest.post("/log-in/", wrong).status,
            lambda: self._sign_up(address),
            lambda: guest.post("/password-reset/", {"email": "ada@example.org"}).status,
            lambda: guest.get("/games/?order=plies&q=" + "x" * 500).status,
            lambda: guest.get("/tournaments/?before=99999999").status,
            lambda: mine.post("/tournaments/new/", {**many, "name": ""}, HTMX).status,
            lambda: mine.post("/tournaments/new/", {**many, "name": "", "kind": "gauntlet"}).status,
            lambda: mine.upload("/upload/", "bundle", b"PK" + b"x" * 200_000).status,
            lambda: guest.get("/ladders/").status,
            lambda: guest.get("/").status,
        ]

    def _sign_up(self, address: str) -> int:
        form = {"username": next(self._names), "password1": "long enough 7", "password2": "long enough 7"}
        return Visitor(self._site, address).post("/sign-up/", form).status


def pack_slow_bot(number: int, ladders: Sequence[str]) -> bytes:
    listed = ", ".join(f'"{code}"' for code in ladders)
    about = f'[bot]\nname = "Slow {number}"\nversion = "1"\n'
    manifest = f'{about}command = ["python3", "main.py"]\ngames = [{listed}]\n'
    program = SLOW_BOT.format(number=number, games=list(ladders))
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": program.encode()})
