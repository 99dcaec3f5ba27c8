"""The processes that play a match's games: the pool, one slot, and the messages between them.

Begin with `messages.py`, then `pool.py` on the match's side and `slot.py` on the other. Which game is next is
decided in `workers.match.director`; a slot plays it with `workers.play`.
"""
