"""The process of an engine: lines, deadlines, limits, and an end that leaves nothing."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.jobs import processes_with, wait_until
from workers.engine import output
from workers.engine.faults import EngineExited, EngineFault, EngineFlooded, EnginePipeClosed, EngineSilent
from workers.engine.launch import Launch
from workers.engine.output import StandardError
from workers.engine.process import EngineProcess
from workers.reaper import NO_GROUP, Reaper

Start = Callable[..., EngineProcess]

SAY = "yes 123456789 | head -c {}; echo end"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts shell scripts as engines, and kills them at the end."""
    started: list[EngineProcess] = []

    def start_script(script: str, *words: str, on_wait: Callable[[], None] = lambda: None) -> EngineProcess:
        engine = EngineProcess(launch_of(tmp_path, "sh", "-c", script, "sh", *words), on_wait=on_wait)
        started.append(engine)
        return engine

    yield start_script
    for engine in started:
        engine.kill()


def launch_of(folder: Path, *argv: str) -> Launch:
    return Launch(argv, {"PATH": "/usr/bin:/bin"}, "/", tempfile.mkdtemp(dir=folder))


def in_ms(ms: float) -> int:
    return time.monotonic_ns() + int(ms * 1e6)


def soon() -> int:
    return in_ms(10_000)


def drain(engine: EngineProcess) -> list[bytes]:
    """All complete lines that have arrived."""
    engine.has_spoken()
    return engine.output.take()


def read_on(engine: EngineProcess) -> None:
    while True:
        engine.read_line(soon())


def test_lines_go_in_and_out(start: Start) -> None:
    engine = start("cat")
    engine.write(b"one\ntwo\n", soon())
    assert [engine.read_line(soon()), engine.read_line(soon())] == [b"one", b"two"]


def test_a_line_in_pieces_is_one_line_and_its_time_is_that_of_its_end(start: Start) -> None:
    engine = start("printf a; read x; printf 'b\\n'")
    while not engine.output.unfinished:
        assert drain(engine) == []
    engine.write(b"\n", soon())
    before = time.monotonic_ns()
    assert engine.read_line(soon()) == b"ab"
    assert before <= engine.output.arrived_ns <= time.monotonic_ns()


def test_output_does_not_move_a_deadline(start: Start) -> None:
    engine = start("while :; do printf x; sleep 0.01; done")
    began = time.monotonic()
    with pytest.raises(EngineSilent):
        engine.read_line(in_ms(100))
    assert time.monotonic() - began < 0.1 + 10 * 0.075


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("exit 0", "the process ended with exit code 0"),
        ("exit 7", "the process ended with exit code 7"),
        ("kill -SEGV $$", "the process was ended by signal 11 (SIGSEGV)"),
        ("kill -40 $$", "the process was ended by signal 40"),
        ("sleep 100 & exit 2", "the process ended with exit code 2"),
        ("exec >&- 2>&-; exit 3", "the process ended with exit code 3"),
    ],
)
def test_an_end_is_described_with_its_code_or_signal(start: Start, script: str, sentence: str) -> None:
    engine = start(script)
    with pytest.raises(EngineExited) as caught:
        engine.read_line(soon())
    assert str(caught.value) == sentence
    assert engine.child.has_exited()


def test_output_before_the_end_is_read_first(start: Start) -> None:
    engine = start("echo bestmove c1+; exit 1")
    assert wait_until(engine.child.has_exited)
    assert engine.read_line(soon()) == b"bestmove c1+"
    with pytest.raises(EngineExited):
        engine.read_line(soon())


def test_a_write_to_an_engine_that_never_reads_has_a_deadline(start: Start) -> None:
    engine = start("sleep 100")
    with pytest.raises(EngineSilent, match="did not read what was sent"):
        engine.write(b"x" * 1_000_000, in_ms(100))


