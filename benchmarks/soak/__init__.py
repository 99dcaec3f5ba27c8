"""A site that plays while everything under it is broken; see ``__main__``."""
