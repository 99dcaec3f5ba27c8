"""Control groups of versions 1 and 2: an engine's group, the mounted hierarchies, root's delegation.

Begin with `cgroups.py`. The limits themselves are in `workers.sandbox.limits`; without a control group
`workers.sandbox.tree` and `sampler` do part of its work.
"""
