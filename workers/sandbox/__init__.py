"""The sandbox: runs one engine confined, so that strangers' programs can play.

`docs/sandbox.md` lists its protections. Begin with `sandbox.py` and `bwrap.py`. Most modules compute
arguments from data (`limits`, `policy`, `levels`, `host`, `runtimes`, `filter/`); only `groups/`, `tree`,
`process`, `sampler` and `entrance` change anything on the machine. `entrance` continues as another user
when root started `arena`. `probe_engine` is the engine that tries to escape. The protocol and
clocks of engines are in `workers.engine`.
"""
