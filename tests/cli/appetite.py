#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""appetite.py - write a small file that takes much time or memory to read

usage: appetite.py KIND [ARGUMENT]...

KIND is a function below.
"""
import gzip
import struct
import sys
import zlib


def comment(text):
    return b"\x0a" + struct.pack(">H", len(text)) + text


HEADER = comment(b"HATF 1.0\nproducer=test\npid=7\nppid=1\nstart_monotonic=1\n")
MIB = 1 << 20


def magics():
    """A header, then a MiB of bytes that look like starts of gzip members."""
    return gzip.compress(HEADER) + b"\x1f\x8b\x08" * (MIB // 3)


def members():
    """Starts of hatf's gzip members, each as long as the rest of the file."""
    count = MIB // 20
    out = [gzip.compress(HEADER)]
    for left in range(count, 0, -1):
        out.append(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0HT\4\0" +
                   struct.pack("<I", 20 * left))
    return b"".join(out)


def images(count):
    """In this folder, traces of as many processes with the same id."""
    for i in range(int(count)):
        text = (f"HATF 1.0\npid=7\nhost=h\nppid=7\nparent_pid=7\n"
                f"parent_trace=none\nstart_monotonic={1000 + i}\n")
        with open(f"{i}.hatf", "wb") as file:
            file.write(comment(text.encode()))
    return b""


def chain(count, pid):
    """In this folder, traces of processes that descend from process 'pid'.

    The parent of each process is that of the next file.
    """
    count = int(count)
    for i in range(count):
        parent = 10 ** 9 + i + 1 if i + 1 < count else pid
        text = (f"HATF 1.0\npid={10 ** 9 + i}\nppid={parent}\n"
                f"start_monotonic={1000 + i}\n")
        with open(f"x.{10 ** 9 + i}.hatf", "wb") as file:
            file.write(comment(text.encode()))
    return b""


