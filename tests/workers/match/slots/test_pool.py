"""How many pairs of games a slot gets at once."""

from __future__ import annotations

import pytest

from workers.match.slots.pool import BATCH_SECONDS, fit_batch


@pytest.mark.parametrize(
    ("batch", "pairs", "seconds", "fitting"),
    [
        (1, 1, 100 * BATCH_SECONDS, 1),
        (1, 1, BATCH_SECONDS / 100, 2),
        (64, 64, BATCH_SECONDS / 1.5, 96),
        (64, 64, 4 * BATCH_SECONDS, 16),
        (64, 10, BATCH_SECONDS, 10),
    ],
)
def test_a_batch_fits_the_duration_of_the_last_and_grows_to_its_double_at_most(
    batch: int, pairs: int, seconds: float, fitting: int
) -> None:
    assert fit_batch(batch, pairs, seconds) == fitting
