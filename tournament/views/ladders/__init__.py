"""Pages of ladders, their ratings, and the queue.

Begin with `ladders.py`. Ratings are computed in `tournament.arithmetic`; the state of the queue comes from
`tournament.services.ladders`.
"""
