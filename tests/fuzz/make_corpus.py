#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes inputs for the fuzz target 'record' from recordings of perf:
    make_corpus.py PERF-DATA OUTPUT-FILE
The layout of the first event, and at most three records of each type and size."""
import struct
import sys

LIMIT_BYTES = 6000
PER_SHAPE = 3


def layout(attr):
    sample_type, read_format, flags = struct.unpack_from("<3Q", attr, 24)
    branch, regs_user = struct.unpack_from("<2Q", attr, 72)
    (regs_intr,) = struct.unpack_from("<Q", attr, 96) if len(attr) >= 104 else (0,)
    sample_id_all = flags >> 18 & 1
    return struct.pack("<6Q", sample_type, branch, read_format, regs_user, regs_intr,
                       sample_id_all)


def records(data, offset, size):
    end = offset + size
    while offset < end:
        kind, _, length = struct.unpack_from("<IHH", data, offset)
        yield kind, data[offset:offset + length]
        offset += length


def main(source, target):
    data = open(source, "rb").read()
    assert data[:8] == b"PERFILE2"
    _, attr_size, attrs, _, begin, size = struct.unpack_from("<6Q", data, 8)
    out = layout(data[attrs:attrs + attr_size - 16])
    seen = {}
    for kind, record in records(data, begin, size):
        shape = kind if kind != 9 else (kind, len(record))
        seen[shape] = seen.get(shape, 0) + 1
        if kind < 64 and seen[shape] <= PER_SHAPE and len(out) + len(record) <= LIMIT_BYTES:
            out += record
    with open(target, "wb") as file:
        file.write(out)


main(*sys.argv[1:])
