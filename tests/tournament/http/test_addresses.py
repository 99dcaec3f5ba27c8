"""How the addresses of clients are read and counted."""

from __future__ import annotations

import pytest

from tournament.http.addresses import counted_address, plain_address


@pytest.mark.parametrize(
    ("text", "plain", "counted"),
    [
        ("203.0.113.9", "203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9", "203.0.113.9"),
        ("::FFFF:cb00:7109", "203.0.113.9", "203.0.113.9"),
        ("2001:db8:0:0:1::2", "2001:db8::1:0:0:2", "2001:db8::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("[2001:db8::2]:4711", "2001:db8::2", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::1", "fe80::/64"),
        ("::1", "::1", "::/64"),
        ("", "", ""),
        ("unknown", "unknown", "unknown"),
    ],
)
def test_ipv6_counts_by_network_and_mapped_ipv4_as_ipv4(text: str, plain: str, counted: str) -> None:
    assert plain_address(text) == plain
    assert counted_address(text) == counted
