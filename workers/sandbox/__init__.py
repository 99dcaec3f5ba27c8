"""The sandbox: runs one engine confined, so that strangers' programs can play.

It combines bubblewrap's namespaces, a system call filter, resource limits and a control group. Most modules
compute arguments from data; only ``groups``, ``process``, ``sampler`` and ``entrance`` change anything on the
machine:

    filter/                     the system call filter and its assembler
    limits, bwrap               what an engine may use and see; the arguments of prlimit and bwrap
    host, runtimes              what this machine has: system folders, programs, interpreters
    groups/, tree               an engine's processes together: limits, freezing, processor time, the end
    process, sandbox            one sandboxed engine from start to end; this machine's sandbox
    sampler                     without a control group: a thread that checks engines' memory
    levels, probe_engine        the level of a machine's sandbox; the engine that tries to escape from it
    policy                      which engines a worker runs, and in which sandbox
    entrance, reach             continue as another user when root started ``arena``
"""
