"""Requests to addresses of users: nothing but public hosts is reached, and nothing takes long."""

from __future__ import annotations

import dataclasses
import gzip
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.support.needs import need
from tests.support.receivers import HOST, Receiver, resolving_to, to_loopback
from tests.support.servers import QuietHandler
from tournament.services.webhooks import network as module
from tournament.services.webhooks.network import (
    INTERNET,
    MAX_RECEIVED,
    Network,
    ReceiverAnswer,
    TargetError,
    is_public,
    parse_target,
    post,
)

PRIVATE = """
    0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.8.8.8 169.254.169.254 172.16.0.1 192.168.1.1 198.18.0.1
    224.0.0.1 240.0.0.1 255.255.255.255
    :: ::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd12::1 ff02::1 2001:db8::1 100::1
    ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1
    64:ff9b:1::808:808 2002:7f00:1:: 2002:a00:1::1 2001:0:7f00:1::
    192.0.0.8 192.0.0.192 192.0.2.1 192.88.99.1 168.63.129.16 198.51.100.1 203.0.113.5 100.100.100.200 0.1.2.3
    3fff::1 5f00::1 fd00:ec2::254 2001:2::1 2001:20::1 ::ffff:0:7f00:1 ::ffff:c000:c0 2002:c000:c0::1
    64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1
""".split()
PUBLIC = "8.8.8.8 93.184.216.34 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_no_address_of_a_private_network_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://bots.example/", "https://"),
        ("file:///etc/passwd", "https://"),
        ("https://bots.example:22/", "443 or 8443"),
        ("https://bots.example:0x1bb/", "malformed"),
        ("https://me:secret@bots.example/", "no user"),
        ("https://bots.example\\@127.0.0.1/", "no user"),
        ("https://bots.example/#part", "no fragment"),
        ("https:///path", "no valid host"),
        ("https://bots..example/", "no valid host"),
        ("https://[::1/", "malformed"),
        ("https://bots.example/\r\nHost: other", "not ASCII"),
        ("https://bäts.example/", "not ASCII"),
        ("https://①②⑦.⓪.⓪.①/", "not ASCII"),
        ("https://bots.example:٤٤٣/", "not ASCII"),
        ("https://bots.example:443@127.0.0.1/", "no user"),
        ("https://bots.example%0d%0aHost:other/", "malformed"),
        ("https://127.0.0.1%00.bots.example/", "no valid host"),
        ("https://%6c%6fcalhost/", "no valid host"),
        ("https://bots.example;a/", "no valid host"),
        ("https:////127.0.0.1/", "no valid host"),
        ("https:bots.example/", "no valid host"),
        ("https://[fe80::1%25eth0]/", "no valid host"),
        ("https://[127.0.0.1]/", "malformed"),
        ("https://bots.example:+443/", "malformed"),
        ("//127.0.0.1/", "https://"),
        ("gopher://127.0.0.1:443/", "https://"),
        (f"https://bots.example/{'a' * 500}", "longer than 500"),
    ],
)
def test_an_unusable_address_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(TargetError, match=why):
        parse_target(url)
    assert why in send(url, INTERNET).text


def test_a_target_has_the_host_port_and_path() -> None:
    target = parse_target("https://Bots.Example:8443/a/b?c=d")
    assert (target.host, target.port, target.path) == ("bots.example", 8443, "/a/b?c=d")
    assert target.authority == "bots.example:8443"
    assert parse_target("https://[2606:4700::1111]").authority == "[2606:4700::1111]"


def send(url: str, network: Network) -> ReceiverAnswer:
    return post(url, {"webhook-id": "1"}, b"{}", network)


def test_a_request_has_the_name_of_the_host_and_the_body() -> None:
    with Receiver() as receiver:
        answer = send(receiver.url, receiver.network)
        assert (answer.status, answer.is_success) == (204, True)
        ((path, headers, body),) = receiver.got
    assert (path, body, headers["webhook-id"]) == ("/hook?key=1", b"{}", "1")
    assert headers["Host"] == f"{HOST}:{receiver.server.server_port}"
    assert "Cookie" not in headers


@pytest.mark.parametrize("address", PRIVATE)
def test_no_socket_goes_to_a_name_of_a_private_network(address: str) -> None:
    """With the check of the sender itself, not with that of the tests."""
    network = dataclasses.replace(INTERNET, resolve=resolving_to(address), seconds=1.0)
    answer = send("https://inside.example/", network)
    assert answer.text == f"its name resolves to {address}, which is no public address"
    assert answer.status is None