def test_a_long_write_and_a_long_answer_do_not_block_each_other(start: Start) -> None:
    engine = start("cat")
    line = b"x" * 60_000 + b"\n"
    engine.write(line * 10, soon())
    assert [len(engine.read_line(soon())) for _ in range(10)] == [60_000] * 10


@pytest.mark.parametrize("script", ["exec <&-; sleep 100", "exit 0"])
def test_a_write_to_a_closed_input_fails_at_the_next_read(start: Start, script: str) -> None:
    engine = start(script)
    wait_until(lambda: engine.child.has_exited() or not script.startswith("exit"))
    for _ in range(5):
        engine.write(b"isready\n" * 1000, soon())
    with pytest.raises(EngineFault):
        engine.read_line(in_ms(50))


def test_a_line_may_have_64_kib_and_no_more(start: Start) -> None:
    engine = start("cat")
    engine.write(b"x" * 65_536 + b"\n", soon())
    assert len(engine.read_line(soon())) == 65_536
    engine.write(b"x" * 65_537, soon())
    with pytest.raises(EngineFlooded, match="a line of output was over 64 KiB"):
        engine.read_line(soon())


@pytest.mark.parametrize("lines", ["yes ''", "yes $(printf %01000d 0)"])
def test_output_is_counted_for_each_move(start: Start, lines: str) -> None:
    much = f"{lines} | head -c 900000; echo; echo end"
    engine = start(f"{much}; read x; {much}; {lines}")
    while engine.read_line(soon()) != b"end":
        pass
    engine.output.end_move()
    engine.write(b"\n", soon())
    with pytest.raises(EngineFlooded, match="more than 1024 KiB of output in one move"):
        read_on(engine)


def test_output_while_the_opponent_thinks_counts_toward_the_next_move(start: Start) -> None:
    engine = start(f"{SAY.format(60_000)}; read x; {SAY.format(1_000_000)}; read x")
    assert wait_until(lambda: engine.has_spoken() and drain(engine)[-1:] == [b"end"])
    engine.write(b"\n", soon())
    with pytest.raises(EngineFlooded, match="more than 1024 KiB of output in one move"):
        read_on(engine)


def test_standard_error_is_counted_for_each_game_and_both_ends_are_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "MAX_STDERR_BYTES", 1 << 20)
    say = "printf first >&2; head -c $n /dev/zero >&2; printf last >&2; echo end"
    engine = start(f"while read n; do {say}; done")
    for _ in range(2):
        engine.write(b"900000\n", soon())
        assert engine.read_line(soon()) == b"end"
        stderr = engine.take_stderr()
        assert stderr.startswith(b"first\0")
        assert stderr.endswith(b"\0last")
        assert len(stderr) < 2 * 65_536 + 100
        engine.begin_game()
    engine.write(b"2000000\n", soon())
    with pytest.raises(EngineFlooded, match="of standard error in one game"):
        engine.read_line(soon())


def test_all_of_a_short_stream_is_kept_and_both_ends_of_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "KEPT_STDERR_BYTES", 4)
    ends = StandardError()
    for chunk in (b"ab", b"cde", b"", b"fg"):
        ends.add(chunk)
    assert ends.joined() == b"abcdefg"
    ends.add(b"hijklmnop")
    assert ends.joined() == b"abcd\n[... 8 bytes left out ...]\nmnop"


def test_draining_never_waits_and_keeps_what_is_unfinished(start: Start) -> None:
    engine = start("printf 'one\\ntwo\\nthr'; sleep 100")
    lines: list[bytes] = []

    def has_begun_the_third() -> bool:
        lines.extend(drain(engine))
        return bool(engine.output.unfinished)

    assert wait_until(has_begun_the_third)
    assert (lines, engine.output.unfinished) == ([b"one", b"two"], b"thr")


def test_the_caller_may_end_any_wait_even_while_the_engine_writes(start: Start) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    for script in ("sleep 100", "while :; do echo info; done"):
        engine = start(script, on_wait=stop)
        with pytest.raises(KeyboardInterrupt):
            read_on(engine)


