"""Pages of accounts: sign-up, log-in, the own account, tokens."""
