"""Backups of a site: one file with its database, its bundles and its secret key."""
