"""Ladder games: the active versions (`candidates`), the pairs due (`matchmaking`), the queue's state.

Begin with `matchmaking.py`. The choice of pairs is a pure function, `tournament.arithmetic.matchmaker`;
ratings are stored in `tournament.services.results`.
"""
