"""Processes of the embedded site: the guard that ends all descendants, the supervisor, the lock, Redis.

Begin with `supervisor.py`. Which processes a site has is in `tournament.embedded.plan`.
"""
