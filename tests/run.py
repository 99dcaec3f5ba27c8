"""The test command of ``./arena test``: static checks, then the tests; no process or file is left.

Tests run as an ordinary user. Root hands them over to a user of their own, with a control group, as
``./arena up`` does, and runs only those marked ``root`` itself. Everything a run writes lies in one
temporary folder, in ``.venv/cache``, and in what is compiled (``build`` and ``__pycache__`` folders).
Processes that outlive the tests are named, killed, and fail the run. Marks in the tests select the slow
ones; ``ci_plugin`` handles skips.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from tests.ci_plugin import in_ci, missing_packages
from tests.scripts.tools import Uninstalled, installed
from tests.support.databases import FOLDER
from tests.support.processes import command_line
from tournament.embedded.processes.guard import PR_SET_CHILD_SUBREAPER
from workers.sandbox.tree import descendants

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".venv" / "cache"
"""The caches of the tools, which make a second run faster."""
END_SECONDS = 10.0
"""How long processes may take to end after the tests that started them."""
INTERRUPT_SECONDS = 20.0
"""How long an interrupted step may clean up before it is killed."""
SOURCES = ("benchmarks", "engines", "tests", "tournament", "workers")
BOTH_FORMS = (
    "tests/engines/rules",
    "tests/engines/test_commands.py",
    "tests/engines/test_bench.py",
    "tests/workers/game/fastpath",
    "tests/workers/engine/test_players.py",
)
"""Tests of the compiled packages; they also run with plain Python."""


MAX_REPEATED = 3
"""How many failed tests of a run are repeated alone."""
PASSED_ALONE = "Each test named here failed beside others and passed alone; mend it, for it hides failures."

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run after it has cleaned up."""


class Mode(Enum):
    """Which tests run; the values are what tests read in ``DUARENA_TESTS``."""

    QUICK = "quick"
    DEFAULT = "default"
    ALL = "all"

    @property
    def expression(self) -> str:
        """The tests that belong to it, as an expression of marks."""
        return {"quick": "not slow and not thorough", "default": "not thorough", "all": ""}[self.value]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the summary; ``closing`` has the last lines of a test run, which are repeated there.

    ``may_repeat`` says that a few tests failed and nothing else is wrong.
    """

    name: str
    passed: bool
    seconds: float
    closing: str = ""
    may_repeat: bool = False
    packages: frozenset[str] = frozenset()
    """Packages that would add ``skipped`` tests."""
    skipped: int = 0


class Interrupted(BaseException):
    """A signal ended the run."""


def main(arguments: Sequence[str]) -> int:
    mode, named = parse(arguments)
    os.chdir(ROOT)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="arena-test-"))
    children = Children()
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    try:
        return Run(mode, folder, children, named).run()
    except Interrupted:
        print("\narena: interrupted", file=sys.stderr)
        return 130
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        kill_descendants(children)
        shutil.rmtree(folder, ignore_errors=True)


def files_of_root() -> list[str]:
    """The files with tests that need root: to collect all others takes longer than these tests."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path) for path in files if "pytest.mark.root" in path.read_text(encoding="utf-8")]


def parse(arguments: Sequence[str]) -> tuple[Mode, tuple[str, ...]]:
    """The mode, and pytest's words for the tests that are named; exits with status 2 for an unknown one."""
    parser = argparse.ArgumentParser(prog="./arena test", description="Check the code and run its tests.")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--quick", action="store_true", help="only the quick tests")
    either.add_argument("--all", action="store_true", help="also the long tests; what CI runs")
    parser.add_argument("-k", metavar="WORDS", help="only tests whose names match, as pytest's -k")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only these folders, files, or FILE::TEST")
    given = parser.parse_args(arguments)
    mode = Mode.QUICK if given.quick else Mode.ALL if given.all else Mode.DEFAULT
    return mode, (*given.paths, *(("-k", given.k) if given.k else ()))


def _interrupt(number: int, _frame: object) -> None:
    raise Interrupted(number)


