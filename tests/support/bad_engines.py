"""An engine that plays well, except for the faults in its arguments. Run as a program; standard library only.

    bad_engines.py MARK [WHEN WHAT DETAIL]...

MARK identifies the process in the process list. WHEN is a word of the protocol, or ``start``; ``go:2`` is
only the second time. WHAT is a function of this module that is then called with DETAIL; if it returns True
the engine does not answer that word. Every engine ends by itself after a time limit.
It plays the moves of ``LINE``, which is legal in Dogon kulei, and after another line the first legal move; it
reports facts about itself in ``info`` lines.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

MAX_SECONDS = 20
MAX_BYTES = 64 * 1024 * 1024
MAX_PROCESSES = 100
LINE_BYTES = 64 * 1024
LIMIT_BYTES = {"1": 1024 * 1024, "2": 16 * 1024 * 1024}
"""The server's limits of output, by descriptor."""
LINE = "d1+ d2- a1- f2+ f1- b2- a1- c2+ b1+ b2+ e1+ f2- c1- d2+ f1+ a2-".split()

move = ""
"""The next answer."""
received: list[str] = []
"""The words of the last line received."""
game = 0
blanks: str | None = None
"""The separator of words: None is any white space."""
lazy_lines: list[str] | None = None
"""What is written at the end; None writes at once."""
kept: list[bytes] = []
"""The memory of ``keep``."""
leaked: list[object] = []
"""The open files of ``leak``."""
plies = 0
"""The number of moves in the last ``position``."""
noted = ""
"""The last argument of ``note``."""


def say(text: str) -> None:
    """Write ``text`` with its escapes, such as ``\\xff``, as bytes."""
    if lazy_lines is not None:
        lazy_lines.append(text)
        return
    data = text.replace("{move}", move).encode("latin-1").decode("unicode_escape").encode("latin-1")
    while data:
        data = data[os.write(1, data) :]


def lazy(_: str) -> bool:
    """Unless Python is unbuffered, write nothing before the end, like a program that does not flush."""
    global lazy_lines
    lazy_lines = None if os.environ.get("PYTHONUNBUFFERED") else []
    return False


def also(text: str) -> bool:
    """Write ``text`` before the answer of a good engine."""
    say(text)
    return False


def only(text: str) -> bool:
    say(text)
    return True


def many(text: str) -> bool:
    """``1000 words``: write a number of lines."""
    count, _, words = text.partition(" ")
    say(f"{words}\\n" * int(count))
    return False


def wide(count: str) -> bool:
    """Write a line of about ``count`` bytes."""
    say(f"info string {'x' * int(count)}\\n")
    return False


def pieces(text: str) -> bool:
    """Write ``text`` in the pieces between its ``|``, with a pause after each."""
    for piece in text.split("|"):
        say(piece)
        time.sleep(0.005)
    return False


def leave(code: str) -> bool:
    os._exit(int(code))


def die(name: str) -> bool:
    signal.signal(signal.Signals[name], signal.SIG_DFL) if name != "SIGKILL" else None
    os.kill(os.getpid(), signal.Signals[name])
    return True


def kill_parent(_: str) -> bool:
    os.kill(os.getppid(), signal.SIGKILL)
    return hang("")


def hang(_: str) -> bool:
    time.sleep(MAX_SECONDS)
    return True


def resist(_: str) -> bool:
    """Hang and ignore every signal that can be ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
        if number < 32:
            signal.signal(number, signal.SIG_IGN)
    return hang("")


def stop(_: str) -> bool:
    os.kill(os.getpid(), signal.SIGSTOP)
    return True


def limit(seconds: str) -> bool:
    """End by itself after ``seconds`` instead of ``MAX_SECONDS``."""
    signal.alarm(int(seconds))
    return False


def late(seconds: str) -> bool:
    time.sleep(float(seconds))
    return False


def wait(path: str) -> bool:
    """Wait until the file exists."""
    while not os.path.exists(path):
        time.sleep(0.005)
    return False


def flood(what: str) -> bool:
    """``1 info x\\n``: write the text to that descriptor without end; notes when it reaches the limit."""
    descriptor, _, text = what.partition(" ")
    data = text.encode().decode("unicode_escape").encode() * 1000
    most = LIMIT_BYTES[descriptor] if b"\n" in data else LINE_BYTES
    written = 0
    while written < MAX_BYTES:
        if noted and written <= most < written + len(data):
            note(noted)
        written += os.write(int(descriptor), data)
    return hang("")


def drip(text: str) -> bool:
    while True:
        say(text)
        time.sleep(0.005)


def complain(count: str) -> bool:
    """Write ``count`` bytes to standard error, from ``FIRST`` to ``LAST``."""
    data = b"FIRST" + b"x" * (int(count) - 9) + b"LAST"
    while data:
        data = data[os.write(2, data) :]
    return False


def close(descriptor: str) -> bool:
    os.close(int(descriptor))
    return hang("")


def shut(descriptor: str) -> bool:
    os.close(int(descriptor))
    return False


def multiply(_: str) -> bool:
    """Start a child that keeps all pipes open."""
    if os.fork() == 0:
        hang("")
        os._exit(0)
    return False


def escape(how: str) -> bool:
    """Start a child in a session of its own that keeps no pipe, as a daemon; ``bare`` without environment."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            words = [sys.executable, "-S", __file__, sys.argv[1], "start", "hang", "-"]
            os.execve(words[0], words, {} if how == "bare" else dict(os.environ))
        os._exit(0)
    os.wait()
    return False


