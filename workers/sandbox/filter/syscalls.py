"""The system calls that engines may not use, and their numbers on the supported processors.

All other calls are allowed, because an engine may be any program. The refused calls reach out of the
namespaces, serve only administrators, enlarge the kernel's attack surface without use to an engine, or carry
messages between two bots that share only read-only files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

X86_64 = "x86_64"
AARCH64 = "aarch64"

# Number on x86_64, number on aarch64 (the kernel's generic table); None: does not exist.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Namespaces and mounts; for clone and clone3 see _WATCHED
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    # The kernel itself
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_secret": (447, 447),
    "seccomp": (317, 277),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "vmsplice": (278, 75),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "syslog": (103, 116),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "personality": (135, 92),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "_sysctl": (156, None),
    "sysfs": (139, None),
    # Clocks
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    # Memory that outlives its process; files in /dev/shm are a substitute
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    # Files by handle; locks and watches on files that both bots can read, which could carry messages
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "flock": (73, 32),
    "mincore": (27, 232),
    "cachestat": (451, 451),
    # Priorities, and the choice of a core
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}

# Decided by their arguments, or always answered in the same way: see ``seccomp``.
_WATCHED: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "memfd_create": (319, 279),
    "mmap": (9, 222),
    "madvise": (28, 233),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "prctl": (157, 167),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "setsockopt": (54, 208),
    "setrlimit": (160, 164),
    "prlimit64": (302, 261),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "fadvise64": (221, 223),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "msync": (26, 227),
    "sync_file_range": (277, 84),
}


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor, for a filter; ``refused`` and ``watched`` map names of system calls to numbers."""

    name: str
    audit: int
    """``AUDIT_ARCH_…`` of ``<linux/audit.h>``."""
    refused: dict[str, int]
    watched: dict[str, int]
    first_foreign: int | None = None
    """Calls from this number on belong to another kind of program: x32 on x86_64."""


def _numbers(table: Mapping[str, tuple[int | None, int | None]], column: int) -> dict[str, int]:
    return {name: number for name, pair in table.items() if (number := pair[column]) is not None}


def _machine(name: str, audit: int, column: int, first_foreign: int | None = None) -> Machine:
    return Machine(name, audit, _numbers(_REFUSED, column), _numbers(_WATCHED, column), first_foreign)


MACHINES = {
    X86_64: _machine(X86_64, 0xC000003E, 0, first_foreign=0x40000000),
    AARCH64: _machine(AARCH64, 0xC00000B7, 1),
}
"""The machines by the name in ``os.uname().machine``."""