@pytest.mark.parametrize(
    "host",
    """127.0.0.1 127.1 0 0.0.0.0 2130706433 0177.0.0.1 017700000001 0x7f.1 0x7f000001 localhost LocalHost
    [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [64:ff9b::127.0.0.1]""".split(),
)
def test_no_spelling_of_this_machine_is_reached(host: str) -> None:
    assert "which is no public address" in send(f"https://{host}/", INTERNET).text


def test_one_private_address_among_public_ones_refuses_the_host() -> None:
    both = [*resolving_to("8.8.8.8")(HOST, 443), *resolving_to("10.0.0.1")(HOST, 443)]
    answer = send(f"https://{HOST}/", dataclasses.replace(INTERNET, resolve=lambda *_, **__: both))
    assert answer.text == "its name resolves to 10.0.0.1, which is no public address"


def test_a_name_that_resolves_to_something_else_a_moment_later_changes_nothing() -> None:
    """The name is resolved once, and the socket goes to the address that was checked."""
    asked = []
    resolve = resolving_to("127.0.0.1", "169.254.169.254")

    def counting(host: str, port: int, **more: object) -> list[object]:
        asked.append(host)
        return resolve(host, port, **more)

    with Receiver() as receiver:
        network = dataclasses.replace(receiver.network, resolve=counting)
        assert send(receiver.url, network).status == 204
        assert asked == [HOST]
        assert "169.254.169.254" in send(receiver.url, network).text
        assert len(receiver.got) == 1


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_not_followed(status: int) -> None:
    with Receiver() as other:
        with Receiver(lambda request: request.reply(status, Location=f"{other.server.url}/")) as receiver:
            answer = send(receiver.url, receiver.network)
        assert (answer.status, answer.is_success, other.got) == (status, False, [])


def test_the_name_with_a_dot_at_its_end_is_the_same_host() -> None:
    """Some resolvers know ``localhost.``, others do not."""
    assert "address" in (text := send("https://localhost./", INTERNET).text) or "not resolve" in text
    local = dataclasses.replace(INTERNET, resolve=resolving_to("127.0.0.1"))
    assert "which is no public address" in send("https://localhost./", local).text


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with Receiver() as receiver:
        assert send(receiver.url, receiver.network).is_success


def drip(request: QuietHandler) -> None:
    """One byte after the other, each before any time-out of a socket."""
    request.send_response(200)
    request.end_headers()
    for _ in range(1000):
        request.wfile.write(b"a")
        request.wfile.flush()
        time.sleep(0.02)


def drip_headers(request: QuietHandler) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nName: value" * 100:
        request.wfile.write(bytes([byte]))
        request.wfile.flush()
        time.sleep(0.02)


@pytest.mark.parametrize("answer", [drip, drip_headers])
def test_a_drip_of_bytes_ends_at_the_limit_of_the_whole_exchange(answer: object) -> None:
    with Receiver(answer) as receiver:  # type: ignore[arg-type]
        got = send(receiver.url, dataclasses.replace(receiver.network, seconds=0.3))
    assert (got.status, got.text) == (None, "no whole answer within 0.3 s")
    assert 0.2 < got.took_s < 1.0


def test_a_host_that_says_nothing_ends_at_the_limit_also_in_the_handshake() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for context in (None, ssl.create_default_context()):
            network = to_loopback(port, context=context, seconds=0.2)
            got = send(f"https://{HOST}:{port}/", network)
            assert got.text == "no whole answer within 0.2 s"
            assert got.took_s < 1.0


def test_a_handshake_of_single_bytes_ends_at_the_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def drip_record() -> None:
            with suppress(OSError):
                client, _ = listening.accept()
                for byte in b"\x16\x03\x03\x40\x00" + b"\x00" * 1000:
                    client.sendall(bytes([byte]))
                    time.sleep(0.02)

        thread = threading.Thread(target=drip_record)
        thread.start()
        network = to_loopback(port, context=ssl.create_default_context(), seconds=0.3)
        got = send(f"https://{HOST}:{port}/", network)
        thread.join()
    assert got.text == "no whole answer within 0.3 s"
    assert got.took_s < 1.0


def huge(request: QuietHandler) -> None:
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b"a" * 65_536)


