"""The command line of the start script."""

from __future__ import annotations

import errno
import shlex
import socket
from pathlib import Path

import pytest

from tests.support.service_processes import find_port
from tournament.embedded.options import OptionError, export, listen, parse_options
from tournament.embedded.plan import ROOT, Address


def exported(*words: str, host: str = "127.0.0.1", **given: str) -> dict[str, str]:
    """The environment after a command has exported its settings into the one given."""
    export(parse_options(words), Address(host, 8000), given)
    return given


@pytest.fixture(autouse=True)
def _a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUARENA_DATA", raising=False)


def test_without_options_the_site_is_for_this_machine_and_its_data_in_var() -> None:
    options = parse_options(["up"])
    assert (options.host, options.port, options.data) == ("127.0.0.1", 8000, ROOT / "var")
    assert options.workers >= 1
    assert not options.trust_uploads


def test_a_relative_data_folder_is_meant_from_where_the_user_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUARENA_CALLED_FROM", str(tmp_path))
    assert parse_options(["up", "--data", "here"]).data == tmp_path / "here"
    monkeypatch.setenv("DUARENA_DATA", "there")
    assert parse_options(["up"]).data == tmp_path / "there"


def test_the_demo_uses_a_separate_folder_in_any_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUARENA_DATA", "/srv/site")
    assert parse_options(["demo"]).data == ROOT / "var" / "demo"
    assert parse_options(["up"]).data == Path("/srv/site")


def test_dev_takes_the_options_of_up_with_one_worker_plain_files_and_no_cache() -> None:
    options = parse_options(["dev", "--port", "8100", "--data", "/srv/copy", "--trust-uploads"])
    assert (options.port, options.data, options.workers) == (8100, Path("/srv/copy"), 1)
    assert parse_options(["dev", "--workers", "2"]).workers == 2
    environment = exported("dev")
    assert (environment["DUARENA_DEBUG"], environment["DUARENA_STATIC"]) == ("1", "")
    assert exported("up")["DUARENA_DEBUG"] == ""


def test_uploads_are_trusted_on_the_loopback_alone() -> None:
    assert parse_options(["up", "--trust-uploads"]).trust_uploads
    with pytest.raises(OptionError, match=r"'0\.0\.0\.0'"):
        parse_options(["up", "--trust-uploads", "--host", "0.0.0.0"])


@pytest.mark.parametrize(
    "arguments",
    [["up", "--port", "0"], ["up", "--port", "x"], ["up", "--workers", "0"], ["up", "--nope"], ["admin"]],
)
def test_bad_options_end_with_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        parse_options(arguments)
    assert exit_.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_a_taken_port_means_the_next_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert find_port("127.0.0.1", port) > port


def test_two_sites_that_start_together_get_different_ports() -> None:
    with listen("127.0.0.1", 18_750) as first, listen("127.0.0.1", 18_750) as second:
        ports = {listener.getsockname()[1] for listener in (first, second)}
        assert len(ports) == 2
        socket.create_connection(first.getsockname()).close()


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(OptionError, match=r"cannot listen on '203\.0\.113\.1'"):
        find_port("203.0.113.1", 8000)


class Privileged:
    """A socket that fails as for a user without the right to listen there."""

    def close(self) -> None: ...

    def setsockopt(self, *_: int) -> None: ...

    def bind(self, address: tuple[str, int]) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")


def test_a_privileged_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", lambda *_: Privileged())
    with pytest.raises(OptionError, match="port 80 is for privileged users"):
        find_port("127.0.0.1", 80)


@pytest.mark.parametrize(
    ("host", "url", "bind", "names"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000", "127.0.0.1:8000", "127.0.0.1,localhost,[::1]"),
        ("0.0.0.0", "http://127.0.0.1:8000", "0.0.0.0:8000", "*"),
        ("::1", "http://[::1]:8000", "[::1]:8000", "127.0.0.1,localhost,[::1]"),
        ("192.0.2.7", "http://192.0.2.7:8000", "192.0.2.7:8000", "127.0.0.1,localhost,[::1],192.0.2.7"),
    ],
)
def test_the_site_answers_to_the_names_it_listens_on(host: str, url: str, bind: str, names: str) -> None:
    address = Address(host, 8000)
    environment = exported("up", "--host", host, host=host)
    assert (address.url, address.bind) == (url, bind)
    assert environment["DUARENA_HOSTS"] == names
    assert environment["DUARENA_SITE"] == url


