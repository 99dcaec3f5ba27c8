"""Functions that change several rows at once, or may be called twice for one message: one transaction each.

Some modules only read, for pages and for those functions: `dispatch.durations` and `slots`,
`ladders.candidates` and `queue`, `results.agreement` and `exact`, `schedule.tables`, `uploads.availability`.

A function that takes several locks takes them in this order: ladder, tournament, game.
"""
