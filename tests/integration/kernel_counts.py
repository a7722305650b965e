#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the simulated PMU counts in a pass of each kernel is what the kernel says of
itself, and so is what Valgrind's Lackey counts, which knows nothing of us: loads,
stores and conditional branches. A pass is the difference between two runs with different
numbers of them, so that preparation and start-up cancel out. All functions are bound at
the start: one that only some runs call, as the wait for a thread that is not ready yet,
would else be looked up in these alone, which takes some 500 loads."""
import concurrent.futures
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

KERNELS = ["chase", "pairs", "memread", "copy", "scale", "add", "triad", "load", "store", "gather"]
KERNELS += ["dgemv", "dgemm", "tlb", "false-sharing", "true-sharing", "icode"]
PATTERNS = ["none", "never", "always", "halves", "alternating", "jump"]
PATTERNS += ["random", "random-never", "random-always"]
PATTERNS += ["wrong-path", "wrong-path-never", "wrong-path-always"]
# Caches that are small beside the data, so that every line of a pass comes from memory. No
# line that a core still uses leaves them because the last one has no more room for it.
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
EXECUTED_PASSES = {"ddot": 20, "dgemv": 20, "false-sharing": 50, "true-sharing": 50}
FLUSHED = {"dgemv", "dgemm"}
AROUND = {"ddot", "dgemv"}
LOCKED = {"false-sharing", "true-sharing"}  # Lackey sees two loads in a locked instruction
BRANCH_PASSES = 50
ICODE_PATTERNS, ICODE_OPTIONS, ICODE_PASSES = ["never", "always"], ["--size", "256K"], 20
WITHOUT_LINES = {"gather"}  # they repeat by chance
# What an option makes of a kernel, by the simulated PMU: another width than the default,
# M17's chains, and B20's regions. kernel_code.py has all widths.
VARIANTS = [(kernel, ["--width", "64"]) for kernel in ("load", "store")]
VARIANTS += [("chase", ["--independent", "24"]), ("chase", ["--dependent", "24"])]
LONG_STRIDE = ["--stride", "128", "--size", "4M"]
VARIANTS += [("chase", ["--order", "sequential", *LONG_STRIDE])]
VARIANTS += [("chase", ["--block", "4K"]), ("chase", [*LONG_STRIDE, "--block", "256K"])]
VARIANTS += [("pairs", ["--order", "sequential"]), ("memread", ["--delay", "100"])]


def totals(memlag, kernel, options, passes, detail):
    command = [memlag, "record", "--source", "sim", "--sim-cpu", "haswell-ep", "--force"]
    command += ["--sim-prefetch", "off", f"--sim-detail={detail}"]
    for setting in SMALL:
        command += ["--sim-set", setting]
    with tempfile.TemporaryDirectory(dir=".") as directory:
        recording = os.path.join(directory, "counts.db")
        command += ["--no-heap", "--period", "1000000", "-o", recording, "--"]
        command += [memlag, "bench", kernel, *options, "--passes", str(passes), "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        database = sqlite3.connect(recording)
        values = dict(
            database.execute(
                "SELECT name, sum(value) FROM reading JOIN counter USING (counter_id) GROUP BY name"
            )
        )
        database.close()
    return values, json.loads(done.stdout)["per_pass"]


def one_pass(memlag, kernel, options, passes, detail="full"):
    """What each counter gains in a pass, and what the kernel says of one."""
    few, truth = totals(memlag, kernel, options, passes, detail)
    many, _ = totals(memlag, kernel, options, 3 * passes, detail)
    return {key: (many[key] - few.get(key, 0)) / (2 * passes) for key in many}, truth


def lackey(memlag, kernel, options, passes, counts):
    command = ["valgrind", "--tool=lackey", *counts]
    # Or the engine would leave out loads whose value nobody uses.
    command += ["--vex-iropt-register-updates=allregs-at-each-insn"]
    command += [memlag, "bench", kernel, *options, "--passes", str(passes)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def executed(memlag, kernel, options, passes):
    """Loads and stores of a whole run, by Lackey."""
    counts = ["--detailed-counts=yes", "--basic-counts=no"]
    text = lackey(memlag, kernel, options, passes, counts)
    rows = [line.split()[1:] for line in text.splitlines() if re.search(r"== +[A-Z]+[0-9]+ ", line)]
    numbers = [[int(number.replace(",", "")) for number in row[1:3]] for row in rows]
    assert len(numbers) > 8, text
    return [sum(column) for column in zip(*numbers)]


def executed_in_a_pass(memlag, kernel):
    """The medians of three tries where what goes on around a pass counts: how the times of all
    passes are sorted and printed depends on them."""
    options = OPTIONS.get(kernel, DEFAULT_OPTIONS)
    passes = EXECUTED_PASSES.get(kernel, DEFAULT_PASSES)
    tries = []
    for _ in range(3 if kernel in AROUND else 1):
        few = executed(memlag, kernel, options, passes)
        many = executed(memlag, kernel, options, 3 * passes)
        tries.append([(m - f) / (2 * passes) for m, f in zip(many, few)])
    return [statistics.median(counts) for counts in zip(*tries)]


def check_executed(memlag, kernel, truth, around):
    """AROUND: what is done between the passes of kernels that flush."""
    loads, stores = executed_in_a_pass(memlag, kernel)
    if kernel in FLUSHED:
        loads, stores = loads - around[0], stores - around[1]
    # Two runs do not print the same times.
    slack = 200 / (2 * EXECUTED_PASSES.get(kernel, DEFAULT_PASSES))
    if kernel not in LOCKED:
        check(kernel, "loads executed", loads, truth, "loads", slack)
    check(kernel, "stores executed", stores, truth, "stores", slack)


def check(kernel, what, counted, truth, key, slack=0):
    """Within 1 % of what the kernel says; of its greatest count where that is nothing."""
    expected = truth[key]
    limit = 0.01 * (expected or max(filter(None, truth.values()))) + slack
    assert abs(counted - expected) <= limit, (kernel, what, counted, expected)


def check_kernel(memlag, kernel, more=()):
    """Returns what the kernel says, with MORE options than the usual ones."""
    options = [*OPTIONS.get(kernel, DEFAULT_OPTIONS), *more]
    passes = PASSES.get(kernel, DEFAULT_PASSES)
    gained, truth = one_pass(memlag, kernel, options, passes)
    check(kernel, "loads", gained["mem_inst_retired.all_loads"], truth, "loads")
    if truth["instructions"]:
        check(kernel, "instructions", gained["inst_retired.any"], truth, "instructions")
    if kernel in WITHOUT_LINES:
        return truth
    # A few lines of the rest of the program leave the caches and come back in each pass.
    read = gained.get("dram.read_bytes", 0) / 64
    written = gained.get("dram.write_bytes", 0) / 64
    check(kernel, "lines read", read, truth, "lines_read", 16)
    check(kernel, "lines written", written, truth, "lines_written", 16)
    return truth


def branches(memlag, kernel, options, passes):
    """Conditional branches of a whole run, and those taken, by Lackey."""
    text = lackey(memlag, kernel, options, passes, ["--basic-counts=yes"])
    found = re.search(r"Jccs:\n.*total: +([0-9,]+)\n.*taken: +([0-9,]+) ", text)
    return [int(number.replace(",", "")) for number in found.groups()]


def check_branches(memlag, kernel, pattern, options, passes):
    """Retired instructions and wrong predictions by the simulated PMU, branches by Lackey."""
    name = f"{kernel} {pattern}"
    options = [*options, "--pattern", pattern]
    gained, truth = one_pass(memlag, kernel, options, passes, "branches")
    check(name, "instructions", gained["inst_retired.any"], truth, "instructions", 1)
    wrong = gained["br_misp_retired.all_branches"] - truth["branches_mispredicted"]
    assert abs(wrong) <= 0.01 * truth["branches"], (name, wrong, truth)
    few = branches(memlag, kernel, options, passes)
    many = branches(memlag, kernel, options, 3 * passes)
    total, taken = [(m - f) / (2 * passes) for m, f in zip(many, few)]
    check(name, "branches executed", total, truth, "branches", 1)
    check(name, "branches taken", taken, truth, "branches_taken", 1)


def main():
    memlag = sys.argv[1]
    os.environ["LD_BIND_NOW"] = "1"
    # Around a pass of DDOT, which stores nothing, clocks and barriers do.
    truth = check_kernel(memlag, "ddot")
    loads, stores = executed_in_a_pass(memlag, "ddot")
    around = loads - truth["loads"], stores
    assert all(0 <= count < 200 for count in around), around
    for kernel in KERNELS:
        truth = check_kernel(memlag, kernel)
        check_executed(memlag, kernel, truth, around)
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        list(two.map(lambda variant: check_kernel(memlag, *variant), VARIANTS))
    cases = [("branch", pattern, [], BRANCH_PASSES) for pattern in PATTERNS]
    cases += [("icode", pattern, ICODE_OPTIONS, ICODE_PASSES) for pattern in ICODE_PATTERNS]
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        list(two.map(lambda case: check_branches(memlag, *case), cases))


main()
