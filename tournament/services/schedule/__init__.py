"""Tournaments with their rounds, pairings and entries, from the draft to the last result.

Begin with `tournaments.py`. `tables` has the standings of every format.
"""
