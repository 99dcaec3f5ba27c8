"""Fields of forms: what a browser may not do with a text."""

from __future__ import annotations

import pytest
from django import forms

from tournament import forms as ours

FORMS = [
    form
    for form in vars(ours).values()
    if isinstance(form, type) and issubclass(form, forms.Form) and form.__module__ == ours.__name__
]


@pytest.mark.parametrize("form", FORMS)
def test_no_text_of_several_lines_is_cut_by_the_browser(form: type[forms.Form]) -> None:
    for field in form.base_fields.values():
        if isinstance(field, forms.CharField) and isinstance(field.widget, forms.Textarea):
            assert "maxlength" not in field.widget.attrs
            with pytest.raises(forms.ValidationError, match="at most"):
                field.clean("x" * 10_000_000)
