"""How the addresses of clients are found and counted."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings


def plain_address(text: str) -> str:
    """The address without a port, brackets or a zone; an IPv4 address that is written as IPv6, as IPv4.

    Text that is no address is returned as it is.
    """
    address = _parse(text)
    return text if address is None else str(address)


def counted_address(text: str) -> str:
    """What a limit for each address counts by: the address, of IPv6 its network."""
    address = _parse(text)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, settings.ALLAUTH_RATE_LIMIT_IPV6_PREFIX), strict=False))
    return text if address is None else str(address)


def behind_proxy(scope: Mapping[str, Any]) -> dict[str, Any]:
    """The scope with the client's address and scheme, which the headers of the site's proxy name.

    Headers of anybody else that would name them are left out.
    """
    address = plain_address((scope.get("client") or ("", 0))[0])
    scheme = "https" if settings.IS_HTTPS else "http"
    is_proxy = settings.PROXY in {"*", address} and bool(settings.PROXY)
    kept = []
    for name, value in scope["headers"]:
        if name == b"forwarded" or name.startswith(b"x-forwarded-"):
            last = value.decode("latin-1").rpartition(",")[2].strip()
            if not is_proxy or name not in {b"x-forwarded-for", b"x-forwarded-proto"}:
                continue
            if name == b"x-forwarded-for":
                address = plain_address(last) or address
            elif last in {"http", "https"}:
                scheme = last
        kept.append((name, value))
    return {**scope, "client": (address, 0), "scheme": scheme, "headers": kept}


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:  # IPv4 with a port
        host = host.partition(":")[0]
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
