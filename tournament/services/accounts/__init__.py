"""Tokens for a user's programs, and notices to users."""