def test_variables_that_the_user_has_set_are_kept() -> None:
    given = {"DUARENA_SITE": "https://duarena.example", "DUARENA_HOSTS": "duarena.example"}
    environment = exported("up", DUARENA_SANDBOX="A", **given)
    assert (environment["DUARENA_SITE"], environment["DUARENA_SANDBOX"]) == (given["DUARENA_SITE"], "A")
    assert environment["DUARENA_HOSTS"] == "duarena.example,127.0.0.1"  # its own workers use the address


def test_the_demonstration_touches_nobodys_database() -> None:
    given = {"DATABASE_URL": "postgres://site", "REDIS_URL": "redis://site", "DUARENA_BUNDLES": "/srv"}
    environment = exported("demo", **given)
    assert not {"DATABASE_URL", "REDIS_URL"} & set(environment)
    assert environment["DUARENA_BUNDLES"] == str(ROOT / "var" / "demo" / "bundles")


def test_ladders_play_at_a_low_rate_by_default_and_never_in_the_demonstration() -> None:
    own = {"DUARENA_LADDER_GAMES": "7"}
    environments = exported("up"), exported("up", **own), exported("demo", **own)
    assert [one["DUARENA_LADDER_GAMES"] for one in environments] == ["30", "7", "0"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.7"])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"DUARENA_SITE": "", "DUARENA_HOSTS": ""},
        {"DUARENA_SITE": "http://localhost:8000", "DUARENA_HOSTS": "127.0.0.1, localhost,[::1]"},
        {"DUARENA_SITE": "http://[::1]:8000"},
    ],
)
def test_only_this_machine_reaches_a_site_on_the_loopback(host: str, given: dict[str, str]) -> None:
    assert exported("up", "--host", host, host=host, **given)["DUARENA_LOCAL"] == "1"


@pytest.mark.parametrize(
    ("host", "given"),
    [
        ("0.0.0.0", {}),
        ("::", {}),
        ("192.0.2.7", {}),
        ("duarena.example", {}),
        ("127.0.0.1", {"DUARENA_SITE": "https://duarena.example"}),
        ("127.0.0.1", {"DUARENA_SITE": "duarena.example"}),
        ("127.0.0.1", {"DUARENA_SITE": "http://[bad"}),
        ("127.0.0.1", {"DUARENA_SITE": "http://127.0.0.1.duarena.example"}),
        ("127.0.0.1", {"DUARENA_HOSTS": "localhost,duarena.example"}),
        ("127.0.0.1", {"DUARENA_HOSTS": "*"}),
        ("0.0.0.0", {"DUARENA_SITE": "http://127.0.0.1:8000", "DUARENA_HOSTS": "127.0.0.1"}),
        ("192.0.2.7", {"DUARENA_LOCAL": "1"}),
    ],
)
def test_others_may_reach_a_site_that_listens_further_or_has_a_public_address(
    host: str, given: dict[str, str]
) -> None:
    assert exported("up", "--host", host, host=host, **given)["DUARENA_LOCAL"] == ""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--port", "8123"),
        ("--host", "0.0.0.0"),
        ("--workers", "47"),
        ("--data", "/srv/a site; it's mine"),
        ("--port", "8123", "--host", "::1", "--workers", "47", "--data", "/srv/site"),
    ],
)
def test_the_command_to_start_the_site_again_has_its_options(words: tuple[str, ...]) -> None:
    options = parse_options(["up", *words])
    environment: dict[str, str] = {}
    export(options, Address(options.host, 8001), environment)
    command = environment["DUARENA_COMMAND"]
    assert command == shlex.join(["./arena", "up", *words])
    assert parse_options(shlex.split(command)[1:]) == options
    assert parse_options(shlex.split(options.admin_command)[1:]).data == options.data


def test_trust_is_neither_inherited_nor_part_of_the_command_to_start_again() -> None:
    assert parse_options(["up", "--trust-uploads"]).restart_command == "./arena up"
    assert exported("up", DUARENA_TRUST_UPLOADS="1")["DUARENA_TRUST_UPLOADS"] == ""
