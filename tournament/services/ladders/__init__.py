"""Ladder games: the active versions (`candidates`), the pairs due (`matchmaking`), the queue's state."""
