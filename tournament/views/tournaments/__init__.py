"""Pages of tournaments: lists, crosstables, brackets, and the forms of organizers.

Begin with `tournaments.py`. Standings are computed in `tournament.services.schedule`; this package only
lays them out.
"""