def dig(depth: str) -> bool:
    """Fill the home folder with folders nested too deep for any path, the innermost closed."""
    os.chdir(os.environ["HOME"])
    for _ in range(int(depth)):
        os.mkdir("deep")
        os.chdir("deep")
    os.chmod(".", 0)
    os.chdir("/")
    return False


def note(what: str) -> bool:
    """``NAME FILE``: add a line to the file, the name and the time in nanoseconds of the monotonic clock."""
    global noted
    noted = what
    name, _, path = what.partition(" ")
    with open(path, "a") as file:
        file.write(f"{name} {time.monotonic_ns()}\n")
    return False


def attack(what: str) -> bool:
    """``module.function {facts}``: call a function of a hostile program and report its result."""
    name, _, facts = what.partition(" ")
    module, _, function = name.partition(".")
    result: object = None
    try:
        result = getattr(importlib.import_module(f"programs.{module}"), function)(json.loads(facts))
    except Exception as error:
        print(f"{name}: {error!r}", file=sys.stderr, flush=True)
    data = f"info string result {json.dumps(result)}\n".encode()
    while data:
        data = data[os.write(1, data) :]
    return False


def look(_: str) -> bool:
    """Report the environment and the files on standard error, and write a file."""
    seen = {"environment": dict(os.environ), "cwd": os.getcwd(), "files": sorted(os.listdir())}
    with open(os.path.join(os.environ["HOME"], "note"), "w") as file:
        file.write("mine")
    print(json.dumps(seen), file=sys.stderr, flush=True)
    return False


def show(_: str) -> bool:
    """Report the environment on standard error."""
    print(json.dumps({"environment": dict(os.environ)}), file=sys.stderr, flush=True)
    return False


def relink(_: str) -> bool:
    """Replace the SDK in the home folder by a link to another folder."""
    link = os.path.join(os.environ["HOME"], "engines")
    os.unlink(link)
    os.symlink("/", link)
    return False


def spin(_: str) -> bool:
    """Use a core until the time limit, in a thread."""
    threading.Thread(target=_burn, daemon=True).start()
    return False


def _burn() -> None:
    while True:
        pass


def burn(seconds: str) -> bool:
    """Use processor time for ``seconds``."""
    until = time.process_time() + float(seconds)
    while time.process_time() < until:
        pass
    return False


def take(size: str) -> bool:
    """Use ``size`` bytes of memory, at most three times ``MAX_BYTES``."""
    held = [b"x" * 1024 * 1024 for _ in range(min(int(size), 3 * MAX_BYTES) >> 20)]
    return hang(str(len(held)))


def keep(size: str) -> bool:
    """Use ``size`` bytes more memory each time, at most four times ``MAX_BYTES`` in all."""
    if len(kept) * int(size) < 4 * MAX_BYTES:
        kept.append(b"x" * int(size))
    return False


def share(size: str) -> bool:
    """The same with memory that later children share."""
    held = [mmap.mmap(-1, 8 * 1024 * 1024) for _ in range(min(int(size), 3 * MAX_BYTES) >> 23)]
    for piece in held:
        piece.write(b"x" * len(piece))
    return hang("")


def crowd(count: str) -> bool:
    """Start ``count`` processes, and end if that fails."""
    children: list[int] = []
    try:
        for _ in range(min(int(count), MAX_PROCESSES)):
            child = os.fork()
            if child == 0:
                hang("")
                os._exit(0)
            children.append(child)
    except OSError:
        time.sleep(1)  # gives time to a periodic check
        os._exit(7)
    return False


