"""Pages of bots and their versions, uploads and validations.

Begin with `bots.py`. The validation itself is in `tournament.services.uploads`, the choice of the active
version in `tournament.services.bots`.
"""
