#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gains predicted from programs before a change, compared with the gains of the changed programs:
each pair of pairs.c whose change is like a fix of 'memlag whatif'. The prediction sees only the
program before the change.

A gain is the saved part of the time of the work without its setup. Predictions are in cycles of the
model; its setup runs separately and is subtracted. Real runs measure CPU seconds in the program,
stored by 'pairs.py --save': the median over runs before and after in turns.

    gains.py MEMLAG PAIRS [--real FILE] [--csv FILE] [PAIR...]

A prediction is near a gain if they differ by at most 30 % of it or 3 points. A gain within 3 points
of 0 has no direction. Neither has a real one whose range (95 % confidence of the median) contains
0."""
import collections
import contextlib
import csv
import json
import math
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import pairs

NEAR_RATIO, NEAR_POINTS = 0.3, 0.03
# A smaller gain is none.
NO_GAIN = 0.03
# The model runs this part of the repeated work.
PARTS = "16"
# The line that stalls longest has its data in time; the change removes all of its stalls.
IN_TIME, STALLS = "line=in-time", "stalls"
# The change brings lines before their use: in-time. It uses all of a line at once: memory.
# It ends the crowding of lines in few sets: cache-sets. 8 MiB (bits-for-bytes) fit into L3, and
# 256 KiB (list-in-cache) into L2.
FIXES = {
    "huge-pages": "object:map=hugepages", "huge-pages-chain": "object:map=hugepages",
    "reuse-memory": "page-faults", "packed-records": "translation",
    "loop-order": "memory", "multiply-order": "memory", "sorted-indices": "memory",
    "blocking": "cache-sets", "padding": "cache-sets",
    "columns-layout": "type:record=soa", "hot-cold": "type:mixed=soa",
    "fields-together": "type:apart=reorder(first,last)",
    "aligned-records": "type:crossing=align(64)",
    "bits-for-bytes": "dram-latency", "list-in-cache": "l3-latency",
    "list-in-order": IN_TIME, "four-chains": IN_TIME, "software-prefetch": IN_TIME,
    "indexed-prefetch": IN_TIME, "jump-pointers": IN_TIME,
    "nontemporal": "object:map=nontemporal", "store-forwarding": STALLS, "false-sharing": "sharing",
}
CYCLES = ("SELECT total(value) FROM reading JOIN counter USING (counter_id)"
          " WHERE name = 'cpu_clk_unhalted.thread'")
# Without page faults.
HOTTEST = ("SELECT line_id, file, line, stalled_ratio - coalesce(fault_ratio, 0) AS stalled"
           " FROM line_view WHERE line IS NOT NULL ORDER BY stalled DESC LIMIT 1")
HEADER = ["pair", "fix", "estimate", "predicted", "changed", "real", "real_low", "real_high",
          "near_changed", "near_real"]
CONFIDENCE = 0.95
Gain = collections.namedtuple("Gain", "value low high")


def run(options, command, name, variant, path):
    """The database of a run; None: it has no samples that the fix would change."""
    done = subprocess.run(
        [options.memlag, *command, *options.option, "--force", "-o", path, "--", options.pairs,
         name, *variant],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        check=False)
    if done.returncode:
        if command[0] == "whatif" and "setup" in variant:
            return None
        sys.exit(f"{name} {variant}: status {done.returncode}\n{done.stderr}")
    return contextlib.closing(sqlite3.connect(path))


def recorded_cycles(options, name, variant, path):
    with run(options, ["record", "--source", "sim"], name, variant, path) as database:
        return database.execute(CYCLES).fetchone()[0]


def cycles_with_fix(options, name, variant, fix, path):
    """The cycles without and with FIX, and its estimate; None: the fix changes nothing."""
    database = run(options, ["whatif", "--fix", fix], name, variant, path)
    if not database:
        return None
    with database as open_database:
        before, = open_database.execute(CYCLES).fetchone()
        after, = open_database.execute("SELECT cycles FROM whatif_run").fetchone()
        guess = open_database.execute("SELECT gain_ratio FROM gain_view WHERE kind = 'estimate'"
                                      " AND fix = ?", (fix,)).fetchone()
    return before, after, guess and guess[0]


def hottest_line(options, name, path):
    """The line that stalls longest as FILE:LINE, its stalls, the estimate for its data in time,
    and the run's cycles."""
    with run(options, ["record", "--source", "sim"], name, ["before", PARTS], path) as database:
        line, file, number, stalled = database.execute(HOTTEST).fetchone()
        guess = database.execute("SELECT gain_ratio FROM line_gain_view WHERE kind = 'estimate'"
                                 " AND fix = 'in-time' AND line_id = ?", (line,)).fetchone()
        cycles, = database.execute(CYCLES).fetchone()
    return f"{os.path.basename(file)}:{number}", stalled, guess and guess[0], cycles


