"""Who meets whom: pure functions from players to pairs, no database."""
