#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the simulated PMU counts in a pass of each kernel is what the kernel says of
itself. A pass is the difference between two runs with different numbers of them, so that
preparation and start-up cancel out."""
import json
import os
import sqlite3
import subprocess
import sys

KERNELS = ["chase", "pairs", "memread", "copy", "scale", "add", "triad", "load", "store", "gather"]
KERNELS += ["ddot", "dgemv", "dgemm"]
# Caches that are small beside the data, so that every line of a pass comes from memory.
SMALL = ["l3.size_bytes=262144", "l3.ways=16", "l2.size_bytes=131072", "l2.ways=16"]
SIZE = {"dgemm": "192K"}  # fits the last cache, as its count of lines assumes
WITHOUT_LINES = {"gather"}  # they repeat by chance
PASSES = 2


def totals(memlag, kernel, passes):
    command = [memlag, "record", "--source", "sim", "--sim-cpu", "haswell-ep", "--force"]
    for setting in SMALL:
        command += ["--sim-set", setting]
    command += ["--no-heap", "--period", "1000000", "-o", "counts.db", "--"]
    command += [memlag, "bench", kernel, "--size", SIZE.get(kernel, "2M")]
    command += ["--passes", str(passes), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    database = sqlite3.connect("counts.db")
    values = dict(
        database.execute(
            "SELECT name, sum(value) FROM reading JOIN counter USING (counter_id) GROUP BY name"
        )
    )
    database.close()
    os.unlink("counts.db")
    return values, json.loads(done.stdout)["per_pass"]


def check(kernel, what, counted, expected, tolerance, slack):
    difference = abs(counted - expected)
    assert difference <= tolerance * expected + slack, (kernel, what, counted, expected)


def main():
    memlag = sys.argv[1]
    for kernel in KERNELS:
        few, truth = totals(memlag, kernel, PASSES)
        many, _ = totals(memlag, kernel, 3 * PASSES)
        gained = {key: (many[key] - few.get(key, 0)) / (2 * PASSES) for key in many}
        check(kernel, "loads", gained["mem_inst_retired.all_loads"], truth["loads"], 0.01, 256)
        if kernel in WITHOUT_LINES:
            continue
        read = gained.get("dram.read_bytes", 0) / 64
        written = gained.get("dram.write_bytes", 0) / 64
        check(kernel, "lines read", read, truth["lines_read"], 0.02, 16)
        check(kernel, "lines written", written, truth["lines_written"], 0.02, 128)


main()
