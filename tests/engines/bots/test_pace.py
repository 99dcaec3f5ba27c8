"""The pace of a bot, on a clock that the test sets."""

from __future__ import annotations

import pytest

from engines.bots import pace
from engines.bots.pace import FIRST_STALL_SECONDS, SearchPace
from engines.protocol import Go
from engines.rules.registry import GAMES
from engines.sdk import turn as sdk_turn
from engines.sdk.turn import BotTurn, Clock, InputLine, Search


class Watch:
    """``time.monotonic`` for the bot and the SDK."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(pace, "time", watch)
    monkeypatch.setattr(sdk_turn, "time", watch)
    return watch


def turn_of(go: Go) -> BotTurn:
    clock = Clock(go.p1_time_ms, go.p2_time_ms, go.p1_inc_ms, go.p2_inc_ms, go.movetime_ms)
    return BotTurn(InputLine(GAMES["dogon-kulei"], None), clock, {}, None, Search(go), lambda _: None)


def seconds_used(pace: SearchPace, watch: Watch, turn: BotTurn, step: float = 0.001) -> float:
    begun = watch.now
    pace.begin(turn)
    while not pace.must_answer():
        watch.now += step
    return watch.now - begun


def begun(watch: Watch, seconds: float, **limits: int) -> SearchPace:
    """The pace of a search that began so long ago."""
    pace = SearchPace()
    pace.begin(turn_of(Go(**limits)))
    watch.now += seconds
    return pace


def test_a_time_for_the_move_is_used_but_for_the_reserve(watch: Watch) -> None:
    used = seconds_used(SearchPace(), watch, turn_of(Go(movetime_ms=100)))
    assert used == pytest.approx(0.090 - FIRST_STALL_SECONDS, abs=0.004)


def test_a_machine_that_kept_us_waiting_is_given_more_the_next_time(watch: Watch) -> None:
    pace = begun(watch, 0.040, movetime_ms=100)
    assert not pace.must_answer()
    assert seconds_used(pace, watch, turn_of(Go(movetime_ms=100))) == pytest.approx(0.055, abs=0.003)


def test_a_wait_long_ago_is_forgotten(watch: Watch) -> None:
    pace = begun(watch, 0.040, movetime_ms=100)
    pace.must_answer()
    used = [seconds_used(pace, watch, turn_of(Go(movetime_ms=100))) for _ in range(40)]
    assert used[0] < used[-1]
    assert used[-1] > 0.085


def test_half_of_the_time_is_used_on_the_slowest_machine(watch: Watch) -> None:
    assert 0.004 < seconds_used(SearchPace(), watch, turn_of(Go(movetime_ms=10))) <= 0.0055


def test_no_limit_of_time_is_never_up(watch: Watch) -> None:
    pace = begun(watch, 1e6, nodes=5)
    assert not pace.must_answer()
    assert pace.may_begin()


def test_on_a_clock_no_deeper_search_is_begun_after_half_the_time(watch: Watch) -> None:
    pace = begun(watch, 0.45, p1_time_ms=25_000, p2_time_ms=1)
    assert pace.may_begin()
    watch.now += 0.10
    assert not pace.may_begin()


def test_with_a_time_for_the_move_a_deeper_search_is_begun_to_the_last(watch: Watch) -> None:
    pace = begun(watch, 0.1 - FIRST_STALL_SECONDS, movetime_ms=100)
    assert pace.may_begin()
