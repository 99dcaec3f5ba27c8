"""What changes several rows at once, or may be delivered twice: one transaction each.

Whoever takes several locks takes them in this order: ladder, tournament, game.
"""
