"""Which version of a bot plays on which ladder (`activity`), and how a validation ends (`verdicts`).

Begin with `activity.py`. Uploads and the validation itself are in `tournament.services.uploads`.
"""