class Run:
    """One run of the test command."""

    def __init__(self, mode: Mode, folder: Path, children: Children, named: Sequence[str]) -> None:
        self._mode = mode
        self._named = named
        self._folder = folder
        self._children = children
        self._steps: list[Step] = []
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def run(self) -> int:
        """All steps and the summary, of an interrupted run too; the exit code."""
        try:
            return self._run_named() if self._named else self._run_steps()
        finally:
            self._print_summary()

    def _run_named(self) -> int:
        """The tests that were named, without static checks."""
        if self._mode is not Mode.ALL:
            print("arena: without the thorough tests, which --all adds")
        self._test("tests", "--durations=5", *self._named)
        return 0 if self._steps[-1].passed else 1

    def _run_steps(self) -> int:
        python = sys.executable
        scripts = Path(python).parent
        self._compile()
        with self._in_background("types (mypy)", python, "-m", "mypy", f"--cache-dir={CACHE / 'mypy'}"):
            ruff = (str(scripts / "ruff"), "--quiet")
            self._step(
                "formatting (ruff format)", *ruff, "format", f"--cache-dir={CACHE / 'ruff'}", "--check", "."
            )
            self._step("lint (ruff)", *ruff, "check", f"--cache-dir={CACHE / 'ruff'}", ".")
            contracts = (str(scripts / "lint-imports"), "--cache-dir", str(CACHE / "imports"))
            self._step("import contracts (import-linter)", *contracts)
            migrations = ("manage.py", "makemigrations", "--check", "--dry-run")
            somewhere = {**os.environ, "DUARENA_DATA": str(self._folder)}
            self._step("migrations are complete", python, *migrations, environment=somewhere)
            self._check_scripts()
            self._test_all()
        return 0 if all(step.passed for step in self._steps) else 1

    def _check_scripts(self) -> None:
        """The types and the lint of the pages' scripts; in CI their tools must be there."""
        name = "scripts of the pages"
        try:
            tools = installed(CACHE)
        except (Uninstalled, FileNotFoundError, PermissionError) as why:
            missing = isinstance(why, OSError)
            print(f"\narena: {name} are not checked: {'npm is missing' if missing else why}", flush=True)
            packages = frozenset({"nodejs", "npm"} if missing else ())
            self._steps.append(Step(f"{name} (not run)", not in_ci(), 0, packages=packages, skipped=missing))
            return
        self._step(f"types of the {name} (tsc)", str(tools / "tsc"))
        self._step(
            f"lint of the {name} (oxlint)",
            str(tools / "oxlint"),
            "--quiet",
            "tournament/static",
            "tests/scripts",
        )

    def _compile(self) -> None:
        """Compile the rules, so that both forms are tested; in CI that must succeed."""
        if not self._step("compile the rules", sys.executable, "setup.py") and not in_ci():
            self._steps.pop()  # setup.py has printed the reason; only the plain form is tested
        # The tests start many processes, and their user may be unable to write into the checkout.
        subprocess.run((sys.executable, "-m", "compileall", "-qq", *SOURCES), check=False)
        subprocess.run((sys.executable, "-m", "tests.support.rewritten"), check=False)

    def _test_all(self) -> None:
        """The test runs: plain rules, compiled rules as an ordinary user, and the tests for root.

        Long tests of the rules run in both forms only in a complete run.
        """
        plain = [] if self._mode is Mode.QUICK else [str(ROOT / path) for path in BOTH_FORMS]
        if plain:
            of = Mode.ALL if self._mode is Mode.ALL else Mode.QUICK
            self._test("the rules as plain Python", *plain, environment={"DUARENA_PURE": "1"}, of=of)
        which = "" if self._mode is Mode.DEFAULT else f" ({self._mode.value})"
        self._test(f"tests{which}", *(["--ignore=tests/e2e"] if self._mode is Mode.QUICK else []))
        if os.geteuid() == 0 and self._mode is not Mode.QUICK:
            self._test("tests that need root", *files_of_root(), as_root=True)

    def _test(
        self,
        name: str,
        *words: str,
        environment: Mapping[str, str] | None = None,
        as_root: bool = False,
        of: Mode | None = None,
    ) -> None:
        """One run of pytest, which has a folder of its own in the run's. ``of`` is a mode, if not the run's.

        If a few tests of the complete run fail, they are repeated one at a time. A test that passes then
        fails only on a busy machine: the run passes, and its summary names the test, so that it is mended.
        """
        own = Path(tempfile.mkdtemp(dir=self._folder, prefix="r"))
        marks = [(of or self._mode).expression, "root" if as_root else "not root"]
        pytest = (
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "tests.ci_plugin",
            "-m",
            " and ".join(filter(None, marks)),
        )
        # For a few files or tests a second process takes longer to start than it saves.
        are_few = as_root or any(".py" in word for word in self._named)
        processes = 0 if are_few else self._processes()
        spread = ("-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder")
        color = "yes" if sys.stdout.isatty() else "no"
        folders = (f"--basetemp={own / 'pytest'}", "-o", f"cache_dir={own / 'cache'}")
        command = [*pytest, f"--color={color}", *folders]
        variables = {**os.environ, **self._environment(own), **(environment or {})}
        if os.geteuid() == 0 and not as_root:
            self._folder.chmod(0o711)
            entrance = (
                "-m",
                "workers.sandbox.entrance",
                "--own",
                str(own),
                "--own",
                str(CACHE / "databases"),
                "--",
            )
            command = [sys.executable, *entrance, *command]
        self._step(name, *command, *spread, *words, environment=variables, is_test=True)
        if self._mode is Mode.ALL and self._steps[-1].may_repeat:
            alone = ("--last-failed", "--last-failed-no-failures=none")
            repeated = f"{name}: the failed ones again, one at a time"
            if self._step(repeated, *command, *alone, *words, environment=variables, is_test=True):
                first = self._steps[-2]
                closing = f"{first.closing}\n{PASSED_ALONE}"
                self._steps[-2] = replace(first, passed=True, closing=closing)

    def _processes(self) -> int:
        """One for each core, and another one beside long tests, many of which wait."""
        return len(os.sched_getaffinity(0)) + (self._mode is not Mode.QUICK)

    def _environment(self, own: Path) -> dict[str, str]:
        """Keeps files but compiled Python in the run's folder; git may read another user's checkout."""
        return {
            "DUARENA_TESTS": self._mode.value,
            FOLDER: str(CACHE / "databases"),
            "PYTHONDONTWRITEBYTECODE": "",
            "TMPDIR": str(own),
            "HOME": str(own),
            "XDG_CACHE_HOME": str(own / ".cache"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(own / "hypothesis"),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": str(ROOT),
        }

    # ---- steps

    def _step(
        self, name: str, *command: str, environment: Mapping[str, str] | None = None, is_test: bool = False
    ) -> bool:
        """Run a command to its end, showing what it prints; whether it passed."""
        print(f"\n== {name}", flush=True)
        began = time.monotonic()
        process = self._start(command, environment)
        printed = bytearray()
        left: list[str] = []
        try:
            self._follow(process, printed, show=True)
            left = self._left_running() if is_test else []
        finally:
            text = printed.decode(errors="replace") if is_test else ""
            passed = process.returncode == 0 and not left
            closing = closing_lines(text)
            may_repeat = not left and 0 < failed_tests(closing) <= MAX_REPEATED
            packages, skipped = missing_packages(text)
            seconds = time.monotonic() - began
            self._steps.append(Step(name, passed, seconds, closing, may_repeat, frozenset(packages), skipped))
        if left:
            print("left running, and killed now:", *left, sep="\n  ")
        return passed

    @contextmanager
    def _in_background(self, name: str, *command: str) -> Iterator[None]:
        """Run a command beside the steps of the block; what it printed is shown after them."""
        began = time.monotonic()
        process = self._start(command, None)
        yield
        printed = bytearray()
        self._follow(process, printed, show=False)
        print(f"\n== {name}\n{printed.decode(errors='replace')}", end="", flush=True)
        seconds = self._children.ended[process.pid] - began
        self._steps.insert(0, Step(name, process.returncode == 0, seconds))

    def _start(
        self, command: Sequence[str], environment: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        """In a session of its own: Ctrl-C reaches this process alone, which hands it on once."""
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running[process.pid] = process
        return process

    def _follow(self, process: subprocess.Popen[bytes], printed: bytearray, *, show: bool) -> None:
        """Wait for the end of a process, reaping orphans meanwhile; adds what it prints to ``printed``."""
        assert process.stdout is not None
        output = process.stdout.fileno()
        try:
            while True:
                self._children.reap(self._running)
                has_ended = process.returncode is not None
                ready = self._children.wait(output, 0.0 if has_ended else 1.0)
                chunk = os.read(output, 65536) if ready else b""
                printed += chunk
                if show:
                    os.write(sys.stdout.fileno(), chunk)
                if has_ended and not chunk:
                    break
        except Interrupted:
            rest = self._interrupt(process)
            printed += rest
            if show:
                os.write(sys.stdout.fileno(), rest)
            raise
        del self._running[process.pid]
        process.stdout.close()

    def _interrupt(self, process: subprocess.Popen[bytes]) -> bytes:
        """Interrupt a step, and give it time to clean up; returns its output, such as the failures so far."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=INTERRUPT_SECONDS)[0]
        return b""

    def _left_running(self) -> list[str]:
        """Kill the processes that outlived the tests; returns their command lines."""
        deadline = time.monotonic() + END_SECONDS
        while (left := self._leftover_processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        lines = [f"{pid}: {command_line(pid)[:200] or '(ended)'}" for pid in left]
        while left := self._leftover_processes():
            _kill(left)
        return lines

    def _leftover_processes(self) -> list[int]:
        """The descendants of this process, without the steps in the background."""
        self._children.reap(self._running)
        ours = {one for pid in self._running for one in (pid, *descendants(pid))}
        return [pid for pid in descendants(os.getpid()) if pid not in ours]

    def _print_summary(self) -> None:
        print("\n== summary")
        for step in self._steps:
            print(f"{'ok' if step.passed else 'FAILED':7} {step.seconds:4.0f} s  {step.name}")
        for step in self._steps:
            if step.closing:
                print(f"\n{step.name}:\n{step.closing}")
        packages = sorted(frozenset().union(*(step.packages for step in self._steps)))
        if packages:
            skipped = sum(step.skipped for step in self._steps)
            tests = "1 more test" if skipped == 1 else f"{skipped} more tests"
            print(f"\nto run {tests}: apt-get install {' '.join(packages)}")
        sys.stdout.flush()


class Children:
    """The ends of child processes. Orphans below this process are among them, and none remains a zombie."""

    def __init__(self) -> None:
        self.ended: dict[int, float] = {}
        """When each of the steps was seen to have ended, by process id."""
        self._wakeup, writing = os.pipe()
        for end in (self._wakeup, writing):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, output: int, seconds: float) -> bool:
        """Wait until there is output or a child has ended; whether there is output."""
        ready, _, _ = select.select([output, self._wakeup], [], [], seconds)
        if self._wakeup in ready:
            os.read(self._wakeup, 4096)
        return output in ready

    def reap(self, running: Mapping[int, subprocess.Popen[bytes]]) -> None:
        """Reap those that have ended; those of ``running`` through the object that wants their exit code."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            step = running.get(ended.si_pid)
            if step is not None and step.returncode is None:
                step.poll()
                self.ended[ended.si_pid] = time.monotonic()
            else:  # an orphan, which may have the number of a step that has ended
                os.waitpid(ended.si_pid, 0)


def closing_lines(printed: str) -> str:
    """pytest's last lines: the short summary, or the last line if there is none."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", printed).rstrip().splitlines()
    found = [number for number, line in enumerate(lines) if re.match(r"=+ short test summary info", line)]
    return "\n".join(lines[found[-1] :] if found else lines[-1:])


def failed_tests(closing: str) -> int:
    """How many tests failed, by pytest's last lines; 0 if there were errors outside of tests."""
    lines = closing.splitlines()
    if any(line.startswith("ERROR ") for line in lines):
        return 0
    return sum(line.startswith("FAILED ") for line in lines)


def kill_descendants(children: Children) -> None:
    """Kill and reap until this process has no descendants; it adopts orphans, so none escapes."""
    while left := descendants(os.getpid()):
        _kill(left)
        children.reap({})


def _kill(processes: Sequence[int]) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
