# SPDX-License-Identifier: MIT
"""Pairs of programs of which the slower is known, and about how much (known_pairs.c): the
model agrees on both. Where its cause is known the verdict is that."""
import os
import sqlite3
import subprocess
import sys

MEMLAG, PROGRAM = os.environ["MEMLAG"], "./known_pairs"
subprocess.run(["cc", "-O1", "-g", "-pthread", "-o", PROGRAM, __file__.replace(".py", ".c")], check=True)
# The longer run takes more by that many passes; what goes before is the same.
PASSES = 1, 3
NO_KERNEL = ["kernel.fault_ns=0", "kernel.call_ns=0", "kernel.copy_gbs=10000", "numa.nodes=1"]
# Caches that are smaller than the lists and arrays.
SMALL = {"zen4": ["l2.size_bytes=131072", "l3.size_bytes=262144"],
         "haswell-ep": ["l2.size_bytes=131072", "l3.size_bytes=327680"]}
PREFETCH = {"zen4": "on", "haswell-ep": "off"}


def record(cpu, name, settings):
    path = f"{cpu}.{name}.db"
    command = [MEMLAG, "record", "--source", "sim", "--sim-cpu", cpu, "--sim-prefetch",
               PREFETCH[cpu], "--no-heap", "--force", "-o", path]
    for setting in NO_KERNEL + settings:
        command += ["--sim-set", setting]
    command += ["--", PROGRAM, *(f"{name}:{passes}" for passes in PASSES)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return sqlite3.connect(path)


def per_pass(db, counter):
    """What the passes counted that the longer run has more."""
    _, few, many = [row[0] for row in db.execute(
        "SELECT total(value) FILTER (WHERE counter.name = ?) FROM reading"
        " JOIN counter USING (counter_id) JOIN thread USING (thread_id)"
        " GROUP BY process_id ORDER BY process_id", (counter,))]
    return (many - few) / (PASSES[1] - PASSES[0])


def verdict(db, function):
    """Of the line that stalls it most, else of that with most samples."""
    return db.execute("SELECT verdict FROM line_view WHERE function = ?"
                      " ORDER BY stalled_ratio DESC, samples DESC", (function,)).fetchone()[0]


def expect(what, value, low, high):
    if not low <= value <= high:
        sys.exit(f"known_pairs: {what}: {value:.2f}, not {low} to {high}")


def compare(cpu, slow, quick, factor, settings=()):
    """Checks the FACTOR in cycles, low and high; returns both recordings."""
    pair = [record(cpu, name, list(settings)) for name in (slow, quick)]
    cycles = [per_pass(db, "cpu_clk_unhalted.thread") for db in pair]
    print(cpu, slow, quick, *cycles, cycles[0] / cycles[1])
    expect(f"{cpu}: cycles of {slow} over {quick}", cycles[0] / cycles[1], *factor)
    return pair


def expect_verdict(cpu, db, function, right):
    found = verdict(db, function)
    if found != right:
        sys.exit(f"known_pairs: {cpu}: the verdict of {function} is {found}, not {right}")


for cpu in SMALL:
    # The lines of a column are 2 KiB apart and in two of L1's sets, which hold 16 of them:
    # each load misses. With 2080 bytes they are in all sets, and a line serves 16 columns.
    slow, quick = compare(cpu, "transpose-512", "transpose-520", (2, 26))
    if PREFETCH[cpu] == "on":  # otherwise the first pass waits for DRAM
        expect_verdict(cpu, slow, "transpose", "cache")

    # Two threads write one line, which moves between their cores, or each its own.
    slow, quick = compare(cpu, "counts-beside", "counts-apart", (1.5, 30))
    expect_verdict(cpu, slow, "count", "sharing")
    hitm, none = (db.execute("SELECT count(*) FROM sample_view WHERE function = 'count'"
                             " AND snoop = 'hitm'").fetchone()[0] for db in (slow, quick))
    if not hitm > 20 > 10 * none:
        sys.exit(f"known_pairs: {cpu}: {hitm} HITM samples in one line, {none} in two")

    # A particle needs a line, or an eighth of one. The EPYC takes 2.4 times as long.
    compare(cpu, "structures", "arrays", (2, 12), SMALL[cpu])

    # Each node takes L3's 50 cycles. A line has four nodes, and in their order prefetchers
    # bring it in time, so that a node takes L1's 4. The EPYC takes 26 times as long.
    factor = (6, 25) if PREFETCH[cpu] == "on" else (1.5, 8)
    slow, quick = compare(cpu, "list-shuffled", "list-sorted", factor)
    expect_verdict(cpu, slow, "sum_list", "cache")
    slow = record(cpu, "list-shuffled", SMALL[cpu])
    expect_verdict(cpu, slow, "sum_list", "dram-latency")

    # The same lines move. The EPYC takes 0.6 of the time for one loop.
    compare(cpu, "one-loop", "two-loops", (0.5, 1.25), SMALL[cpu])