def fill(size: str) -> bool:
    """Write a file of ``size`` bytes with the default handling of signals."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    with open(os.path.join(os.environ["HOME"], "full"), "wb") as file:
        file.writelines(b"x" * 1024 * 1024 for _ in range(min(int(size), MAX_BYTES) >> 20))
    return False


def narrow(_: str) -> bool:
    """Separate words only at spaces from now on, so that a carriage return is part of a word."""
    global blanks
    blanks = " "
    return False


def tire(count: str) -> bool:
    """Crash if the line has this number of words."""
    if len(received) > int(count):
        os._exit(9)
    return False


def cramp(size: str) -> bool:
    """Crash at a line that is longer than ``size`` bytes."""
    if len(" ".join(received)) > int(size):
        os._exit(9)
    return False


def panic(least_ms: str) -> bool:
    """Crash at a clock below ``least_ms``."""
    if "p1time" in received and int(received[2]) < int(least_ms):
        os._exit(9)
    return False


def squander(number: str) -> bool:
    """Use the whole clock from this move of a player on."""
    if "p1time" in received and plies >= 2 * (int(number) - 1):
        time.sleep(int(received[2]) / 1000)
    return False


def leak(what: str) -> bool:
    """Keep one thread, ended child or open file more each time."""
    if what == "thread":
        threading.Thread(target=time.sleep, args=(MAX_SECONDS,), daemon=True).start()
    elif what == "child":
        if os.fork() == 0:
            os._exit(0)
    else:
        leaked.append(open(os.devnull, "rb"))  # noqa: SIM115 - never closed
    return False


def score(_: str) -> bool:
    """At a ``position`` given as a ``fen``: report that its mover wins, from White's side."""
    say(f"info score cp {-300 if received[1] == 'fen' and received[3] == 'b' else 300}\\n")
    return False


def whim(_: str) -> bool:
    """Answer with a random legal move."""
    global move
    move = random.choice(off_the_line())
    return False


def age(_: str) -> bool:
    """Answer with another move in each game of the process."""
    global move
    moves = off_the_line()
    move = moves[game % len(moves)]
    return False


WHAT: dict[str, Callable[[str], bool]] = {
    function.__name__: function
    for function in (
        lazy, also, only, many, wide, pieces, leave, die, kill_parent, hang, resist, stop, limit, late, wait,
        flood, drip, complain, close, shut, multiply, escape, dig, note, attack, look, show, relink, spin,
        burn, take, keep, share, crowd, fill, narrow, tire, cramp, panic,
        squander, leak, score, whim, age,
    )
}  # fmt: skip


def off_the_line() -> list[str]:
    """The legal moves after the last line, a ``position``."""
    from engines.rules.registry import find_game

    rules = find_game("dogon-kulei").position
    end = received.index("moves") if "moves" in received else len(received)
    position = rules.parse(" ".join(received[2:end])) if received[1] == "fen" else rules.initial()
    for token in received[end + 1 :]:
        position = position.play(token)
    return list(position.legal_moves())


def choose() -> str:
    """The move after the last line, a ``position``."""
    played = received[3:]
    if received[1] == "startpos" and len(played) < len(LINE) and played == LINE[: len(played)]:
        return LINE[len(played)]
    return next(iter(off_the_line()), "none")


def main(arguments: list[str]) -> None:
    global move, received, game, lazy_lines, plies
    signal.alarm(MAX_SECONDS)
    plan = [tuple(arguments[at : at + 3]) for at in range(0, len(arguments), 3)]
    times: Counter[str] = Counter()

    def misbehave(word: str) -> bool:
        times[word] += 1
        moments = (word, f"{word}:{times[word]}")
        done = [WHAT[what](detail) for when, what, detail in plan if when in moments]
        return any(done)

    misbehave("start")
    for line in sys.stdin.buffer:
        received = line.decode().rstrip("\n").split(blanks)
        word = received[0] if received else ""
        if word == "quit" and not misbehave("quit"):
            return
        if word == "position":
            plies = len(received) - received.index("moves") - 1 if "moves" in received else 0
            move = choose()
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
    misbehave("end")
    if lazy_lines is not None:
        held, lazy_lines = lazy_lines, None
        say("".join(held))


if __name__ == "__main__":
    main(sys.argv[2:])
