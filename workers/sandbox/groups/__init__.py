"""Control groups of versions 1 and 2: one an engine (`cgroups`), where they are mounted, root's handover."""
