"""Searches that people ask of bots (`asking`), and games of a person against a bot (`playing`).

Begin with `asking.py`. Slots get their searches from `tournament.services.work.searches`.
"""
