"""Rows of what the site publishes, as lists, the API and dumps have them."""
