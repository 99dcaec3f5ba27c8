"""Who meets whom: pure functions from players to pairs, for a site and for a match on an author's machine."""
