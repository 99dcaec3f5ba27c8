"""Pairings for tournaments and matches: pure functions from players and results to pairs.

Begin with `meetings.py`, which puts the meetings of an event in the order of play; the other modules are one
format each, over `results`. The ladders' matchmaker is in `tournament.arithmetic`, as are standings.
"""
