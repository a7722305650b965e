#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulated PMU's counts for a pass of each kernel equal the kernel's own counts. So do the
counts of Valgrind's Lackey, which knows nothing of memlag: loads, stores and conditional branches.

A pass is the difference between two runs with different numbers of passes: preparation and start-up
cancel out. All functions are bound at the start. Otherwise a function that only some runs call,
such as the wait for a late thread, would be looked up in these runs alone, which takes some 500
loads."""
import json
import os
import re
import statistics
import subprocess
import sys

import bench_each

KERNELS = ["chase", "pairs", "memread", "copy", "scale", "add", "triad", "load", "store",
           "nontemporal", "gather"]
KERNELS += ["dgemv", "dgemm", "tlb", "false-sharing", "true-sharing", "icode"]
PATTERNS = ["none", "never", "always", "halves", "alternating", "jump"]
PATTERNS += ["random", "random-never", "random-always"]
PATTERNS += ["wrong-path", "wrong-path-never", "wrong-path-always"]
# Caches that are small compared with the data: every line of a pass comes from memory. The last
# cache does not evict lines that a core still uses.
SMALL = ["l3.inclusion=0", "l3.size_bytes=262144", "l3.ways=16", "l2.size_bytes=131072", "l2.ways=16"]
OPTIONS = {
    "dgemm": ["--size", "192K"],  # fits the last cache, as its count of lines assumes
    "tlb": ["--size", "64M"],  # one line a page, which must be more than the last cache has
    "icode": ["--size", "512K"],  # most of its time is that of translating it
    "false-sharing": ["--threads", "2"],
    "true-sharing": ["--threads", "2"],
}
DEFAULT_OPTIONS = ["--size", "2M"]
PASSES = {"false-sharing": 50, "true-sharing": 50}  # a pass is 2000 additions
PASSES |= {"dgemv": 6}  # writes so few lines that a page more for the longer run counts: it is 64
PASSES |= {"tlb": 12}  # has few loads, beside what is printed of the times
PASSES |= {"icode": 10}
# One mapping more of a longer run, which the engine may make, is 1000 loads: of one that has
# 32768 in a pass these are 1 % of 3 passes.
DEFAULT_PASSES = 5
EXECUTED_OPTIONS = {"ddot": ["--size", "256K"], "dgemv": ["--size", "256K"],
                    "icode": ["--size", "128K"]}
EXECUTED_PASSES = {"ddot": 20, "dgemv": 20, "false-sharing": 50, "true-sharing": 50}
FLUSHED = {"dgemv", "dgemm"}
AROUND = {"ddot", "dgemv"}
LOCKED = {"false-sharing", "true-sharing"}  # Lackey sees two loads in a locked instruction
BRANCH_PASSES = 50
ICODE_PATTERNS, ICODE_OPTIONS, ICODE_PASSES = ["never", "always"], ["--size", "64K"], 20
WITHOUT_LINES = {"gather"}  # they repeat by chance
# What an option makes of a kernel, by the simulated PMU: another width than the default,
# M17's chains, and B20's regions. kernel_code.py has all widths.
VARIANTS = [(kernel, ["--width", "64"]) for kernel in ("load", "store", "nontemporal")]
VARIANTS += [("chase", ["--independent", "24"]), ("chase", ["--dependent", "24"])]
LONG_STRIDE = ["--stride", "128", "--size", "4M"]
VARIANTS += [("chase", ["--order", "sequential", *LONG_STRIDE])]
VARIANTS += [("chase", ["--block", "4K"]), ("chase", [*LONG_STRIDE, "--block", "256K"])]
VARIANTS += [("pairs", ["--order", "sequential"]), ("memread", ["--delay", "100"])]


def recorded(program, memlag, detail, runs):
    """For each run: the increment of each counter in a pass, and the kernel's own counts."""
    options = ["--sim-cpu", "haswell-ep", "--sim-prefetch", "off", f"--sim-detail={detail}",
               "--period", "1000000"]
    for setting in SMALL:
        options += ["--sim-set", setting]
    return bench_each.per_pass(memlag, program, runs, options)


