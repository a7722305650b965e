#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memlag bench beside likwid-bench (Debian's likwid) on the same loops, in one run.

Both go over the same bytes with the same number of passes in one process, in turns, and who
is first changes from round to round: the pages that a process happens to get, and the
neighbours of the moment, are then as good for one as for the other. A single pass takes up to
a fifth more than one of eight, in both programs, and by how much changes from process to
process. Noise only takes bandwidth away, so the upper quartile of the rounds counts; the
greatest alone is one lucky process. Beside each ratio stands how far likwid-bench is from
itself, its odd rounds from its even ones: a ratio means nothing where that is as large.

The page kind is the system's for likwid-bench, so memlag bench takes small pages where those
are not always huge. Nothing here fails because a machine is slow."""
import argparse
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# likwid-bench's loop, memlag bench's: the same instructions, and both count the bytes that
# the program reads and writes.
LOOPS = [
    ("load_sse", ["load", "--width", "128"]),
    ("load_avx", ["load", "--width", "256"]),
    ("stream_sse", ["triad"]),
]
LIMIT = 0.10


def likwid(loop, megabytes, threads, passes):
    command = ["likwid-bench", "-t", loop, "-w", f"N:{megabytes}MB:{threads}", "-i", str(passes)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"MByte/s:\s+([0-9.]+)", text).group(1)) / 1000


def memlag(program, kernel, megabytes, threads, passes, pages):
    # likwid-bench's MB are 10^6 bytes.
    command = [program, "bench", *kernel, "--size", str(megabytes * 1000000), "--passes",
               str(passes), "--threads", str(threads), "--pages", pages, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["gbs"]


def upper_quartile(values):
    return sorted(values)[(3 * len(values)) // 4]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memlag")
    parser.add_argument("--megabytes", type=int, default=48, help="of each thread")
    parser.add_argument("--passes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    if not shutil.which("likwid-bench"):
        sys.exit("likwid-bench is missing: apt-get install likwid")
    enabled = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    always = enabled.exists() and "[always]" in enabled.read_text()
    pages = "huge" if always else "small"
    cases = list(itertools.product(options.threads, LOOPS))
    theirs, ours = ({index: [] for index in range(len(cases))} for _ in range(2))
    # All cases in turns, so that each is spread over all the time.
    for number in range(options.rounds):
        for index, (threads, (loop, kernel)) in enumerate(cases):
            megabytes = options.megabytes * threads
            runs = [lambda: theirs[index].append(likwid(loop, megabytes, threads, options.passes)),
                    lambda: ours[index].append(memlag(options.memlag, kernel, megabytes, threads,
                                                      options.passes, pages))]
            for run in runs if number % 2 else reversed(runs):
                run()
    print(f"{pages} pages, {options.passes} passes, {options.rounds} rounds, load average "
          f"{os.getloadavg()[0]:.2f}")
    print(f"{'threads':>7} {'loop':<12} {'likwid-bench':>13} {'memlag bench':>13} {'ratio':>7} "
          f"{'likwid-bench to itself':>23}")
    for index, (threads, (loop, _)) in enumerate(cases):
        best, mine = upper_quartile(theirs[index]), upper_quartile(ours[index])
        itself = upper_quartile(theirs[index][::2]) / upper_quartile(theirs[index][1::2])
        print(f"{threads:>7} {loop:<12} {best:8.2f} GB/s {mine:8.2f} GB/s {mine / best:7.3f} "
              f"{itself:23.3f}  {'within' if abs(mine / best - 1) <= LIMIT else 'beyond'} "
              f"{LIMIT:.0%}")


main()