def predict(options, name, path):
    """The fix, and of the work: its estimate, its gain in another run, the cycles without it."""
    fix, guess = FIXES[name], None
    if fix in (IN_TIME, STALLS):
        # The line of the work is none of the setup's.
        setup = recorded_cycles(options, name, ["before", "setup"], path)
        line, stalled, guess, cycles = hottest_line(options, name, path)
        if fix == STALLS:
            gain = stalled * cycles / (cycles - setup)
            return fix, gain, gain, cycles - setup
        fix = f"line:{line}=in-time"
        setups = setup, setup, None
    else:
        setups = cycles_with_fix(options, name, ["before", "setup"], fix, path)
        if not setups:
            setup = recorded_cycles(options, name, ["before", "setup"], path)
            setups = setup, setup, None
    before, after, whole = cycles_with_fix(options, name, ["before", PARTS], fix, path)
    guess = whole if guess is None else guess
    without, fixed, guess_setup = setups
    work = before - without
    if guess is not None:
        guess = (guess * before - (guess_setup or 0) * without) / work
    return fix, guess, 1 - (after - fixed) / work, work


def real_gain(times):
    """Of runs before and after in turns: the median, and its range by the binomial distribution,
    which assumes nothing of the times."""
    gains = sorted(1 - after / before for before, after in zip(times["before"], times["after"]))
    beyond, outside = 0, 0  # gains on either side of the range; the chance of a median there
    while True:
        outside += math.comb(len(gains), beyond) / 2 ** len(gains)
        if 2 * outside > 1 - CONFIDENCE:
            break
        beyond += 1
    if beyond == 0:
        return Gain(statistics.median(gains), -math.inf, math.inf)
    return Gain(statistics.median(gains), gains[beyond - 1], gains[-beyond])


def sign(gain):
    if abs(gain.value) <= NO_GAIN or gain.low <= 0 <= gain.high:
        return 0
    return 1 if gain.value > 0 else -1


def word(gain, truth):
    if truth is None:
        return ""
    if sign(Gain(gain, gain, gain)) != sign(truth):
        return "miss"
    is_near = abs(gain - truth.value) <= max(NEAR_POINTS, NEAR_RATIO * abs(truth.value))
    return "near" if is_near else "right direction"


def compare(options, name, times, path):
    """The pair's row."""
    after, setup = (recorded_cycles(options, name, variant, path)
                    for variant in (["after", PARTS], ["after", "setup"]))
    real = real_gain(times[name]) if name in times else None
    fix, guess, gain, before = predict(options, name, path)
    changed = 1 - (after - setup) / before
    figures = [None if figure is None else f"{figure:.3f}"
               for figure in (guess, gain, changed, *(real or Gain(None, None, None)))]
    return [name, fix, *figures, word(gain, Gain(changed, changed, changed)), word(gain, real)]


def main():
    parser = pairs.parser_of(__doc__)
    parser.add_argument("--real", type=pathlib.Path, help="real times, of pairs.py --save")
    parser.add_argument("--csv", type=pathlib.Path, help="write the gains to this file")
    options = parser.parse_intermixed_args()
    times = json.loads(options.real.read_text()) if options.real else {}
    rows = []
    with tempfile.TemporaryDirectory(prefix="memlag-gains-") as directory:
        for name in options.names or FIXES:
            rows.append(compare(options, name, times, os.path.join(directory, "run.db")))
            print(*rows[-1], sep="\t", flush=True)
    for column, truth in (("near_changed", "the changed program"), ("near_real", "real runs")):
        words = [row[HEADER.index(column)] for row in rows]
        known = [each for each in words if each]
        print(f"{truth}: {known.count('near')} of {len(known)} near,"
              f" direction right in {len(known) - known.count('miss')}")
    if options.csv:
        with open(options.csv, "w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(rows)


if __name__ == "__main__":
    main()
