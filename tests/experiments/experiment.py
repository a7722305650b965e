# SPDX-License-Identifier: MIT
"""The common part of the experiments: recordings of memlag's kernels under the simulated PMU, read
by SQL, and the statements compared with them. Knows no experiment."""
import argparse
import csv
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

# Samples of loads that are slower than an L1 hit; the default of 30 cycles would leave
# out what L2 serves.
LDLAT_CYCLES = 6

# The time between the barrier before the timed passes and the first thread's end, with some room.
# It is found by the loads of each thread since its start. One pass comes before, and preparation,
# which stores, makes few. Samples would not show it: a thread whose prefetches come in time may
# have none.
BEGIN_PART, END_PART = 0.1, 0.95
LOADS = "mem_inst_retired.all_loads"
WINDOW = """
WITH made AS (
        SELECT thread_id, start_ns, end_ns,
               sum(value) OVER (PARTITION BY thread_id ORDER BY start_ns) AS loads
        FROM reading JOIN counter USING (counter_id) WHERE name = :loads
        AND thread_id > 1), -- which starts the others
member AS (
        SELECT min(end_ns) FILTER (WHERE loads >= :begin) AS begin_ns,
               max(start_ns) FILTER (WHERE loads <= :end) AS end_ns
        FROM made GROUP BY thread_id HAVING max(loads) >= :end)
SELECT max(begin_ns), min(end_ns), count(*) FROM member
"""

SAMPLING_LATENCY = """
SELECT avg(latency_cycles) FROM sample_view
WHERE time_ns BETWEEN ? AND ? AND level = 'DRAM' AND tlb IN ('hit', 'stlb') AND NOT locked
"""


