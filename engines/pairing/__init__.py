"""Pairings for tournaments and matches, and random openings: pure functions.

Begin with `meetings.py`, which puts the meetings of an event in the order of play; the other modules are one
format each, over `results`. Only `swiss.py` needs a package, networkx, which it imports when it pairs. The
ladders' matchmaker is in `tournament.arithmetic`.
"""