def lackey(program, runs, counts):
    """What Lackey says of each of RUNS: (kernel, its options, few passes, many), of both. Each
    process has also the counts of the one that it comes from, which make no difference."""
    pairs = [(kernel, [*own, "--passes", passes])
             for kernel, own, *both in runs for passes in both]
    command = ["valgrind", "--tool=lackey", *counts]
    # Or the engine would leave out loads whose value nobody uses.
    command += ["--vex-iropt-register-updates=allregs-at-each-insn"]
    command += [program, *bench_each.arguments(pairs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    texts = {}  # by process, in the order in which they end: the parent at last
    for line in done.stderr.splitlines():
        process, _, rest = line.partition("== ")
        texts.setdefault(process, []).append(rest)
    parent = next(iter(texts))  # which says first that it is Lackey
    ended = ["\n".join(lines) for process, lines in texts.items() if process != parent]
    assert len(ended) == len(pairs), done.stderr
    return list(zip(ended[::2], ended[1::2]))


def executed(text):
    """Loads and stores, by Lackey."""
    rows = [line.split() for line in text.splitlines() if re.match(r" *[A-Z]+[0-9]+ ", line)]
    numbers = [[int(number.replace(",", "")) for number in row[1:3]] for row in rows]
    assert len(numbers) > 8, text
    return [sum(column) for column in zip(*numbers)]


def executed_in_a_pass(program, kernels):
    """Loads and stores of each kernel. The medians of three tries where what goes on around a
    pass counts: how the times of all passes are sorted and printed depends on them."""
    runs = []
    for kernel in kernels:
        passes = EXECUTED_PASSES.get(kernel, DEFAULT_PASSES)
        runs += [(kernel, executed_options(kernel), passes, 3 * passes)] * \
            (3 if kernel in AROUND else 1)
    tries = {kernel: [] for kernel in kernels}
    for (kernel, _, few, many), texts in zip(runs, lackey(
            program, runs, ["--detailed-counts=yes", "--basic-counts=no"])):
        less, more = map(executed, texts)
        tries[kernel].append([(m - l) / (many - few) for l, m in zip(less, more)])
    return {kernel: [statistics.median(counts) for counts in zip(*tried)]
            for kernel, tried in tries.items()}


def executed_options(kernel):
    return EXECUTED_OPTIONS.get(kernel, options_of(kernel))


def told(program, kernel, options):
    """The kernel's own counts of a pass."""
    done = subprocess.run([program, *bench_each.arguments([(kernel, [*options, "--passes", 1])])],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["per_pass"]


def options_of(kernel):
    return OPTIONS.get(kernel, DEFAULT_OPTIONS)


def check(kernel, what, counted, truth, key, slack=0):
    """Within 1 % of the kernel's count; if that is 0, of its greatest count."""
    expected = truth[key]
    limit = 0.01 * (expected or max(filter(None, truth.values()))) + slack
    assert abs(counted - expected) <= limit, (kernel, what, counted, expected)


def check_executed(program):
    counts = executed_in_a_pass(program, ["ddot", *KERNELS])
    truths = {kernel: told(program, kernel, executed_options(kernel)) for kernel in counts}
    # DDOT stores nothing, so the stores around a pass are of clocks and barriers. Kernels that
    # flush have the same ones.
    around = counts["ddot"][0] - truths["ddot"]["loads"], counts["ddot"][1]
    assert all(0 <= count < 200 for count in around), around
    for kernel in KERNELS:
        loads, stores = counts[kernel]
        if kernel in FLUSHED:
            loads, stores = loads - around[0], stores - around[1]
        # Two runs do not print the same times.
        slack = 200 / (2 * EXECUTED_PASSES.get(kernel, DEFAULT_PASSES))
        if kernel not in LOCKED:
            check(kernel, "loads executed", loads, truths[kernel], "loads", slack)
        check(kernel, "stores executed", stores, truths[kernel], "stores", slack)


def check_recorded(program, memlag):
    """All kernels, and what options make of some."""
    runs = []
    for kernel, more in [(kernel, []) for kernel in ["ddot", *KERNELS]] + VARIANTS:
        passes = PASSES.get(kernel, DEFAULT_PASSES)
        runs.append((kernel, [*options_of(kernel), *more], passes, 3 * passes))
    for (kernel, *_), (gained, truth) in zip(runs, recorded(program, memlag, "full", runs)):
        check(kernel, "loads", gained["mem_inst_retired.all_loads"], truth, "loads")
        if truth["instructions"]:
            check(kernel, "instructions", gained["inst_retired.any"], truth, "instructions")
        if kernel in WITHOUT_LINES:
            continue
        # A few lines of the rest of the program leave the caches and come back in each pass.
        read = gained.get("dram.read_bytes", 0) / 64
        written = gained.get("dram.write_bytes", 0) / 64
        check(kernel, "lines read", read, truth, "lines_read", 16)
        check(kernel, "lines written", written, truth, "lines_written", 16)


def branches(text):
    """Conditional branches, and those taken, by Lackey."""
    found = re.search(r"Jccs:\n.*total: +([0-9,]+)\n.*taken: +([0-9,]+) ", text)
    return [int(number.replace(",", "")) for number in found.groups()]


def check_branches(program, memlag):
    """Retired instructions and wrong predictions by the simulated PMU, branches by Lackey."""
    runs = [("branch", ["--pattern", pattern], BRANCH_PASSES, 3 * BRANCH_PASSES)
            for pattern in PATTERNS]
    runs += [("icode", [*ICODE_OPTIONS, "--pattern", pattern], ICODE_PASSES, 3 * ICODE_PASSES)
             for pattern in ICODE_PATTERNS]
    for (kernel, options, few, many), (gained, truth), texts in zip(
            runs, recorded(program, memlag, "branches", runs),
            lackey(program, runs, ["--basic-counts=yes"])):
        name = f"{kernel} {options[-1]}"
        check(name, "instructions", gained["inst_retired.any"], truth, "instructions", 1)
        wrong = gained["br_misp_retired.all_branches"] - truth["branches_mispredicted"]
        assert abs(wrong) <= 0.01 * truth["branches"], (name, wrong, truth)
        less, more = map(branches, texts)
        total, taken = [(m - l) / (many - few) for l, m in zip(less, more)]
        slack = 200 / (many - few)  # two runs do not print the same times
        check(name, "branches executed", total, truth, "branches", slack)
        check(name, "branches taken", taken, truth, "branches_taken", slack)


def main():
    program, memlag = sys.argv[1:]
    os.environ["LD_BIND_NOW"] = "1"
    check_executed(program)
    check_recorded(program, memlag)
    check_branches(program, memlag)


main()
