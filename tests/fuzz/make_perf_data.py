#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the small inputs for the fuzz target 'perf_data', by perf's description of its
format:  make_perf_data.py CORPUS"""
import pathlib
import struct
import sys

IDENTIFIER, IP, TID, TIME, ADDR, READ, CHAIN = 1 << 16, 1, 2, 4, 8, 16, 32
WEIGHT, DATA_SRC = 1 << 14, 1 << 15


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(value, size=64):
    return struct.pack("<I", size) + value.encode().ljust(size, b"\0")


def attr(sample_type, size=128, config=0x1CD, period=1000):
    read_format = 12 if sample_type & READ else 0  # ID and GROUP
    body = struct.pack("<IIQQQQQ", 4, size, config, period, sample_type, read_format, 1 << 18)
    return body.ljust(size, b"\0")


def sample(identifier, sample_type, time):
    body = struct.pack("<QQIIQ", identifier, 0x401000 + time, 5, 5 + time % 2, time)
    if sample_type & ADDR:
        body += struct.pack("<Q", 0x7F0000000000 + 64 * time)
    if sample_type & READ:  # two values with their ids
        body += struct.pack("<QQQQQ", 2, 100 * time, identifier, 10 * time, identifier + 1)
    if sample_type & CHAIN:
        body += struct.pack("<QQQQ", 3, 2**64 - 512, 0x401000, 0x402000)
    if sample_type & WEIGHT:
        body += struct.pack("<Q", 300)
    if sample_type & DATA_SRC:
        body += struct.pack("<Q", 0x68100142)
    return record(9, body)


def task_records(trailer):
    path = b"/bin/program\0\0\0\0"
    mapping = struct.pack("<IIQQQQQQII", 5, 5, 0x400000, 0x3000, 0, 1, 2, 3, 5, 2)
    return (
        record(3, struct.pack("<II", 5, 5) + b"program\0" + trailer, 1 << 13)
        + record(10, mapping + path + trailer)
        + record(7, struct.pack("<IIIIQ", 5, 5, 6, 5, 1) + trailer)
        + record(2, struct.pack("<QQ", 7, 3) + trailer)
        + record(4, struct.pack("<IIIIQ", 5, 5, 6, 5, 99) + trailer)
    )


def process_records():
    """Processes and threads that come and go, in the kernel too; ids are near each other."""

    def trailer(pid, tid, time):
        return struct.pack("<IIQQ", pid, tid, time, 7)

    def task(kind, pid, parent, tid, parent_tid, time):
        return record(kind, struct.pack("<IIIIQ", pid, parent, tid, parent_tid, time) + trailer(pid, tid, time))

    def mapping(pid, start, name, time):
        body = struct.pack("<IIQQQQQQII", pid, pid % 2**32, start, 0x2000, 0, 1, 2, 3, 5, 2)
        return record(10, body + name.ljust(-len(name) % 8 + len(name) + 8, b"\0") + trailer(pid, pid, time))

    def name(pid, tid, text, misc, time):
        return record(3, struct.pack("<II", pid, tid) + text.ljust(16, b"\0") + trailer(pid, tid, time), misc)

    memory = IDENTIFIER | IP | TID | TIME | ADDR | WEIGHT | DATA_SRC
    kernel = 2**64 - 2**31
    return b"".join(
        (
            mapping(2**32 - 1, kernel, b"[kernel.kallsyms]_text", 1),
            name(5, 5, b"shell", 1 << 13, 2), mapping(5, 0x400000, b"/bin/sh", 3),
            mapping(5, 0x7FF000, b"[stack]", 4), task(7, 6, 5, 6, 5, 5), task(7, 6, 6, 7, 6, 6),
            task(7, 7, 6, 7, 7, 7), name(6, 7, b"worker", 0, 8), sample(7, memory, 9),
            name(6, 6, b"program", 1 << 13, 10), mapping(6, 0x400000, b"/bin/program", 11),
            mapping(6, 0x401000, b"//anon", 12), sample(7, memory, 13), task(4, 6, 5, 7, 6, 14),
            task(4, 6, 5, 6, 5, 15), record(68, b""), task(7, 6, 5, 6, 5, 16),
            sample(7, memory, 17), task(4, 5, 1, 5, 1, 18), sample(7, memory, 19),
        )
    )


def features():
    return {
        2: record(0, struct.pack("<i", 5) + bytes(range(20)) + b"\x14\0\0\0" + b"/bin/program\0\0\0\0", 1 << 15),
        3: text("host"),
        4: text("6.1.0"),
        6: text("x86_64"),
        7: struct.pack("<II", 8, 4),
        8: text("A CPU"),
        10: struct.pack("<Q", 1 << 20),
        11: struct.pack("<I", 2) + text("perf") + text("record"),
        12: struct.pack("<II", 1, 128) + attr(IP) + struct.pack("<I", 1) + text("loads") + struct.pack("<Q", 7),
        13: struct.pack("<I", 1) + text("0-3") + struct.pack("<I", 2) + text("0-1") + text("2-3"),
        14: struct.pack("<IIQQ", 1, 0, 4096, 0) + text("0-3"),
        20: struct.pack("<IIIIII", 1, 1, 2, 64, 1024, 16) + text("Unified") + text("1024K") + text("0"),
        28: struct.pack("<I", 1) + text("max_precise") + text("3"),
        29: struct.pack("<IIQQ", 1, 1, 10**18, 10**9),
        30: struct.pack("<I", 1) + text("cpu_core") + text("0-3"),
        31: struct.pack("<II", 1, 1) + text("branches") + text("32") + text("cpu_core"),
    }


def stream(sample_type, count):
    trailer = struct.pack("<IIQQ", 5, 5, 2, 7)
    samples = b"".join(sample(7, sample_type, time) for time in range(2, 2 + count))
    return task_records(trailer) + samples + record(68, b"")


def pipe(sample_type, body):
    head = struct.pack("<8sQ", b"PERFILE2", 16)
    event = record(64, attr(sample_type) + struct.pack("<Q", 7))
    name = record(78, struct.pack("<QQ", 2, 7) + b"loads\0\0\0")
    told = b"".join(record(80, struct.pack("<Q", n) + b) for n, b in features().items() if n > 2)
    return head + event + name + told + body


def file(sample_type, body, attr_bytes):
    ids_at, attrs_at = 104, 112
    data_at = attrs_at + attr_bytes + 16
    told = features()
    sections, table = b"", b""
    at = data_at + len(body) + 16 * len(told)
    for content in told.values():
        table += struct.pack("<QQ", at + len(sections), len(content))
        sections += content
    bits = sum(1 << number for number in told)
    head = struct.pack("<8s8Q", b"PERFILE2", 104, attr_bytes + 16, attrs_at, attr_bytes + 16, data_at, len(body), 0, 0)
    head += struct.pack("<4Q", bits, 0, 0, 0) + struct.pack("<Q", 7)
    return head + attr(sample_type, attr_bytes) + struct.pack("<QQ", ids_at, 8) + body + table + sections


def compressed(kind, body):
    # A frame of zstd, whose only block is the body as it is.
    packed = struct.pack("<IBH", 0xFD2FB528, 0x60, len(body) - 256) + (len(body) << 3 | 1).to_bytes(3, "little") + body
    out = b""
    for at in range(0, len(packed), 200):
        piece = packed[at : at + 200]
        if kind == 83:
            out += record(kind, struct.pack("<Q", len(piece)) + piece.ljust(-len(piece) % 8 + len(piece), b"\0"))
        else:
            out += record(kind, piece)
    return out


def main(corpus):
    directory = pathlib.Path(corpus) / "perf_data"
    directory.mkdir(parents=True, exist_ok=True)
    memory = IDENTIFIER | IP | TID | TIME | ADDR | WEIGHT | DATA_SRC
    group = IDENTIFIER | IP | TID | TIME | READ
    chain = IDENTIFIER | IP | TID | TIME | CHAIN
    inputs = {
        "pipe": pipe(memory, stream(memory, 20)),
        "pipe-processes": pipe(memory, process_records()),
        "pipe-compressed": pipe(memory, compressed(81, stream(memory, 60))),
        "pipe-compressed2": pipe(memory, compressed(83, stream(memory, 60)) + sample(7, memory, 99)),
        "pipe-trace": pipe(chain, stream(chain, 3) + record(71, struct.pack("<Q", 16).ljust(40, b"\0")) + bytes(16)),
        "file": file(memory, stream(memory, 20), 128),
        "file-old": file(chain, stream(chain, 10), 64),
        "file-new": file(group, stream(group, 10), 144),
    }
    for name, content in inputs.items():
        (directory / name).write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
