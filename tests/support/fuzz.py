"""Bad input as hypothesis strategies: random bytes, and good text with damaged parts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

SPOILERS = (
    b"", b"\0", b"\r", b"\n", b" ", b"\t", b"\xff", b"\xc3", b"\xed\xa0\x80", b"-1", b"007",
    "\u0661".encode(), "\u2028".encode(), "\ufeff".encode(),
    b"9" * 25, b"9" * 5000, b"{" * 300, b"(" * 300, b"/" * 300, b"a" * 70_000,
)  # fmt: skip


def as_text(line: bytes) -> str:
    """Decode like the reader of a pipe or a file, without loss or error."""
    return line.decode("utf-8", "backslashreplace")


@st.composite
def spoilt(draw: st.DrawFn, good: Sequence[str]) -> str:
    """One of the good texts with a few parts replaced."""
    line = draw(st.sampled_from(good)).encode()
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(line)))
        length = draw(st.integers(0, 4))
        spoiler = draw(st.sampled_from(SPOILERS) | st.binary(max_size=6))
        line = line[:first] + spoiler + line[first + length :]
    return as_text(line)


def noise(good: Sequence[str]) -> st.SearchStrategy[str]:
    return st.binary(max_size=200).map(as_text) | spoilt(good)
