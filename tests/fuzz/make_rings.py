#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the inputs of the fuzz target 'rings': the records of two processes that follow
the protocol (profiler/simpmu/protocol.h), one simulated and one that runs as it is.
    make_rings.py CORPUS-DIRECTORY"""
import struct
import sys

(PAD, PROCESS, FORK, THREAD, THREAD_EXIT, MAP, UNMAP, SAMPLE, COUNTERS, ALLOC, FREE, TRACKER,
 UNHANDLED, STACK, ALLOC_AT, RANGE_FREE, END, RESIZE, RESIZED, LINE) = range(20)
SIMULATED, NATIVE = 0, 1
STARTED, FORKED = 1, 2


def record(kind, time, body=b"", flags=0, tid=7):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHHIIQ", 24 + len(body), kind, flags, tid, 0, time) + body


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def process(time, flags, origin):
    return record(PROCESS, time, struct.pack("<IIQ", 100, 0, origin) + b"/bin/program\0", flags)


def map_record(time, start, kind, path):
    return record(MAP, time, words(start, 8192, 0) + struct.pack("<II", kind, 0) + path, 7)


def simulated():
    parent = process(0, STARTED, 0) + record(TRACKER, 1)
    parent += record(THREAD, 2, words(0x7000, 0x9000))
    parent += map_record(3, 0x1000, 0, b"/nowhere/program\0") + map_record(4, 0x20000, 2, b"\0")
    parent += record(ALLOC, 5, words(0x20100, 64) + struct.pack("<II", 0, 2) + words(0x1010, 0x1020))
    parent += record(SAMPLE, 6, words(0x1010, 0x20110) + struct.pack("<IHHII", 90, 4, 1, 2, 0) +
                     words(0x1010, 0x1020), 1)
    parent += record(LINE, 7, words(1, 255), 1) + record(LINE, 7, words(1, 4096))
    parent += record(COUNTERS, 7, words(0, *range(9))) + record(FORK, 8, words(1))
    parent += record(RESIZE, 9, words(0x20100)) + record(RESIZED, 9, words(0x20100))
    parent += record(FREE, 9, words(0x20100)) + record(UNMAP, 10, words(0x20000, 8192))
    parent += record(UNHANDLED, 11, words(0x1010) + bytes.fromhex("62f17c4858c0").ljust(16, b"\0") +
                     struct.pack("<II", 6, 0))
    parent += record(THREAD_EXIT, 12) + record(END, 13, flags=1)
    child = process(8, FORKED, 1) + record(SAMPLE, 9, words(0x1010, 0x20110) +
                                           struct.pack("<IHHII", 90, 4, 1, 0, 0))
    return parent, child + record(END, 12, flags=2)


def native():
    def process_image():
        stack = record(STACK, 2, words(0x1234) + struct.pack("<II", 3, 0) + words(1, 2, 3))
        blocks = record(ALLOC_AT, 3, words(0x5000, 100, 0x1234) + struct.pack("<II", 2, 0))
        blocks += record(ALLOC_AT, 4, words(0x6000, 100, 0) + struct.pack("<II", 0, 0))
        blocks += struct.pack("<IHH", 16, PAD, 0) + bytes(8)
        blocks += record(RESIZE, 5, words(0x5000)) + record(RESIZED, 5, words(0x5000))
        return process(1, 0, 0) + stack + blocks + record(FREE, 5, words(0x5000)) + \
            record(RANGE_FREE, 6, words(0x6000, 4096))
    return process_image(), process_image()


for name, mode, rings in (("simulated", SIMULATED, simulated()), ("native", NATIVE, native())):
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        file.write(struct.pack("<HH", mode, len(rings[0])) + rings[0] + rings[1])