def huge_headers(request: QuietHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        request.wfile.write(b"Name: " + b"a" * 60_000 + b"\r\n")


def bomb(request: QuietHandler) -> None:
    """Says that more follows than anybody reads."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"a" * (MAX_RECEIVED + 1))


def endless_chunks(request: QuietHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        request.wfile.write(b"1;" + b"a" * 100 + b"\r\na\r\n")


def huge_chunk(request: QuietHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")
    while True:
        request.wfile.write(b"a" * 65_536)


def endless_trailers(request: QuietHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    while True:
        request.wfile.write(b"Name: value\r\n" * 1000)


def endless_continue(request: QuietHandler) -> None:
    while True:
        request.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@pytest.mark.parametrize(
    "answer", [huge, huge_headers, bomb, endless_chunks, huge_chunk, endless_trailers, endless_continue]
)
def test_a_huge_answer_is_a_failure_of_which_little_is_read(answer: object) -> None:
    with Receiver(answer) as receiver:  # type: ignore[arg-type]
        got = send(receiver.url, receiver.network)
    assert (got.status, got.text) == (None, "the answer is longer than 64 KB")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 999999 \r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na",
        b"HTTP/1.1 200 OK\r\n" + b"Name: value\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x28",
    ],
)
def test_what_is_no_answer_of_http_is_a_failure(said: bytes) -> None:
    with Receiver(lambda request: request.wfile.write(said)) as receiver:
        assert send(receiver.url, receiver.network).status is None


def test_a_compressed_answer_stays_compressed() -> None:
    content = gzip.compress(b"a" * 30_000_000)
    answer = partial(QuietHandler.reply, status=200, body=content, Content_Encoding="gzip")
    with Receiver(answer) as receiver:
        got = send(receiver.url, receiver.network)
    assert len(content) < MAX_RECEIVED
    assert (got.status, len(got.text)) == (200, 300)
    assert "aaaa" not in got.text


def test_a_whole_answer_counts_though_the_receiver_never_closes() -> None:
    end = threading.Event()

    def answer(request: QuietHandler) -> None:
        request.reply(200, b"ok")
        end.wait(20)

    with Receiver(answer) as receiver:
        got = send(receiver.url, receiver.network)
        end.set()
    assert (got.status, got.text) == (200, "ok")
    assert got.took_s < 1.0


def test_the_beginning_of_an_answer_is_kept_printable() -> None:
    text = "no\x1b[31m\r\n\u202e" + "a" * 400
    with Receiver(lambda request: request.reply(500, text.encode(), Retry_After=7)) as receiver:
        got = send(receiver.url, receiver.network)
    assert (got.status, got.retry_after_s, len(got.text)) == (500, 7, 300)
    assert got.text.startswith("no\\x1b[31m")


def test_a_name_without_an_address_is_a_failure() -> None:
    def fail(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    got = send(f"https://{HOST}/", dataclasses.replace(INTERNET, resolve=fail))
    assert got.text == "its name does not resolve: Name or service not known"


def test_a_resolver_that_never_answers_ends_at_the_limit_and_delays_no_other_name() -> None:
    end = threading.Event()

    def resolve(host: str, port: int, **more: object) -> Sequence[object]:
        if host == "stuck.example":
            end.wait(20)
        return to_loopback(port).resolve(host, port, **more)

    with Receiver() as receiver:
        network = dataclasses.replace(receiver.network, resolve=resolve, seconds=0.2)
        begun = time.monotonic()
        stuck = send(receiver.url.replace(HOST, "stuck.example"), network)
        assert stuck.text == "its name did not resolve within 0.2 s"
        assert time.monotonic() - begun < 1.0
        assert send(receiver.url, network).status == 204
        assert len(receiver.got) == 1
    end.set()


def test_resolvers_that_nobody_waits_for_are_of_a_limited_number(monkeypatch: pytest.MonkeyPatch) -> None:
    end, asked = threading.Event(), []
    monkeypatch.setattr(module, "_resolvers", threading.BoundedSemaphore(2))

    def resolve(host: str, _port: int, **_: object) -> list[object]:
        asked.append(host)
        end.wait(20)
        return []

    network = dataclasses.replace(INTERNET, resolve=resolve, seconds=0.05)
    answers = {send(f"https://{number}.example/", network).text for number in range(3)}
    assert (answers, len(asked)) == ({"its name did not resolve within 0.05 s"}, 2)
    end.set()


CERTIFY = f"""
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={HOST} \
    -addext subjectAltName=DNS:{HOST} -keyout key.pem -out cert.pem
"""


def test_the_certificate_must_be_that_of_the_name_and_trusted(tmp_path: Path) -> None:
    need("openssl")
    subprocess.run(("sh", "-c", CERTIFY), cwd=tmp_path, check=True, capture_output=True)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    names: list[str | None] = []
    own.sni_callback = lambda _socket, name, _context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with Receiver() as receiver:
        receiver.server.socket = own.wrap_socket(receiver.server.socket, server_side=True)
        network = dataclasses.replace(receiver.network, context=trusting)
        assert send(receiver.url, network).status == 204
        assert names == [HOST]
        other = send(receiver.url.replace(HOST, "other.example"), network)
        assert "Hostname mismatch" in other.text
        unknown = send(receiver.url, dataclasses.replace(network, context=ssl.create_default_context()))
        assert unknown.text == "its certificate is refused: self-signed certificate"
        assert len(receiver.got) == 1
