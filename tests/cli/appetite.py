#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""appetite.py KIND [ARGUMENT]... - write a small file that asks for much time or memory"""
import gzip
import struct
import sys


def comment(text):
    return b"\x0a" + struct.pack(">H", len(text)) + text


HEADER = comment(b"HATF 1.0\nproducer=test\npid=7\nppid=1\nstart_monotonic=1\n")
MIB = 1 << 20


def magics():
    """A header, and a MiB of what looks like the start of a gzip member."""
    return gzip.compress(HEADER) + b"\x1f\x8b\x08" * (MIB // 3)


def members():
    """Starts of members of this project, each as long as the rest of the file."""
    count = MIB // 20
    out = [gzip.compress(HEADER)]
    for left in range(count, 0, -1):
        out.append(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0HT\4\0" +
                   struct.pack("<I", 20 * left))
    return b"".join(out)


def heaptrack():
    """A stack of so many frames, time and again: each is that of the one before."""
    frames = " 1 1 1" * 1000
    lines = ["v 10400 3", "s 1 a", "i 1 1" + frames]
    lines += [f"t 1 {i:x}" for i in range(16000)]
    return gzip.compress("\n".join(lines).encode() + b"\n", 9)


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def deep(count, name):
    """So many calls, each one frame deeper than the one before."""
    lines = ["10 HATF ascii attributes",
             f"10 HATF frame\\x0aframe=1\\x0afunction={name}\\x0a"]
    for i in range(1, int(count) + 1):
        lines.append(f"10 HATF stack\\x0astack={i}\\x0aparent={i - 1}\\x0a"
                     "frame=1\\x0a")
        lines.append(f"0 8 {16 * i} 45{varint(i).hex()}")
    return "\n".join(lines).encode() + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(globals()[sys.argv[1]](*sys.argv[2:]))
