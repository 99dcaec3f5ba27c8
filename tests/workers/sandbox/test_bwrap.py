"""The arguments of bubblewrap, which are pure data."""

from __future__ import annotations

import resource

import pytest

from workers.sandbox.bwrap import OUTER_ENVIRONMENT, Mounts, bwrap_arguments
from workers.sandbox.limits import INIT_LIMITS, Limits, inner_words, prlimit_words

MOUNTS = Mounts(
    "/cache/abc",
    links={"/bin": "usr/bin"},
    binds={"/usr": "/usr", "/sdk/engines": "/app/engines"},
    optional=("/etc/x",),
)


def words_of(mounts: Mounts, limits: Limits | None = None) -> list[str]:
    arguments = bwrap_arguments(mounts, limits or Limits(), filter_at=7, status_at=8)
    assert arguments.endswith(b"\0")
    return arguments.decode().split("\0")[:-1]


def follows(words: list[str], *wanted: str) -> bool:
    """Whether these words follow each other."""
    return any(tuple(words[at : at + len(wanted)]) == wanted for at in range(len(words)))


def test_every_namespace_is_unshared() -> None:
    words = words_of(MOUNTS)
    for name in ("user", "ipc", "pid", "net", "uts"):
        assert f"--unshare-{name}" in words
    assert {"--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session"} <= set(words)
    assert follows(words, "--cap-drop", "ALL")


def test_the_environment_is_empty_but_for_what_engines_need() -> None:
    words = words_of(MOUNTS)
    cleared = words.index("--clearenv")
    assert "--setenv" not in words[:cleared]
    names = [words[at + 1] for at, word in enumerate(words) if word == "--setenv"]
    assert names == "PATH HOME TMPDIR LANG PYTHONPATH PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE".split()
    assert set(OUTER_ENVIRONMENT) == {"PATH", "LANG"}


def test_all_that_is_mounted_of_the_machine_is_read_only() -> None:
    words = words_of(MOUNTS)
    assert "--bind" not in words
    assert follows(words, "--ro-bind", "/cache/abc", "/engine", "--chdir", "/engine")
    assert follows(words, "--ro-bind", "/app/engines", "/sdk/engines")
    assert follows(words, "--ro-bind-try", "/etc/x", "/etc/x")
    assert follows(words, "--symlink", "usr/bin", "/bin")


def test_writable_mounts_are_small_and_the_rest_is_made_read_only_last() -> None:
    words = words_of(MOUNTS, Limits(tmp=1234))
    for folder in ("/tmp", "/dev/shm"):
        assert follows(words, "--size", "1234", "--perms", "1777", "--tmpfs", folder)
    last = "--remount-ro /dev/pts --remount-ro /dev --remount-ro /proc --remount-ro /"
    assert follows(words, *last.split())
    assert not {"--ro-bind", "--tmpfs", "--dev", "--proc"} & set(words[words.index("--remount-ro") :])


def test_nothing_is_mounted_below_the_engines_folder() -> None:
    words = words_of(MOUNTS)
    assert [word for word in words if word.startswith("/engine")] == ["/engine", "/engine"]


def test_a_folder_with_any_name_arrives_as_it_is() -> None:
    name = "/cache/a b\udcff\n$(x)"
    arguments = bwrap_arguments(Mounts(name), Limits(), filter_at=7, status_at=8)
    assert b"--ro-bind\0/cache/a b\xff\n$(x)\0/engine\0" in arguments


def test_limits_become_the_options_of_prlimit() -> None:
    limits = Limits(processes=5, open_files=6, file_size=7, cpu_seconds=8)
    words = prlimit_words(limits)
    assert (words[0], words[-1]) == ("prlimit", "--")
    assert {"--nproc=5:5", "--nofile=6:6", "--fsize=7:7", "--cpu=8:9", "--msgqueue=0:0"} <= set(words)


def test_the_first_process_is_limited_before_the_engine_starts() -> None:
    shell, _, script, _, *rest = inner_words(Limits())
    assert (shell, tuple(rest)) == ("sh", prlimit_words(Limits()))
    first, _, then = script.partition(" && ")
    assert first.split()[:2] == ["prlimit", "--pid=1"]
    assert {word.removeprefix("--").partition("=")[0] for word in first.split()[2:]} == set(INIT_LIMITS)
    assert then == 'exec "$@"'


def test_lower_limits_of_the_worker_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5, 5))
    assert "--cpu=5:5" in inner_words(Limits())[2].split()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5, resource.RLIM_INFINITY))
    assert f"--cpu={INIT_LIMITS['cpu']}:{INIT_LIMITS['cpu']}" in inner_words(Limits())[2].split()


def test_without_a_limit_of_processor_time_none_is_set() -> None:
    assert not any(word.startswith("--cpu") for word in prlimit_words(Limits()))


def test_the_default_limits_are_those_documented_for_authors() -> None:
    limits = Limits()
    assert limits.memory_sentence == "memory limit 256 MB"
    assert limits.processes_sentence == "64 processes"
    assert (limits.tmp, limits.file_size, limits.open_files) == (64 << 20, 16 << 20, 256)
