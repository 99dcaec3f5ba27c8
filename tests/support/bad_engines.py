"""An engine that plays well but for what its arguments say. Run as a program; standard library only.

    bad_engines.py MARK [WHEN WHAT DETAIL]...

MARK is to be found in the process list. WHEN is a word of the protocol, or ``start``; ``go:2`` is
the second time only. WHAT is a function below that is called with DETAIL then; if it returns True
the engine says nothing more to that word. Every engine has a fuse after which it ends by itself.
It plays the moves of ``LINE``, which is legal in Dogon kulei, and tells of itself in ``info`` lines.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable

FUSE_SECONDS = 20
FUSE_BYTES = 64 * 1024 * 1024
LINE = "d1+ d2- a1- f2+ f1- b2- a1- c2+ b1+ b2+ e1+ f2- c1- d2+ f1+ a2-".split()

move = ""
"""The next of the line."""


def say(text: str) -> None:
    """Write, with escapes as in ``\\xff`` being bytes."""
    data = text.replace("{move}", move).encode("latin-1").decode("unicode_escape").encode("latin-1")
    while data:
        data = data[os.write(1, data) :]


def also(text: str) -> bool:
    """Say it, then whatever a good engine would say."""
    say(text)
    return False


def only(text: str) -> bool:
    say(text)
    return True


def many(text: str) -> bool:
    """``1000 words``: so many lines of them."""
    count, _, words = text.partition(" ")
    say(f"{words}\\n" * int(count))
    return False


def leave(code: str) -> bool:
    os._exit(int(code))


def die(name: str) -> bool:
    signal.signal(signal.Signals[name], signal.SIG_DFL) if name != "SIGKILL" else None
    os.kill(os.getpid(), signal.Signals[name])
    return True


def hang(_: str) -> bool:
    time.sleep(FUSE_SECONDS)
    return True


def resist(_: str) -> bool:
    """Hang, deaf to every signal that can be ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
        if number < 32:
            signal.signal(number, signal.SIG_IGN)
    return hang("")


def stop(_: str) -> bool:
    os.kill(os.getpid(), signal.SIGSTOP)
    return True


def late(seconds: str) -> bool:
    time.sleep(float(seconds))
    return False


def flood(what: str) -> bool:
    """``1 info x\\n``: write the text to that descriptor without end."""
    descriptor, _, text = what.partition(" ")
    data = text.encode().decode("unicode_escape").encode() * 1000
    written = 0
    while written < FUSE_BYTES:
        written += os.write(int(descriptor), data)
    return hang("")


def drip(text: str) -> bool:
    while True:
        say(text)
        time.sleep(0.005)


def complain(count: str) -> bool:
    """So many bytes on standard error, the first and the last few of their own."""
    data = b"FIRST" + b"x" * (int(count) - 9) + b"LAST"
    while data:
        data = data[os.write(2, data) :]
    return False


def close(descriptor: str) -> bool:
    os.close(int(descriptor))
    return hang("")


def multiply(_: str) -> bool:
    """Leave a child behind that holds all pipes open."""
    if os.fork() == 0:
        hang("")
        os._exit(0)
    return False


def dig(depth: str) -> bool:
    """Fill the home folder with folders nested too deep for any path, the innermost closed."""
    os.chdir(os.environ["HOME"])
    for _ in range(int(depth)):
        os.mkdir("d")
        os.chdir("d")
    os.chmod(".", 0)
    os.chdir("/")
    return False


def look(_: str) -> bool:
    """Say on standard error what there is to see and to write."""
    seen = {"environment": dict(os.environ), "cwd": os.getcwd(), "files": sorted(os.listdir())}
    with open(os.path.join(os.environ["HOME"], "note"), "w") as file:
        file.write("mine")
    print(json.dumps(seen), file=sys.stderr, flush=True)
    return False


WHAT: dict[str, Callable[[str], bool]] = {
    function.__name__: function
    for function in (
        also, only, many, leave, die, hang, resist, stop, late, flood, drip,
        complain, close, multiply, dig, look,
    )
}  # fmt: skip


def main(arguments: list[str]) -> None:
    global move
    signal.alarm(FUSE_SECONDS)
    plan = [tuple(arguments[at : at + 3]) for at in range(0, len(arguments), 3)]
    times: Counter[str] = Counter()
    game = 0

    def misbehave(word: str) -> bool:
        times[word] += 1
        moments = (word, f"{word}:{times[word]}")
        done = [WHAT[what](detail) for when, what, detail in plan if when in moments]
        return any(done)

    misbehave("start")
    for line in sys.stdin.buffer:
        words = line.decode().split()
        word = words[0] if words else ""
        if word == "quit" and not misbehave("quit"):
            return
        if word == "position":
            move = LINE[len(words[words.index("moves") + 1 :]) if "moves" in words else 0]
        game += word == "uginewgame"
        if word == "isready":
            say(f"info string process {os.getpid()} game {game}\\n")
        if misbehave(word):
            continue
        if word == "ugi":
            say("id name Bad\\nugiok\\n")
        elif word == "isready":
            say("readyok\\n")
        elif word == "go":
            say("bestmove {move}\\n")


if __name__ == "__main__":
    main(sys.argv[2:])
