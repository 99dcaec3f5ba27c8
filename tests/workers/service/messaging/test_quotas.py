"""How many messages of one sender pass, and what is done with the others."""

from __future__ import annotations

import pytest

from tests.workers.service.messaging import test_signing
from tests.workers.service.messaging.test_signing import EAST, HEARTBEAT, REPORT, WEST, Site, sealed, worker
from workers.service.messaging.quotas import BYTES_A_MESSAGE, KEPT_MINUTES, MINUTE, SenderQuotas
from workers.service.messaging.replays import WINDOW_SECONDS, RecentMessages
from workers.service.messaging.signing import RECORDS, RefusedMessage, Signer

NOW = round(test_signing.NOW)


def test_a_sender_s_messages_pass_until_the_quota_of_the_minute_is_used_up() -> None:
    quotas = SenderQuotas(3)
    assert [quotas.take(EAST, NOW, 100) for _ in range(5)] == [True, True, True, False, False]
    assert quotas.take(WEST, NOW, 100)
    assert quotas.take(EAST, NOW + MINUTE, 100)


def test_a_backlog_passes_because_messages_count_for_the_minute_in_which_they_were_sent() -> None:
    quotas = SenderQuotas(2)
    hours_ago = range(NOW - 3 * 3600, NOW, MINUTE // 2)
    assert all(quotas.take(EAST, sent, 100) for sent in hours_ago)


def test_a_long_message_counts_as_several() -> None:
    quotas = SenderQuotas(10)
    assert quotas.take(EAST, NOW, 8 * BYTES_A_MESSAGE)
    assert not quotas.take(EAST, NOW, BYTES_A_MESSAGE)
    assert quotas.take(EAST, NOW, BYTES_A_MESSAGE - 1)


def test_minutes_are_forgotten_only_when_their_messages_are_refused_by_their_age() -> None:
    assert KEPT_MINUTES * MINUTE > WINDOW_SECONDS + MINUTE
    quotas = SenderQuotas(1)
    for sent in range(NOW, NOW + 2 * WINDOW_SECONDS, MINUTE):
        assert quotas.take(EAST, sent, 100)
        assert not quotas.take(EAST, max(NOW, sent - WINDOW_SECONDS), 100)
    assert len(quotas._counts[EAST]) <= KEPT_MINUTES + 1


@pytest.mark.parametrize("task", [HEARTBEAT, REPORT])
def test_the_messages_of_a_worker_beyond_its_quota_are_refused_as_a_flood(task: str) -> None:
    reader = Signer(Site(), RecentMessages(), SenderQuotas(2))
    for name in "ab":
        reader.remember(reader.received(sealed(worker(EAST), RECORDS, task), task, name, NOW), NOW)
    with pytest.raises(
        RefusedMessage, match="'players@east' sent more than 2 messages in a minute"
    ) as caught:
        reader.received(sealed(worker(EAST), RECORDS, task), task, "c", NOW)
    assert caught.value.kind == "flood"
    reader.received(sealed(worker(WEST), RECORDS, task), task, "c", NOW)


def test_a_message_that_comes_again_does_not_use_up_the_quota() -> None:
    """Otherwise whoever can write to the broker could use up another worker's."""
    reader = Signer(Site(), RecentMessages(), SenderQuotas(2))
    envelope = sealed(worker(EAST), RECORDS, REPORT)
    reader.remember(reader.received(envelope, REPORT, "a", NOW), NOW)
    for _ in range(5):
        with pytest.raises(RefusedMessage) as caught:
            reader.received(envelope, REPORT, "a", NOW)
        assert caught.value.kind == "replayed"
    reader.received(sealed(worker(EAST), RECORDS, REPORT), REPORT, "b", NOW)


def test_the_site_s_own_messages_have_no_quota() -> None:
    reader = Signer(Site(), RecentMessages(), SenderQuotas(1))
    for name in "abc":
        reader.received(sealed(Signer(Site()), RECORDS, "tournament.sweep"), "tournament.sweep", name, NOW)
