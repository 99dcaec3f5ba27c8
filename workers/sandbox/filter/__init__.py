"""The system call filter: the rules (`seccomp`), the calls' numbers (`syscalls`), the assembler (`bpf`)."""
