"""People: whoever owns bots or runs tournaments."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """A person who logged in; staff runs the site."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                Lower("username"),
                name="user_name_whatever_case",
                violation_error_message="A user with that name exists already.",
            )
        ]
