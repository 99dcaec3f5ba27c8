"""How much one client, and all clients together, may occupy of the server."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

UPLOAD_PATHS = ("/upload/", "/api/bots/")
"""The only addresses that take a bundle."""
WORK_PATHS = "/api/work/"
"""Slots report their games below this address."""
HEALTH_PATH = "/healthz"
PASSWORD_PATHS = ("/log-in/", "/sign-up/", "/account/password/", "/account/again/", "/password-reset/")
"""The beginnings of the addresses of forms with a password."""
SEARCH_PATH = "/games/"
EXPORT_PATHS = "/games/games."
"""The list of games and its downloads, whose cost their filters decide."""
TOO_LARGE = "duarena.too_large"
"""The key in a request's environment that says that its body was over the limit and has been dropped."""
MULTIPART_BYTES = 64 * 1024
"""What an upload's form adds to the bytes of its bundle."""
LARGE_BYTES = 1024 * 1024
"""A larger body counts as an upload."""
HEADER_BYTES = 32 * 1024
GRACE_S = 20.0
"""A client has this long for its part of a request or a response, and one second more for each
``BYTES_A_SECOND`` that it has sent or received of it.
"""
BYTES_A_SECOND = 4096
SENT_BYTES = 64 * 1024
"""The most bytes given to the system at a time."""
SYSTEM_BYTES = 256 * 1024
"""What the system may keep of a response that its client does not read."""
IDLE_S = 15.0
"""How long a connection is kept between two requests."""
LINGER_S = 10.0
"""How long the rest of a refused body is read and dropped, so that its sender can read the response."""


def largest_body(path: str) -> int:
    """The largest body of a request to this path, in bytes."""
    if path in UPLOAD_PATHS:
        return int(settings.MAX_BUNDLE_BYTES) + MULTIPART_BYTES
    if path.startswith(WORK_PATHS):
        return int(settings.MAX_WORK_BYTES)
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one process."""

    connections: int
    connections_per_address: int
    uploads: int
    """Bodies over ``LARGE_BYTES`` that may be received or handled at a time."""
    uploads_per_address: int

    @classmethod
    def of_process(cls, processes: int) -> ConnectionLimits:
        """The share of one of ``processes`` in the limits of the site."""
        site = (
            settings.MAX_CONNECTIONS,
            settings.MAX_CONNECTIONS_PER_ADDRESS,
            settings.MAX_UPLOADS,
            settings.MAX_UPLOADS_PER_ADDRESS,
        )
        return cls(*(max(1, limit // processes) for limit in site))
