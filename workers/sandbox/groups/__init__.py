"""Control groups of versions 1 and 2: an engine's group, the mounted hierarchies, root's delegation."""
