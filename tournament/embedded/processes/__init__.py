"""Processes of the embedded site: the guard that ends all descendants, the supervisor, the lock, Redis."""
