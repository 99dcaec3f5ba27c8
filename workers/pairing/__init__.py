"""Pairings for tournaments and matches: pure functions from players and results to pairs."""
