"""Boards on which visitors enter moves."""
