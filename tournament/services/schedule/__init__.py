"""Tournaments with their rounds, pairings and entries, from the draft to the last result.

Begin with `tournaments.py`. `pairings` makes large schedules in parts; `tables` has the standings of every
format. The formats themselves are pure functions in `workers.pairing`; ladder games are in
`tournament.services.ladders`.
"""
