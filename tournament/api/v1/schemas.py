"""What the document says of values that the forms of pages check: their kinds, bounds and choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django import forms
from msgspec import Meta

from engines.rules.registry import GAMES
from engines.visible import visible
from tournament.api.envelope import ApiError

LADDERS: Final = {"enum": list(GAMES)}
"""The codes of the ladders."""
WITH_LADDERS: Final = {"enum": ["", *GAMES]}
"""The same, and "" for all."""
PAIR: Final = {"pattern": "^([0-9]{1,18}[.][0-9]{1,18})?$"}
"""Cursors of two numbers."""
SLUG: Final = "[-a-zA-Z0-9_]+"


def check_ladder(code: str) -> None:
    """Check the parameter ``ladder``, which may be empty. Raises ``ApiError``."""
    if code and code not in GAMES:
        why = f"not one of {', '.join(GAMES)}"
        raise ApiError(400, f"The parameter ladder is {visible(code, 40)!r}: {why}.")


def like(field: forms.Field, description: str = "") -> Meta:
    """Documents a value of a body as what a form takes in this field."""
    return Meta(description=description or None, extra_json_schema=bounds_of(field))


def text_of(field: forms.Field) -> dict[str, Any]:
    """The schema of a parameter that a form reads by this field; "" is as if it were not given."""
    return {"type": "integer" if isinstance(field, forms.IntegerField) else "string", **bounds_of(field)}


def bounds_of(field: forms.Field) -> dict[str, Any]:
    """The keywords of a JSON schema for the values of a field of a form."""
    if isinstance(field, forms.ChoiceField):
        return {"enum": [*([] if field.required else [""]), *_values(field.choices)]}
    if isinstance(field, forms.IntegerField):
        found: dict[str, Any] = {"minimum": field.min_value, "maximum": field.max_value}
    elif isinstance(field, forms.DateField):
        found = {"format": "date"}
    else:
        found = {"maxLength": getattr(field, "max_length", None), "minLength": int(field.required) or None}
        if isinstance(field, forms.SlugField):
            found["pattern"] = f"^{SLUG}$"
    return {word: value for word, value in found.items() if value is not None}


def _values(choices: Any) -> Iterator[str]:
    """The values of choices and of their groups, without the empty one."""
    for value, label in choices:
        if isinstance(label, list | tuple):
            yield from _values(label)
        elif value:
            yield str(value)
