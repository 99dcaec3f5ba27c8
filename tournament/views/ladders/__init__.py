"""Pages of ladders, their ratings, and the queue."""
