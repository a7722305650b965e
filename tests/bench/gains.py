#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gains predicted from programs before a change, beside the gains of the changed programs: each
pair of pairs.c whose change is like a fix of 'memlag whatif'. The prediction sees the program
before the change only. A gain is the part of the time that goes: cycles of the model, CPU seconds
of real runs (the median; from 'pairs.py --save').

    gains.py MEMLAG PAIRS [--real FILE] [--csv FILE] [PAIR...]

A prediction is near a gain within 30 % of it or 3 points."""
import argparse
import contextlib
import csv
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

NEAR_RATIO, NEAR_POINTS = 0.3, 0.03
# A smaller gain is none.
NO_GAIN = 0.03
# The line that stalls longest has its data in time; the change removes all of its stalls.
IN_TIME, STALLS = "line=in-time", "stalls"
# The fix that was chosen first, from the change alone, and where it was far off a second one.
FIXES = {
    "huge-pages": ("object:map=hugepages",),
    "reuse-memory": ("page-faults",),
    "packed-records": ("translation", "translation+page-faults"),
    "loop-order": (IN_TIME, "memory"),
    "multiply-order": (IN_TIME, "memory"),
    "blocking": (IN_TIME, "memory"),
    "padding": ("l2", "memory"),
    "sorted-indices": (IN_TIME, "memory"),
    "fused-loops": (IN_TIME,),
    "columns-layout": ("type:record=soa",),
    "hot-cold": ("type:mixed=soa",),
    # 8 MiB fit into L3.
    "bits-for-bytes": ("dram-latency",),
    "list-in-order": (IN_TIME, "memory"),
    # 256 KiB fit into L2.
    "list-in-cache": ("l3-latency",),
    "four-chains": (IN_TIME,),
    "software-prefetch": (IN_TIME,),
    "nontemporal": ("object:map=nontemporal",),
    "store-forwarding": (STALLS,),
    "false-sharing": ("sharing",),
}
CYCLES = ("SELECT total(value) FROM reading JOIN counter USING (counter_id)"
          " WHERE name = 'cpu_clk_unhalted.thread'")
# Without page faults.
HOTTEST = ("SELECT line_id, file, line, stalled_ratio - coalesce(fault_ratio, 0) AS stalled"
           " FROM line_view WHERE line IS NOT NULL ORDER BY stalled DESC LIMIT 1")
HEADER = ["pair", "choice", "fix", "estimate", "predicted", "changed", "real", "near_changed", "near_real"]


def run(options, command, name, variant, path):
    done = subprocess.run(
        [options.memlag, *command, *options.option, "--force", "-o", path, "--", options.pairs,
         name, variant],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        check=False)
    if done.returncode:
        sys.exit(f"{name} {variant}: status {done.returncode}\n{done.stderr}")
    return contextlib.closing(sqlite3.connect(path))


def estimate(database, fix, line):
    """What the samples of the run before say; None: nothing."""
    if fix == IN_TIME:
        rows = database.execute("SELECT gain_ratio FROM line_gain_view WHERE kind = 'estimate'"
                                " AND fix = 'in-time' AND line_id = ?", (line,))
    else:
        rows = database.execute("SELECT gain_ratio FROM gain_view WHERE kind = 'estimate'"
                                " AND fix = ?", (fix,))
    return next(iter(rows), (None,))[0]


def predict(options, name, fix, path):
    """The fix, its estimate, its gain in another run, and the cycles without it."""
    with run(options, ["record", "--source", "sim"], name, "before", path) as database:
        line, file, number, stalled = database.execute(HOTTEST).fetchone()
        guess = estimate(database, fix, line)
        before, = database.execute(CYCLES).fetchone()
    if fix == STALLS:
        return fix, stalled, stalled, before
    if fix == IN_TIME:
        fix = f"line:{os.path.basename(file)}:{number}=in-time"
    with run(options, ["whatif", "--fix", fix], name, "before", path) as database:
        gain, = database.execute(
            "SELECT gain_ratio FROM gain_view WHERE kind = 'recorded'").fetchone()
        before, = database.execute(CYCLES).fetchone()
    return fix, guess, gain, before


def near(gain, truth):
    return abs(gain - truth) <= max(NEAR_POINTS, NEAR_RATIO * abs(truth))


def sign(gain):
    return 0 if abs(gain) <= NO_GAIN else 1 if gain > 0 else -1


def compare(options, name, times, path):
    """A row for each fix."""
    with run(options, ["record", "--source", "sim"], name, "after", path) as database:
        after, = database.execute(CYCLES).fetchone()
    real = None
    if name in times:
        real = 1 - (statistics.median(times[name]["after"])
                    / statistics.median(times[name]["before"]))
    for choice, wanted in enumerate(FIXES[name], 1):
        fix, guess, gain, before = predict(options, name, wanted, path)
        changed = 1 - after / before
        figures = [None if figure is None else f"{figure:.3f}"
                   for figure in (guess, gain, changed, real)]
        yield [name, choice, fix, *figures, word(gain, changed), word(gain, real)]


def word(gain, truth):
    if truth is None:
        return ""
    return "near" if near(gain, truth) else "right direction" if sign(gain) == sign(truth) else "miss"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", type=os.path.abspath)
    parser.add_argument("pairs", type=os.path.abspath, help="the program, built from pairs.c")
    parser.add_argument("names", nargs="*", help="pairs; all without any")
    parser.add_argument("--option", action="append", default=[],
                        help="one more option for memlag, such as --sim-cpu=host")
    parser.add_argument("--real", type=pathlib.Path, help="real times, of pairs.py --save")
    parser.add_argument("--csv", type=pathlib.Path, help="write the gains to this file")
    options = parser.parse_args()
    times = json.loads(options.real.read_text()) if options.real else {}
    rows = []
    with tempfile.TemporaryDirectory(prefix="memlag-gains-") as directory:
        for name in options.names or FIXES:
            for row in compare(options, name, times, os.path.join(directory, "run.db")):
                rows.append(row)
                print(*row, sep="\t", flush=True)
    for column, truth in (("near_changed", "the changed program"), ("near_real", "real runs")):
        words = [row[HEADER.index(column)] for row in rows if row[1] == 1]
        known = [each for each in words if each]
        print(f"{truth}, first choices: {known.count('near')} of {len(known)} near,"
              f" direction right in {len(known) - known.count('miss')}")
    if options.csv:
        with open(options.csv, "w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(rows)


if __name__ == "__main__":
    main()
