"""Which version of a bot plays on which ladder (`activity`), how a validation ends (`verdicts`), and what
owners and feeds are told about it (`publishing`).

Begin with `activity.py`. Uploads and the validation itself are in `tournament.services.uploads`.
"""
