"""How many messages of each worker the record keeper takes, so that no worker can keep it from the others'.

Messages are counted by the minute in which they were sent, not by that in which they are read: after the
record keeper was away, the messages of honest workers come all at once. A worker cannot claim to have sent
them long ago, because such messages count as received before (``replays``). Times are seconds of the broker's
clock.
"""

from __future__ import annotations

from workers.service.messaging.replays import WINDOW_SECONDS

MINUTE = 60
BYTES_A_MESSAGE = 64 * 1024
"""A longer message counts as several."""
KEPT_MINUTES = WINDOW_SECONDS // MINUTE + 2
"""Minutes that are counted at the same time: older messages are not taken at all."""


class SenderQuotas:
    """Counts the messages of each sender; at most ``a_minute`` of one pass for each minute of sending."""

    def __init__(self, a_minute: int) -> None:
        self.a_minute = a_minute
        self._counts: dict[str, dict[int, int]] = {}

    def take(self, sender: str, sent: int, size: int) -> bool:
        """Count a message of ``size`` bytes; False, and not counted, if its minute's quota is used up."""
        counts = self._counts.setdefault(sender, {})
        minute, cost = sent // MINUTE, 1 + size // BYTES_A_MESSAGE
        if counts.get(minute, 0) + cost > self.a_minute:
            return False
        if minute not in counts:
            self._forget_old(counts, minute)
        counts[minute] = counts.get(minute, 0) + cost
        return True

    def _forget_old(self, counts: dict[int, int], newest: int) -> None:
        for minute in [minute for minute in counts if minute < newest - KEPT_MINUTES]:
            del counts[minute]
