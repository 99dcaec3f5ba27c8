"""Tokens for a user's programs, and notices to users.

Begin with `tokens.py`. Sign-up and log-in are Django's, with pages in `tournament.views.people`; who may see
what is in `tournament.access`.
"""
