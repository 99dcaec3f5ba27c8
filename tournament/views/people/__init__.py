"""Pages of accounts: sign-up, log-in, the user's own account, tokens.

Begin with `accounts.py`. Tokens are created and checked in `tournament.services.accounts`.
"""
