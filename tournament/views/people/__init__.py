"""Pages of accounts: sign-up, log-in, the user's own account, tokens."""
