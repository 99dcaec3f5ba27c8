"""A soak test: a site plays while its processes are killed; see ``__main__``."""
