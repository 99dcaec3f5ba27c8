"""Pages of ladders, their ratings, and the queue.

Begin with `ladders.py`. Ratings are computed in `engines.arithmetic`; the state of the queue comes from
`tournament.services.ladders`.
"""
