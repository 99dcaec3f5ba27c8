"""The sandbox: walls around one engine, so that strangers' programs may run.

Bubblewrap's namespaces, a system call filter, resource limits and a control group. Walls are data
that become a command line; only ``cgroups``, ``cell``, ``sampler`` and ``probe`` touch the machine:

    bpf, syscalls, seccomp      the system call filter, assembled here
    limits, walls               what an engine may use and see; the arguments of prlimit and bwrap
    host, runtimes              what this machine has: system folders, programs, interpreters
    cgroups, tree               an engine's processes as one: limits, freezing, processor time, the end
    cell                        one engine behind its walls, from start to end
    levels, probe, canary       which walls hold here: tried out with an engine that tries to get out
    policy                      who may run behind which walls
"""
