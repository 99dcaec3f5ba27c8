"""Pages of accounts: sign-up, log-in, the user's own account with its means to log in, tokens; staff's log.

Begin with `accounts.py`. The views are allauth's with the site's forms and templates; what allauth asks the
site is in `adapters.py`. Limits, tokens and notices are in `tournament.services.accounts`.
"""
