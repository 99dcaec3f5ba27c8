"""The processes that play a match's games: the pool, one slot, and the messages between them."""
