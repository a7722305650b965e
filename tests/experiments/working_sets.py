#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Miss ratios over cache size of one recording (working_set_view), beside simulations of
caches of eight sizes by another program.

    working_sets.py MEMLAG [--csv FILE] [PROGRAM...]

Each of six programs is recorded once. The truth is of Valgrind's cachegrind: the last-level cache
has each of the sizes and many ways, replaces by LRU as the view does, and lies behind the same
L1. The view counts no first requests of lines: they are the misses of a cache that holds
everything. Nor does it count the next request if the kernel's zeroing of the page brought the line:
the programs use each line many times.
"""
import argparse
import csv
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

KIB = 1024
SIZES = [size * KIB for size in (128, 256, 512, 1024, 1536, 2048, 3072, 4096)]
ALL = 64 * KIB * KIB
# Nearly fully associative, as the view's cache is.
WAYS = 256
LIMIT_POINTS = 2
PERIOD = 50

PYTHON_JOB = """
words = {}
state = 12345
for i in range(60000):
    state = (state * 1103515245 + 12345) % 2147483648
    words['word%d' % (state % 9973)] = words.get('word%d' % (state % 9973), 0) + i
print(sum(len(w) * n for w, n in sorted(words.items())))
"""


def record(memlag, command, path):
    done = subprocess.run(
        [memlag, "record", "--source", "sim", "--sim-cpu", "skylake-sp", "--sim-prefetch", "off",
         "--period", str(PERIOD), "--no-heap", "--force", "-o", path, "--", *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return sqlite3.connect(path)


def misses(command, path, size, ways):
    """Cachegrind's misses of data in L1 and in a last-level cache of SIZE."""
    done = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64",
         f"--LL={size},{ways},64", f"--cachegrind-out-file={path}", "--", *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"cachegrind {' '.join(command)}: status {done.returncode}\n{done.stderr}")
    with open(path, encoding="utf-8") as file:
        fields = dict(line.split(": ", 1) for line in file if line.startswith(("events", "summary")))
    counts = dict(zip(fields["events"].split(), map(int, fields["summary"].split())))
    return counts["D1mr"] + counts["D1mw"], counts["DLmr"] + counts["DLmw"]


def simulated(command, path):
    """The part of the lines brought to L1 again that a cache of each of SIZES lacks."""
    lines, first = misses(command, path, ALL, WAYS)
    # The number of sets is a power of two.
    return [(misses(command, path, size, WAYS * 3 // 4 if size % 3 == 0 else WAYS)[1] - first)
            / (lines - first) for size in SIZES]


def predicted(memlag, command, path):
    """The view's ratio for each of SIZES, and its lines."""
    database = record(memlag, command, path)
    ratios = dict(database.execute("SELECT cache_bytes, miss_ratio FROM working_set_view"
                                   " WHERE object_id IS NULL"))
    lines, = database.execute("SELECT max(lines) FROM working_set_view").fetchone()
    # Beyond the largest size nothing changes.
    return [ratios.get(size, min(ratios.values())) for size in SIZES], lines


def programs(directory):
    source = pathlib.Path(__file__).with_suffix(".c")
    program = os.path.join(directory, "working_sets")
    subprocess.run(["cc", "-O2", "-g", "-o", program, source], check=True)
    text = os.path.join(directory, "text")
    generator = random.Random(1)
    words = ["".join(generator.choices("etaoinshrdlucmfwyp", k=generator.randint(2, 9)))
             for _ in range(3000)]
    with open(text, "w", encoding="ascii") as file:
        file.write(" ".join(generator.choices(words, [1 / (i + 1) for i in range(3000)], k=150000)))
    for name in ("uniform", "unequal", "matrices", "grid"):
        yield name, [program, name]
    yield "gzip -6", ["gzip", "-6", "-c", text]
    yield "python3", [os.path.realpath("/usr/bin/python3"), "-c", PYTHON_JOB]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("memlag")
    parser.add_argument("program", nargs="*", help="some of the programs; else all")
    parser.add_argument("--csv", help="write the ratios to this file")
    arguments = parser.parse_intermixed_args()
    rows, far = [], 0
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as directory:
        path = os.path.join(directory, "run.db")
        for name, command in programs(directory):
            if arguments.program and name.split()[0] not in arguments.program:
                continue
            ratios, lines = predicted(arguments.memlag, command, path)
            for size, ratio, true in zip(SIZES, ratios, simulated(command, path + ".cachegrind")):
                points = 100 * (ratio - true)
                far += abs(points) > LIMIT_POINTS
                rows.append((name, lines, size // KIB, f"{100 * ratio:.1f}", f"{100 * true:.1f}",
                             f"{points:+.1f}"))
                print(*rows[-1], "beyond the limit" if abs(points) > LIMIT_POINTS else "", flush=True)
    print(f"{len(rows) - far} of {len(rows)} within {LIMIT_POINTS} points")
    if arguments.csv:
        with open(arguments.csv, "w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("program", "lines", "cache_kib", "view_percent", "simulated_percent",
                             "difference_points"))
            writer.writerows(rows)


main()
