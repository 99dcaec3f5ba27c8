"""Evidence of a tournament or a ladder: one archive from which anybody recomputes what a site published.

Begin with ``format.py``, which has every file of the archive. The page for users is docs/evidence.md.
"""
