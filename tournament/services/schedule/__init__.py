"""Tournaments with their rounds, pairings and entries, from the draft to the last result.

Begin with `tournaments.py`. `pairings` makes large schedules in parts; `tables` has the standings of every
format. The formats are classes in `tournament.formats`; they pair by pure functions in `engines.pairing`.
Ladder games are in `tournament.services.ladders`.
"""
