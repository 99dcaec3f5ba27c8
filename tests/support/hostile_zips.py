"""Hostile zips, assembled byte by byte where no library would write them.

Each has the expected refusal, and who can refuse it: the site, which reads only the directory and
``bot.toml``, or the worker that unpacks it.
"""

from __future__ import annotations

import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

MANIFEST = (
    b'[bot]\nname = "Hostile"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = ["duploline"]\n'
)
SITE, WORKER = "site", "worker"
STORED, DEFLATED = 0, 8
UTF8, DESCRIPTOR = 0x800, 0x8
FILE = stat.S_IFREG | 0o644

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s4B4H3L5H2L")
_END = struct.Struct("<4s4H2LH")


@dataclass(frozen=True)
class Part:
    """One entry; each field may be false, None means the true value."""

    name: bytes
    data: bytes = b""
    mode: int = FILE
    system: int = 3
    method: int = STORED
    flags: int = 0
    crc: int | None = None
    size: int | None = None
    packed_size: int | None = None
    local_name: bytes | None = None
    local_extra: bytes = b""
    extra: bytes = b""
    offset: int | None = None
    raw: bytes | None = None
    """The bytes in the archive for the data."""
    follow: bytes = b""
    """Bytes after its data that belong to no entry."""

    def packed(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.method == DEFLATED:
            squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
            return squeezer.compress(self.data) + squeezer.flush()
        return self.data

    def _told(self, packed: bytes) -> tuple[int, int, int]:
        crc = zlib.crc32(self.data) if self.crc is None else self.crc
        packed_size = len(packed) if self.packed_size is None else self.packed_size
        return crc, packed_size, len(self.data) if self.size is None else self.size

    def local(self, packed: bytes) -> bytes:
        name = self.name if self.local_name is None else self.local_name
        header = _LOCAL.pack(
            b"PK\x03\x04", 20, self.flags, self.method, 0, 33, *self._told(packed),
            len(name), len(self.local_extra),
        )  # fmt: skip
        return header + name + self.local_extra + packed + self.follow

    def central(self, packed: bytes, at: int) -> bytes:
        where = at if self.offset is None else self.offset
        header = _CENTRAL.pack(
            b"PK\x01\x02", 20, self.system, 20, 0, self.flags, self.method, 0, 33, *self._told(packed),
            len(self.name), len(self.extra), 0, 0, 0, self.mode << 16, where,
        )  # fmt: skip
        return header + self.name + self.extra


BOT = (Part(b"bot.toml", MANIFEST), Part(b"main.py", b"print('ugiok')\n"))


def build(
    *parts: Part,
    start: int = 0,
    count: int | None = None,
    disk: int = 0,
    before_end: bytes = b"",
    comment: bytes = b"",
) -> bytes:
    """An archive of the parts, offsets counted from ``start``."""
    body, directory = b"", b""
    for part in parts:
        packed = part.packed()
        directory += part.central(packed, start + len(body))
        body += part.local(packed)
    told = len(parts) if count is None else count
    end = _END.pack(b"PK\x05\x06", disk, disk, told, told, len(directory), start + len(body), len(comment))
    return body + directory + before_end + end + comment


def bot_and(*parts: Part) -> bytes:
    return build(*BOT, *parts)


@dataclass(frozen=True)
class Hostile:
    make: Callable[[], bytes]
    complaint: str
    """A pattern of the refusal, with the name of the offending entry if there is one."""
    found_by: str = SITE


def _named(name: bytes, flags: int = 0) -> Callable[[], bytes]:
    return lambda: bot_and(Part(name, b"x", flags=flags))


def _kind(kind: int, data: bytes = b"") -> Callable[[], bytes]:
    return lambda: bot_and(Part(b"thing", data, mode=kind | 0o777))


def _overlapping() -> bytes:
    """Two thousand names for one piece of data."""
    big = Part(b"big", bytes(range(256)) * 2000, method=DEFLATED)
    at = sum(len(part.local(part.packed())) for part in BOT)
    aliases = [replace(big, name=b"alias%d" % n, offset=at) for n in range(3)]
    return build(*BOT, big, *aliases)


def _reaching_into_the_next() -> bytes:
    """Its local header says that its data is in the next entry."""
    first = Part(b"first", b"x" * 40, local_extra=b"")
    data = bytearray(bot_and(first, Part(b"second", b"y" * 40)))
    at = data.index(b"first") - 2
    data[at : at + 2] = struct.pack("<H", 20)
    return bytes(data)


def _two_directories() -> bytes:
    """Some readers use the first directory, others the second."""
    inner = build(*BOT)
    tail = Part(b"main.py", b"print('another')\n")
    local = tail.local(tail.packed())
    directory = BOT[0].central(BOT[0].packed(), 0) + tail.central(tail.packed(), len(inner))
    end = _END.pack(b"PK\x05\x06", 0, 0, 2, 2, len(directory), len(inner) + len(local), 0)
    return inner + local + directory + end


def _end_in_a_comment() -> bytes:
    """The comment contains an end record of an empty archive."""
    return build(*BOT, comment=_END.pack(b"PK\x05\x06", 0, 0, 0, 0, 0, 0, 0))


def _wrong_method(method: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as zipped:
        zipped.writestr("bot.toml", MANIFEST)
        zipped.writestr("main.py", b"x" * 100)
    return buffer.getvalue()


def _zip64_end() -> bytes:
    """A zip64 end record with another directory."""
    plain = build(*BOT)
    at = plain.rindex(b"PK\x05\x06")
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 100, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    return plain[:at] + record + locator + plain[at:]


def _zip64_sizes() -> bytes:
    """Sizes of four gigabytes, only in an extra field."""
    extra = struct.pack("<2H2Q", 1, 16, 2**32 + 7, 10)
    return bot_and(Part(b"giant", b"x" * 10, size=2**32 - 1, packed_size=2**32 - 1, extra=extra))


def _manifest(data: bytes) -> Callable[[], bytes]:
    return lambda: build(Part(b"bot.toml", data, method=DEFLATED), BOT[1])


NFD = unicodedata.normalize("NFD", "é").encode()

HOSTILE: dict[str, Hostile] = {
    # not an archive, or more than one
    "an empty file": Hostile(lambda: b"", "not a zip"),
    "text": Hostile(lambda: b"#!/bin/sh\necho hello\n", "not a zip"),
    "nonsense": Hostile(lambda: b"PK\x03\x04 nonsense", "not a zip"),
    "a broken local header": Hostile(lambda: b"XX" + build(*BOT)[2:], "damaged"),
    "cut short": Hostile(lambda: build(*BOT)[:-30], "not a zip"),
    "a program before": Hostile(lambda: b"#!/bin/sh\n" + build(*BOT), "data before or after"),
    "a program before, offsets adjusted": Hostile(
        lambda: b"#!/bin/sh\n" + build(*BOT, start=10), "data before or after"
    ),
    "bytes after": Hostile(lambda: build(*BOT) + b"\x00", "data before or after"),
    "an end record in the comment": Hostile(_end_in_a_comment, "data before or after|no bot.toml"),
    "two directories": Hostile(_two_directories, "entry 'bot.toml' is followed by", WORKER),
    "bytes between entries": Hostile(
        lambda: build(BOT[0], replace(BOT[1], follow=b"\x7fELF hidden"), Part(b"last")),
        "entry 'main.py' is followed by 11 bytes",
        WORKER,
    ),
    "one part of several": Hostile(lambda: build(*BOT, disk=1), "one part of a multi-part archive"),
    "zip64's end record": Hostile(_zip64_end, "zip64"),
    "sizes in zip64": Hostile(_zip64_sizes, "'giant' unpacks to more than"),
    "fewer entries told": Hostile(lambda: build(*BOT, Part(b"c"), count=2), "2 entries, but has 3"),
    # names
    "a way out": Hostile(_named(b"../way-out"), r"'\.\./way-out' points outside"),
    "a way out in the middle": Hostile(_named(b"a/../../way-out"), "'a/../../way-out' points outside"),
    "an absolute path": Hostile(_named(b"/tmp/duarena-absolute"), "'/tmp/duarena-absolute' has an absolute"),
    "a drive": Hostile(_named(b"C:\\evil.py"), "'C:.*evil.py' has"),
    "a backslash": Hostile(_named(b"..\\evil.py"), "evil.py' has a backslash"),
    "a nul": Hostile(_named(b"main.py\x00.txt"), r"'main.py\\x00.txt' has a character"),
    "a newline": Hostile(_named(b"a\nb"), r"'a\\nb' has a character"),
    "a terminal's escape": Hostile(_named(b"\x1b[2Jwiped"), r"'\\x1b\[2Jwiped' has a character"),
    "a right-to-left override": Hostile(_named("a\u202egpj.py".encode(), UTF8), r"\\u202egpj.py' has a char"),
    "a name in no encoding": Hostile(_named(b"caf\x82.txt"), "'café.txt' has a name that is not marked"),
    "a name that is no UTF-8": Hostile(_named(b"caf\xe9.txt", UTF8), r"not UTF-8: b'caf\\xe9.txt'"),
    "no name": Hostile(_named(b""), "'' is not a plain path"),
    "an empty part": Hostile(_named(b"a//b"), "'a//b' is not a plain path"),
    "a dot": Hostile(_named(b"a/./b"), "'a/./b' is not a plain path"),
    "a second dot": Hostile(_named(b"././b"), "'././b' is not a plain path"),
    "a dot before a parent": Hostile(_named(b"./../b"), "'./../b' points outside"),
    "a dot before a slash": Hostile(_named(b".//b"), "'.//b' has an absolute path"),
    "a file with and without a dot": Hostile(_named(b"./main.py"), "two entries named 'main.py'"),
    "a file that is the bundle's folder": Hostile(_named(b"./"), "'./' is a folder by its name only"),
    "a long part": Hostile(_named(b"y" * 256), "'yyy.* has too long a name"),
    "a long path": Hostile(_named(b"/".join([b"z" * 200] * 6)), "'zzz.* has too long a name"),
    "depth": Hostile(_named(b"d/" * 5000 + b"f"), "'d/d/.* is nested deeper"),
    "two of one name": Hostile(lambda: bot_and(BOT[1]), "two entries named 'main.py'"),
    "two that differ in case": Hostile(_named(b"Main.PY"), "'Main.PY' and 'main.py' differ only in"),
    "two that differ in accents": Hostile(
        lambda: bot_and(Part(NFD, flags=UTF8), Part("é".encode(), flags=UTF8)), "differ only in"
    ),
    "a file and a folder": Hostile(_named(b"main.py/inner"), "'main.py' both as a file and as a folder"),
    # kinds
    "a symbolic link": Hostile(_kind(stat.S_IFLNK, b"/etc/passwd"), "'thing' is a symbolic link"),
    "a link to a folder, and a file in it": Hostile(
        lambda: bot_and(Part(b"lib", b"/tmp", mode=stat.S_IFLNK | 0o777), Part(b"lib/evil", b"x")),
        "'lib' is a symbolic link",
    ),
    "a link for a manifest": Hostile(
        lambda: build(Part(b"bot.toml", b"/etc/passwd", mode=stat.S_IFLNK | 0o777), BOT[1]),
        "'bot.toml' is a symbolic link",
    ),
    "a character device": Hostile(_kind(stat.S_IFCHR), "'thing' is neither a file nor"),
    "a block device": Hostile(_kind(stat.S_IFBLK), "'thing' is neither a file nor"),
    "a pipe": Hostile(_kind(stat.S_IFIFO), "'thing' is neither a file nor"),
    "a socket": Hostile(_kind(stat.S_IFSOCK), "'thing' is neither a file nor"),
    "a folder with content": Hostile(
        lambda: bot_and(Part(b"folder/", b"x", mode=stat.S_IFDIR)), "'folder/' is a folder with content"
    ),
    "a folder that is a file": Hostile(_kind(stat.S_IFDIR), "'thing' is a folder by its name only"),
    "a file that is a folder": Hostile(
        lambda: bot_and(Part(b"thing/", mode=stat.S_IFREG | 0o777)), "'thing/' is a folder by its name only"
    ),
    "encrypted": Hostile(lambda: bot_and(Part(b"secret", b"x", flags=1)), "'secret' is encrypted"),
    "strongly encrypted": Hostile(
        lambda: bot_and(Part(b"secret", b"x", flags=0x40)), "'secret' is encrypted"
    ),
    "bzip2": Hostile(lambda: _wrong_method(zipfile.ZIP_BZIP2), "'bot.toml' is neither stored nor deflated"),
    "lzma": Hostile(lambda: _wrong_method(zipfile.ZIP_LZMA), "'bot.toml' is neither stored nor deflated"),
    # sizes
    "too many entries": Hostile(
        lambda: bot_and(*(Part(b"f%d" % n) for n in range(2000))), "2002 entries, more than 2000"
    ),
    "too many entries, two told": Hostile(
        lambda: build(*BOT, *(Part(b"f%d" % n) for n in range(20_000)), count=2), "2 entries, but has 20002"
    ),
    "too many folders": Hostile(
        lambda: bot_and(*(Part(b"%d/a/b/c/d/f" % n) for n in range(400))), "files and folders, more than 2000"
    ),
    "a directory of megabytes": Hostile(
        lambda: bot_and(*(Part(b"f%d" % n, extra=b"\xfe\xca\xfc\x7f" + bytes(0x7FFC)) for n in range(70))),
        "directory is .* bytes, more than",
    ),
    "a bomb": Hostile(
        lambda: bot_and(Part(b"bomb", bytes(200_000_000), method=DEFLATED)), "'bomb' unpacks to more than 200"
    ),
    "a bomb in many pieces": Hostile(
        lambda: bot_and(*(Part(b"p%d" % n, bytes(1_000_000), method=DEFLATED) for n in range(300))),
        "unpacks to 3000.* bytes, more than",
    ),
    "a bomb that is folded": Hostile(_overlapping, "'(big|alias.)' overlaps another part"),
    "a manifest that is a bomb": Hostile(
        lambda: build(Part(b"bot.toml", b"#" * 50_000_000, method=DEFLATED), BOT[1]),
        "'bot.toml' unpacks to more",
    ),
    "a manifest of a megabyte": Hostile(
        lambda: build(Part(b"bot.toml", b"#" * 1_000_000, method=DEFLATED), BOT[1]), "bot.toml is over 64 KiB"
    ),
    "a bomb that calls itself small": Hostile(
        lambda: bot_and(Part(b"liar", bytes(100_000_000), method=DEFLATED, size=10)),
        "'liar' is damaged",
        WORKER,
    ),
    "a file that calls itself large": Hostile(
        lambda: bot_and(Part(b"liar", b"x" * 1000, method=DEFLATED, size=900_000)),
        "'liar' is 1000 bytes, not 900000",
        WORKER,
    ),
    # the manifest
    "no manifest": Hostile(lambda: build(BOT[1]), "has no bot.toml at its top"),
    "a manifest in a folder": Hostile(
        lambda: build(Part(b"bot/bot.toml", MANIFEST), BOT[1]),
        "but it has 'bot/bot.toml': zip the content of the folder",
    ),
    "no program": Hostile(lambda: build(BOT[0]), "names 'main.py', which is not in the bundle"),
    "a manifest that is no UTF-8": Hostile(_manifest(b"\xff\xfe[bot]"), "bot.toml is not UTF-8 at byte 0"),
    "a manifest that is no TOML": Hostile(_manifest(b"[bot\n\x1b[2J"), "not valid TOML: Expected"),
    "a manifest nested without end": Hostile(_manifest(b"a=" + b"[" * 60_000), "nested too deeply"),
    "a number without end": Hostile(_manifest(b"a=" + b"9" * 60_000), "nested too deeply or too long"),
    "a key of ten thousand parts": Hostile(_manifest(b"a." * 30_000 + b"a=1"), "more than 500 dots"),
    "a table of ten thousand parts": Hostile(
        _manifest(b"[" + b"a . " * 15_000 + b"a]"), "more than 500 dots"
    ),
    "parts between strings": Hostile(_manifest(b'"a".' * 16_000 + b"a=1"), "more than 500 dots"),
    "a string without end": Hostile(_manifest(b'a="""' + b'\\"' * 30_000), "bot.toml is not valid TOML"),
    "a manifest that says all twice": Hostile(_manifest(MANIFEST + MANIFEST), "Cannot declare"),
    "a command of lines": Hostile(
        _manifest(MANIFEST.replace(b'"main.py"', b'"main.py", "a\\nb"')), r"must be printable and at most"
    ),
    "a command out of the bundle": Hostile(
        _manifest(MANIFEST.replace(b'"python3", "main.py"', b'"../../bin/sh"')), "which is neither a file of"
    ),
    "an option of two lines": Hostile(
        _manifest(MANIFEST + b'[options]\n"a\\nquit" = 1\n'), "must be printable words"
    ),
    "a variable before the command": Hostile(
        _manifest(MANIFEST.replace(b'"python3", ', b'"LD_PRELOAD=./x.so", ')), "neither a file of the bundle"
    ),
    "a name of escapes": Hostile(
        _manifest(MANIFEST.replace(b'"Hostile"', b'"\\u001b[2J\\u202e"')), "bot.name .* printable"
    ),
    # what only unpacking shows
    "a wrong checksum": Hostile(lambda: bot_and(Part(b"torn", b"x", crc=1)), "'torn' is damaged", WORKER),
    "a torn stream": Hostile(
        lambda: bot_and(Part(b"noise.bin", b"x" * 60, method=DEFLATED, raw=b"\x07" * 20)),
        "'noise.bin' is damaged",
        WORKER,
    ),
    "another name before the data": Hostile(
        lambda: bot_and(Part(b"innocent", b"x", local_name=b"../../ev")), "'innocent' is damaged", WORKER
    ),
    "an entry that is not there": Hostile(
        lambda: bot_and(Part(b"ghost", offset=60)), "overlaps another part|is not where"
    ),
    "an entry beyond the end": Hostile(
        lambda: bot_and(Part(b"ghost", b"x", offset=2**31)), "'ghost' overlaps another part"
    ),
    "data in the next entry": Hostile(_reaching_into_the_next, "'first' overlaps another part", WORKER),
}  # fmt: skip
"""By what is wrong with it."""
