"""Who can make and open which envelope, and how long it is valid."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workers.service.messaging import signing
from workers.service.messaging.replays import RecentMessages
from workers.service.messaging.signing import (
    COMMANDS,
    RECORDS,
    SITE,
    Envelope,
    RefusedMessage,
    Signer,
    WorkerKeyring,
    own_queue,
    owner_of,
    parse_key,
)

EAST, WEST = "players@east", "players@west"
KEYS = {SITE: b"s" * 32, EAST: b"e" * 32, WEST: b"w" * 32}
NOW = 1_800_000_000.0
REPORT, HEARTBEAT = "tournament.record", "tournament.heartbeat"


class Site:
    """The site's keys, as ``tournament.keyring`` has them."""

    name = SITE

    def key_for(self, queue: str) -> bytes | None:
        return KEYS.get(owner_of(queue) or SITE)

    def key_of(self, sender: str, queue: str) -> bytes | None:
        return KEYS.get(sender) if queue == RECORDS else None


def site() -> Signer:
    return Signer(Site())


def worker(name: str, key: bytes | None = None) -> Signer:
    return Signer(WorkerKeyring(name, key or KEYS[name]))


def sealed(signer: Signer, queue: str, task: str = REPORT) -> Envelope:
    envelope = signer.seal("the text", task, queue, NOW)
    assert envelope
    return envelope


def refusal(signer: Signer, item: object, queue: str, now: float = NOW) -> str:
    with pytest.raises(RefusedMessage) as caught:
        signer.open(item, queue, now)
    return caught.value.kind


@pytest.mark.parametrize(
    ("sender", "queue", "reader"),
    [
        (worker(EAST), RECORDS, site()),
        (site(), RECORDS, site()),
        (site(), own_queue("games", EAST), worker(EAST)),
        (site(), own_queue(COMMANDS, EAST), worker(EAST)),
    ],
)
def test_what_was_signed_for_a_queue_is_opened_there(sender: Signer, queue: str, reader: Signer) -> None:
    envelope = sealed(sender, queue)
    assert reader.open(envelope.to_json(), queue, NOW) == envelope


@pytest.mark.parametrize("field", ["signed", "sender", "recipient", "id", "expires"])
def test_a_changed_envelope_is_refused(field: str) -> None:
    changes: dict[str, object] = {"expires": round(NOW) + 1, "sender": WEST, "recipient": "games"}
    changed = sealed(worker(EAST), RECORDS).to_json() | {field: changes.get(field, "other")}
    assert refusal(site(), changed, str(changed["recipient"])) == "forged"


@pytest.mark.parametrize(
    ("expires", "kind"), [(-(10**400), "expired"), (10**400, "malformed"), (0, "expired")]
)
def test_a_worker_cannot_choose_how_long_its_messages_are_valid(expires: int, kind: str) -> None:
    """Not even a number that no clock holds stops the reader."""
    unsigned = replace(sealed(worker(EAST), RECORDS), expires=expires, mac="")
    told = replace(unsigned, mac=signing._mac(unsigned, KEYS[EAST]))
    assert refusal(site(), told.to_json(), RECORDS) == kind


def test_no_key_opens_another_worker_s_messages() -> None:
    assert refusal(site(), sealed(worker(EAST, KEYS[WEST]), RECORDS).to_json(), RECORDS) == "forged"
    stranger = sealed(Signer(WorkerKeyring("players@north", b"n" * 32)), RECORDS)
    assert refusal(site(), stranger.to_json(), RECORDS) == "forged"


def test_a_worker_can_sign_nothing_for_a_worker() -> None:
    assert worker(EAST).seal("the text", "workers.play", own_queue("games", WEST), NOW) is None
    assert worker(EAST).seal("the text", "workers.play", own_queue("games", EAST), NOW) is None

    class Thief(Site):
        name = EAST

    told = Signer(Thief()).seal("the text", "workers.play", own_queue("games", WEST), NOW)
    assert told
    assert refusal(worker(WEST), told.to_json(), own_queue("games", WEST)) == "forged"