class Recording:
    """A run of 'memlag bench KERNEL OPTION...' under the simulated PMU, on one socket
    unless there are to be more NODES."""

    def __init__(self, memlag, kernel, options, cpu, prefetch="off", record=(), nodes=1):
        self.directory = tempfile.TemporaryDirectory(prefix="memlag-experiment-")
        path = os.path.join(self.directory.name, "run.db")
        self.command = ["memlag", "record", "--source", "sim", "--sim-cpu", cpu]
        self.command += ["--sim-prefetch", prefetch, "--ldlat", str(LDLAT_CYCLES)]
        self.command += ["--sim-set", f"numa.nodes={nodes}"]
        # Present predictors do not learn the papers' loops, because of their length.
        self.command += ["--sim-set", "branch.mispredict_cycles=0"]
        self.command += [*record, "--", "memlag", "bench", kernel, *map(str, options),
                         "--format", "json"]
        command = [memlag if word == "memlag" else word for word in self.command]
        command[2:2] = ["-o", path]
        # The user's own validations of counters do not affect an experiment.
        environment = {**os.environ, "XDG_DATA_HOME": self.directory.name}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            sys.exit(f"{' '.join(self.command)}: status {done.returncode}\n{done.stderr}")
        self.bench = json.loads(done.stdout)
        self.memlag, self.path = memlag, path
        self.connection = sqlite3.connect(path)
        self.span = None

    def rows(self, query, values=()):
        return self.connection.execute(query, values).fetchall()

    def value(self, query, values=()):
        return self.rows(query, values)[0][0]

    def named(self, name):
        """The rows of a query of memlag's library."""
        done = subprocess.run([self.memlag, "query", "-i", self.path, "--format", "json",
                               "--name", name], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def machine(self, key):
        return self.value("SELECT value FROM machine WHERE key = ?", (key,))

    def counters(self):
        """Totals of the whole run."""
        return dict(self.rows("SELECT name, sum(value) FROM reading JOIN counter"
                              " USING (counter_id) GROUP BY name"))

    def window(self):
        """The ns between which all threads are in their timed passes, and warm."""
        if self.span is None:
            threads, passes = self.bench["threads"], self.bench["passes"]
            loads = self.bench["per_pass"]["loads"] / threads
            begin_ns, end_ns, members = self.rows(WINDOW, {
                "loads": LOADS, "begin": loads * (1 + passes * BEGIN_PART),
                "end": loads * (1 + passes * END_PART)})[0]
            if members != threads or begin_ns >= end_ns:
                sys.exit(f"{' '.join(self.command)}: {members} threads, which are not in"
                         f" their passes together: {begin_ns} to {end_ns} ns")
            self.span = begin_ns, end_ns
        return self.span

    def per_pass(self):
        """The increments of the counters in one timed pass over the data. They exclude preparation
        and the lines it left in the caches, because a pass comes before."""
        gained = dict(self.rows("SELECT name, sum(value) FROM reading JOIN counter"
                                " USING (counter_id) WHERE start_ns >= ? AND end_ns <= ?"
                                " GROUP BY name", self.window()))
        passes = gained[LOADS] / self.bench["per_pass"]["loads"]
        return {name: value / passes for name, value in gained.items()}

    def intervals(self, column):
        """The values of COLUMN of interval_view in that time."""
        return [row[0] for row in self.rows(
            f"SELECT {column} FROM interval_view WHERE start_ns >= ? AND end_ns <= ?"
            f" AND {column} IS NOT NULL", self.window())]

    def middle(self, column):
        values = self.intervals(column)
        return statistics.median(values) if values else None

    def sampling_latency(self):
        return self.value(SAMPLING_LATENCY, self.window())

    def levels(self, function):
        """The part of FUNCTION's samples that each level has served, for one thread whose first
        pass is not in the later half of them."""
        served = [level for level, in self.rows(
            "SELECT level FROM sample_view WHERE function LIKE ? ORDER BY time_ns",
            (function,))]
        later = served[len(served) // 2:]
        return {level: later.count(level) / len(later) for level in set(later)}

    def verdicts(self, function):
        return [row[0] for row in self.rows(
            "SELECT DISTINCT verdict FROM line_view WHERE function LIKE ?", (function,))]


def per_pass(memlag, kernel, options, few, many, **settings):
    """The increments of the counters in one pass: two runs of different length, so start-up and
    preparation cancel out."""
    totals = []
    for passes in (few, many):
        run = Recording(memlag, kernel, [*options, "--passes", passes], **settings)
        totals.append(run.counters())
    return {name: (totals[1][name] - totals[0].get(name, 0)) / (many - few) for name in totals[1]}


class Statements:
    """The paper's statements, each with the figure that the model gives."""

    def __init__(self):
        self.lines = []
        self.failed = 0

    def add(self, text, holds, figure):
        self.lines.append((text, figure, "yes" if holds else "no"))
        self.failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {text}: {figure}", flush=True)

    def at_least(self, text, value, limit):
        self.add(text, value >= limit, f"{value:.4g} (at least {limit:g})")

    def at_most(self, text, value, limit):
        self.add(text, value <= limit, f"{value:.4g} (at most {limit:g})")

    def near(self, text, value, truth, tolerance):
        part = value / truth - 1
        self.add(text, abs(part) <= tolerance,
                 f"{value:.6g}, {part:+.2%} of {truth:.6g} (within {tolerance:.0%})")

    def equal(self, text, value, truth):
        self.add(text, value == truth, f"{value} ({truth})")


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def run(description, short, full):
    """The command line of an experiment. SHORT(memlag, statements) and FULL(memlag,
    statements, directory) do the work."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("--full", metavar="DIR", type=pathlib.Path,
                        help="the full sweep, with figures and statements as CSV in DIR")
    options = parser.parse_args()
    memlag = os.path.abspath(options.memlag)
    statements = Statements()
    if options.full:
        full(memlag, statements, options.full)
        name = pathlib.Path(sys.argv[0]).stem
        write_csv(options.full / f"{name}-statements.csv", ["statement", "model", "holds"],
                  statements.lines)
    else:
        short(memlag, statements)
    sys.exit(1 if statements.failed else 0)
