"""The system call filter: rules (`seccomp`), numbers of system calls (`syscalls`), assembler (`bpf`)."""
