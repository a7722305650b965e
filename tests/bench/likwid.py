#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memlag bench beside likwid-bench (Debian's likwid) on the same loops, in one run.

Both run one pass, some milliseconds, of the same loop over the same bytes, in turns. Noise
only takes bandwidth away, so the best round of each counts; of a machine under load even that
is no measure. The page kind is the system's
for likwid-bench, so memlag bench takes small pages where those are not always huge. Prints
GB/s and ratios; nothing here fails because a machine is slow."""
import argparse
import itertools
import json
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


def likwid(loop, megabytes, threads):
    text = subprocess.run(["likwid-bench", "-t", loop, "-w", f"N:{megabytes}MB:{threads}", "-i", "1"],
                          capture_output=True, text=True, check=True).stdout
    return float(re.search(r"MByte/s:\s+([0-9.]+)", text).group(1)) / 1000


def memlag(program, kernel, megabytes, threads, pages):
    # likwid-bench's MB are 10^6 bytes.
    command = [program, "bench", *kernel, "--size", str(megabytes * 1000000), "--passes", "1",
               "--threads", str(threads), "--pages", pages, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["gbs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memlag")
    parser.add_argument("--megabytes", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    if not shutil.which("likwid-bench"):
        sys.exit("likwid-bench is missing: apt-get install likwid")
    enabled = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    always = enabled.exists() and "[always]" in enabled.read_text()
    pages = "huge" if always else "small"
    print(f"{'threads':>7} {'loop':<12} {'likwid-bench':>13} {'memlag bench':>13} {'ratio':>7}"
          f"  ({pages} pages)")
    for threads, (loop, kernel) in itertools.product(options.threads, LOOPS):
        theirs, ours = [], []
        for _ in range(options.rounds):
            theirs.append(likwid(loop, options.megabytes * threads, threads))
            ours.append(memlag(options.memlag, kernel, options.megabytes * threads, threads, pages))
        ratio = max(ours) / max(theirs)
        print(f"{threads:>7} {loop:<12} {max(theirs):8.2f} GB/s {max(ours):8.2f} GB/s {ratio:7.3f}"
              f"  {'within' if abs(ratio - 1) <= LIMIT else 'beyond'} {LIMIT:.0%}", flush=True)


main()