def test_killing_ends_the_whole_group_and_may_be_repeated(start: Start) -> None:
    mark = f"mark-{uuid.uuid4()}"
    engine = start("trap '' TERM; sh -c 'sleep 100; :' sh $1 & sh -c 'sleep 100; :' sh $1", mark)
    assert wait_until(lambda: len(processes_with(mark)) == 3)
    engine.kill()
    engine.kill()
    assert wait_until(lambda: not processes_with(mark))
    assert engine.child.has_exited()


@pytest.mark.parametrize("script", ["cat", "exit 1", "sleep 100 & exit 0"])
def test_fifty_engines_leave_no_descriptor_zombie_or_folder(
    start: Start, script: str, tmp_path: Path
) -> None:
    start("cat").kill()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        start(script).kill()
    assert len(os.listdir("/proc/self/fd")) == before
    assert list(tmp_path.iterdir()) == []
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert not [pid for pid in children if Path(f"/proc/{pid}/cmdline").read_bytes() == b""], "zombies"


@pytest.mark.parametrize("argv", [("/nowhere/engine",), ("/etc/passwd",)])
def test_a_missing_program_leaves_nothing(tmp_path: Path, argv: tuple[str, ...]) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match=argv[0]):
        EngineProcess(launch_of(tmp_path, *argv))
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("started", [False, True])
def test_an_engine_that_cannot_be_watched_is_ended(tmp_path: Path, started: bool) -> None:
    class Broken(Reaper):
        def watch(self, folder: str, group: int = NO_GROUP, control_groups: Sequence[str] = ()) -> None:
            if started == (group != NO_GROUP):
                raise OSError("no more processes")

    mark = f"mark-{uuid.uuid4()}"
    with pytest.raises(OSError, match="no more processes"):
        EngineProcess(launch_of(tmp_path, "sh", "-c", "sleep 100; :", mark), reaper=Broken())
    assert wait_until(lambda: not processes_with(mark)), "what it had forked takes a moment to die"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("kill -9 $PPID; sleep 100", "signal 9 (SIGKILL)"),
        ("kill -STOP $PPID; kill -9 $$", None),
        ("exit 3", "exit code 3"),
        ("exit 128", "exit code 128"),
        ("kill -SEGV $$", "signal 11 (SIGSEGV)"),
    ],
)
def test_an_engine_ends_as_itself_and_with_its_parent(start: Start, script: str, how: str | None) -> None:
    """Without a sandbox; its parent is not the worker, which goes on."""
    engine = start(script)
    with pytest.raises(EngineFault) as fault:
        read_on(engine)
    assert isinstance(fault.value, EnginePipeClosed if how is None else EngineExited)
    assert how is None or str(fault.value).endswith(how)


def test_a_script_without_its_interpreter_cannot_be_started(tmp_path: Path) -> None:
    program = tmp_path / "bot"
    for first, why in (("#!/nowhere/python", "No such file"), ("nothing", "Exec format error")):
        program.write_text(f"{first}\n")
        program.chmod(0o755)
        with pytest.raises(OSError, match=why):
            EngineProcess(launch_of(tmp_path, str(program)))


def test_an_engine_has_the_default_signal_handlers(start: Start) -> None:
    """Python ignores SIGPIPE; an engine must not inherit that."""
    engine = start("grep SigIgn /proc/self/status")
    ignored = int(engine.read_line(soon()).split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1))


def test_waiting_for_the_end_takes_no_longer_than_it_may(start: Start) -> None:
    polite, rude = start("read x; exit 0"), start("while :; do echo x; sleep 0.01; done")
    polite.write(b"quit\n", soon())
    polite.wait(soon())
    assert polite.child.has_exited()
    rude.wait(in_ms(50))
    assert not rude.child.has_exited()
