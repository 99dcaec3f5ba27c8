"""Runs one engine: its process, its start in a sandbox, and the UGI protocol.

Begin with `players.py` (a player over a process), then `process.py`, which exchanges lines. `child` starts
and ends a process, `output` keeps what it writes, `turns` measures its times. `launch` turns an `EngineSpec`
into a command line; `sandbox_probe` tests which sandbox works on this machine.
"""
