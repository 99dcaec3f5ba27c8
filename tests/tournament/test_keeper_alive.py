"""The health check of the record keeper."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tournament.models import Keeper
from tournament.services import calendar

pytestmark = pytest.mark.django_db


def test_the_record_keeper_is_well_while_it_works() -> None:
    with pytest.raises(CommandError, match="has not started yet"):
        call_command("keeper_alive")
    calendar.sweep()
    call_command("keeper_alive")
    Keeper.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    with pytest.raises(CommandError, match=r"has not worked for 300 s"):
        call_command("keeper_alive")
