"""The system call filter: rules (`seccomp`), numbers of system calls (`syscalls`), assembler (`bpf`).

Begin with `syscalls.py`, the refused calls. The filter is only computed here; bubblewrap installs it
(`workers.sandbox.bwrap`).
"""