def test_a_worker_s_message_is_not_turned_round() -> None:
    mine = sealed(worker(EAST), RECORDS)
    queue = own_queue("games", EAST)
    assert refusal(worker(EAST), mine.to_json(), queue) == "foreign"
    assert refusal(worker(EAST), replace(mine, recipient=queue, sender=SITE).to_json(), queue) == "forged"


def test_a_message_in_another_queue_is_foreign() -> None:
    told = sealed(site(), own_queue("games", EAST)).to_json()
    assert refusal(worker(EAST), told, own_queue(COMMANDS, EAST)) == "foreign"
    assert refusal(worker(WEST), told, own_queue("games", WEST)) == "foreign"


@pytest.mark.parametrize(
    ("queue", "task", "seconds"),
    [
        (own_queue(COMMANDS, EAST), "", 60),
        (RECORDS, HEARTBEAT, 600),
        (RECORDS, REPORT, 7 * 24 * 3600),
        (own_queue("games", EAST), "workers.play", 7 * 24 * 3600),
    ],
)
def test_commands_expire_soon_states_later_and_results_last(queue: str, task: str, seconds: int) -> None:
    told = sealed(site(), queue, task).to_json()
    reader = worker(EAST) if owner_of(queue) else site()
    reader.open(told, queue, NOW + seconds)
    assert refusal(reader, told, queue, NOW + seconds + 1) == "expired"


def test_a_message_that_is_remembered_is_refused() -> None:
    """Also with another id of its envelope: a sender that misses the broker's answer sends it again."""
    reader = Signer(Site(), RecentMessages())
    for task in (HEARTBEAT, REPORT):
        envelope = sealed(worker(EAST), RECORDS, task)
        reader.remember(reader.received(envelope, task, "", NOW), NOW)
        with pytest.raises(RefusedMessage) as caught:
            reader.received(envelope, task, "", NOW)
        assert caught.value.kind == "replayed"
        reader.remember(reader.received(sealed(worker(EAST), RECORDS, task), task, task, NOW), NOW)
        with pytest.raises(RefusedMessage):
            reader.received(sealed(worker(EAST), RECORDS, task), task, task, NOW)


def test_a_message_that_was_not_handled_may_come_again() -> None:
    reader = Signer(Site(), RecentMessages())
    envelope = sealed(worker(EAST), RECORDS)
    assert reader.received(envelope, REPORT, "1", NOW) == reader.received(envelope, REPORT, "1", NOW)


def test_no_worker_s_message_makes_another_worker_s_a_repetition() -> None:
    """It chooses the id of its task and the expiry itself."""
    reader = Signer(Site(), RecentMessages())
    late = NOW + 3600
    mine = replace(
        sealed(worker(EAST), RECORDS, HEARTBEAT), expires=round(late) + signing.MOST_LIFETIME_SECONDS
    )
    reader.remember(reader.received(mine, HEARTBEAT, "1", NOW), NOW)
    reader.received(sealed(worker(WEST), RECORDS, HEARTBEAT), HEARTBEAT, "1", NOW)


@pytest.mark.parametrize(
    "change", [{"expires": True}, {"expires": "7"}, {"mac": None}, {"more": 1}, {"signed": {}}]
)
def test_what_is_no_envelope_is_malformed(change: dict[str, object]) -> None:
    told = sealed(worker(EAST), RECORDS).to_json()
    assert refusal(site(), told | change, RECORDS) == "malformed"
    assert refusal(site(), [told], RECORDS) == "malformed"


def test_a_code_with_odd_characters_is_refused() -> None:
    told = sealed(worker(EAST), RECORDS).to_json() | {"mac": "\u00e9\ud800"}
    assert refusal(site(), told, RECORDS) == "forged"


def test_a_key_has_64_hexadecimal_digits() -> None:
    assert parse_key("ab" * 32) == b"\xab" * 32
    for text in ("", "ab", "xy" * 32, "ab" * 33):
        with pytest.raises(ValueError, match=r"hexadecimal|fromhex"):
            parse_key(text)


def test_no_key_is_in_the_text_of_a_keyring() -> None:
    """Celery and Kombu print the options of a connection."""
    signer = worker(EAST)
    assert "eeee" not in f"{signer!r} {signer.keyring!r}"
    assert repr(signer) == repr(signer)