def hatf_member(data):
    """'data' as one gzip member of hatf."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = pack.compress(data) + pack.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0HT\4\0"
    return (head + struct.pack("<I", len(head) + 4 + len(packed) + 8) + packed +
            struct.pack("<II", zlib.crc32(data), len(data)))


def metatf_packed(count):
    return gzip.compress(metatf(count), 9)


def groups(count):
    """A Split Stream, compressed twice: groups of 2^18 allocations of 0."""
    records = 1 << 18
    out = struct.pack(">IB3x", records, 8)
    for stream in range(8):
        width = 4 if stream else 1
        packed = hatf_member(bytes(width * records))
        out += struct.pack(">BBBxIIQ", stream, width, 1, width * records,
                           len(packed), 0) + packed
    return gzip.compress(b"\xfeHATFspl" + out * int(count) + bytes(8), 9)


def metatf(count):
    """Records of 5 bytes with 2^20 values each that take none."""
    fields = ", ".join(f"f{i}" for i in range(1000))
    lines = ["n.width = 4; n.interpretation = none;",
             "address.width = 8; address.interpretation = none;"]
    lines += [f"f{i}.width = 1; f{i}.interpretation = default 0;"
              for i in range(1000)]
    lines.append(f"section s 1 {{ r : (tag, n, n*({fields})) "
                 "{ tag.value = 4; } free : (tag, address) "
                 "{ tag.value = 5; } }\n")
    dtd = "\n".join(lines).encode()
    records = (b"\4" + struct.pack("<I", (1 << 20) // 1000 - 1)) * int(count)
    start = 16 + 24 + 2 * 24 + len(dtd)
    return (b"\x7fMTF" + bytes([2, 1, 0, 0]) + bytes(8) +
            struct.pack("<3Q", 2, start, 2 ** 64 - 1) +
            struct.pack("<3Q", 0, start - len(dtd), len(dtd)) +
            struct.pack("<3Q", 1, start + 2, len(records)) +
            dtd + b"\2\1" + records)


def heaptrack():
    """Stacks of 1000 frames each, of which each is the parent of the next."""
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
    """'count' calls, each one frame deeper than the one before."""
    lines = ["10 HATF ascii attributes",
             f"10 HATF frame\\x0aframe=1\\x0afunction={name}\\x0a"]
    for i in range(1, int(count) + 1):
        lines.append(f"10 HATF stack\\x0astack={i}\\x0aparent={i - 1}\\x0a"
                     "frame=1\\x0a")
        lines.append(f"0 8 {16 * i} 45{varint(i).hex()}")
    return "\n".join(lines).encode() + b"\n"


def packet(events, domain=0, begin=0, end=0, length=None):
    """A packet of Memtrace, version 3."""
    nbytes = 68 + len(events) if length is None else length
    return struct.pack("<IIQQIHQHHHQQQ", 0xc1fc1fc1, 8 * nbytes, 0, 0, 0, 3, 7,
                       domain, 0xffff, 0, 0, begin, end) + events


MEMTRACE = packet(struct.pack("<IdB", 0, 0.5, 64) + b"app\0host\0rt\0" +
                  struct.pack("<Q", 7) + b"\0")


def head(event):
    return struct.pack("<I", event << 25)


def memtrace_location(code, name, count=1):
    """A location code of 'count' frames, all of one function in one file."""
    new = struct.pack("<Q", 31 << 38 | 31 << 43)[:6] + name + b"\0f\0"
    again = bytes(6)
    return (head(1) + struct.pack("<QB", code, count) + new +
            again * (count - 1))


def memtrace_packet():
    """A packet whose stated length exceeds the limit."""
    return MEMTRACE + packet(b"", length=(256 << 10) + 8)


def memtrace_domains(count):
    return MEMTRACE + b"".join(packet(b"", domain=i)
                               for i in range(int(count)))


def memtrace_depth():
    """A stack of slightly more than 2^20 frames."""
    miss = struct.pack("<HQ", 1 << 2 | 3, 5)
    again = struct.pack("<HB", 1 << 2 | 2, 255)
    count = (1 << 20) // 255 // 256 + 2
    alloc = (head(2) + bytes([1, 1, 0, 0]) + struct.pack("<H", 1 + count) +
             miss + again * count)
    return (MEMTRACE + packet(memtrace_location(5, b"name", 255)) +
            packet(alloc, begin=0, end=1))


def memtrace_names():
    """Distinct location codes with distinct long names."""
    out = [MEMTRACE]
    for i in range(600):
        name = b"n" * 200000 + b"%d" % i
        out.append(packet(memtrace_location(1 + i, name)))
    return gzip.compress(b"".join(out), 6)


def mtrace_line():
    return b"= Start\n@ ./" + b"a" * (600 << 10) + b":[0x1] + 0x10 0xa\n"


def mtrace_names():
    """Objects with distinct long names."""
    lines = [b"= Start\n"]
    for i in range(600):
        lines.append(b"@ ./" + b"a" * 400000 + b"%d:[0x1] + 0x10 0xa\n" % i)
        lines.append(b"@ ./b:[0x1] - 0x10\n")
    return gzip.compress(b"".join(lines) + b"= End\n", 6)


MTRC = b"MTRC" + struct.pack("<QQ", 1, 10501)


def mtrc_call(index, function, line=1):
    """An allocation in a function with a new name."""
    return (b"A" + varint(index) + varint(16 * index) + b"\1\0\x81" +
            function + b"\0\0" + varint(line))


def mtrc_name():
    return MTRC + mtrc_call(1, b"f" * 4097) + b"MTRC"


def mtrc_names():
    """Distinct long names."""
    out = [MTRC]
    for i in range(1, 67000):
        out.append(mtrc_call(i, b"f" * 4080 + b"%x" % i))
        out.append(b"F" + varint(i) + b"\0\0\0\0")
    return gzip.compress(b"".join(out) + b"MTRC", 6)


def mtrc_apart(count):
    """Live blocks whose numbers and addresses are far apart."""
    out = [b"MTRC" + struct.pack("<QQ", 1, 10404)]
    for i in range(1, int(count)):
        out.append(b"A" + varint(64 * i) + varint(8192 * i) + b"\1")
    return b"".join(out) + b"MTRC"


if __name__ == "__main__":
    sys.stdout.buffer.write(globals()[sys.argv[1]](*sys.argv[2:]))
