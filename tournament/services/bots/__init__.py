"""Which version of a bot plays on which ladder (`activity`), and how a validation ends (`verdicts`)."""
