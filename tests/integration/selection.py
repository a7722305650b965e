# SPDX-License-Identifier: MIT
"""selection.py MEMLAG FILE DIRECTORY: reports on a part of FILE, a recording of ./both,
against sums over the samples themselves."""
import csv
import io
import json
import sqlite3
import subprocess
import sys

MEMLAG, FILE, DIRECTORY = sys.argv[1:]
database = sqlite3.connect(f"file:{FILE}?mode=ro", uri=True)
KINDS = "line", "function", "object", "thread", "process"


def ask(sql, *values):
    return database.execute(sql, values).fetchone()[0]


def run(command, *options):
    done = subprocess.run([MEMLAG, command, *options, "-i", FILE], capture_output=True, text=True)
    assert done.returncode == 0, (command, options, done.stderr)
    return done.stdout


def report(kind, *options):
    return json.loads(run("report", "--format", "json", "--by", kind, *options))


def total(rows, column):
    return sum(row[column] or 0 for row in rows)


def same(figure, truth, what):
    assert abs(figure - truth) < 1e-6, (what, figure, truth)


# A sample of sample_view, with the program of its process and the name of its first thread.
SAMPLE = """(SELECT v.*, s.retire_latency_cycles AS stall, p.process, p.executable, n.name AS first,
                    v.object_id IN (SELECT object_id FROM object_view) AS in_object,
                    v.sample_id IN (SELECT sample_id FROM page_fault) AS is_fault
             FROM sample_view AS v JOIN sample AS s USING (sample_id) JOIN thread USING (thread_id)
             JOIN process_view AS p USING (process_id)
             LEFT JOIN thread AS n ON n.process_id = p.process_id AND n.tid = p.pid)"""


def check(condition, *options):
    """All commands with OPTIONS show the samples for which CONDITION holds."""
    count = ask(f"SELECT count(*) FROM {SAMPLE} WHERE {condition}")
    assert count > 50, (condition, count)
    for kind in KINDS:
        shown = report(kind, *options)
        rows, what = shown["rows"], (kind, options)
        assert shown["run"]["samples"] == count, what
        wanted = "AND NOT is_fault" + (" AND in_object" if kind == "object" else "")
        assert total(rows, "samples") == ask(
            f"SELECT count(*) FROM {SAMPLE} WHERE ({condition}) {wanted}"), what
        if kind == "function":
            ours = [row for row in rows if row["function"] in ("stroll", "march")]
            same(total(ours, "latency_share"), ask(
                f"""SELECT total(latency_cycles) FILTER (WHERE function IN ('stroll', 'march'))
                    / total(latency_cycles) FROM {SAMPLE} WHERE {condition}"""), what)
        if kind != "object":
            same(total(rows, "latency_share"), 1, what)
    folded = run("export", "--weight", "samples", *options).splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == ask(
        f"SELECT count(*) FROM {SAMPLE} WHERE NOT is_fault AND ({condition})"), options
    assert all(", only " in line.split(";")[0] for line in folded), options
    for function in "stroll", "march":
        in_it = ask(f"SELECT count(*) FROM {SAMPLE} WHERE function = ? AND NOT is_fault AND ({condition})",
                    function)
        if in_it:
            rows = csv.DictReader(io.StringIO(run("annotate", "--format", "csv", *options, function)))
            assert sum(int(row["samples"]) for row in rows if row["kind"] == "line") == in_it


# ---- by process: a row for each program in a process, with all its samples ----
rows = report("process")["rows"]
assert sorted(row["process"] for row in rows if row["samples"] > 100) == ["march", "march", "stroll"]
assert total(rows, "samples") == ask("SELECT value FROM run_info WHERE key = 'memory_samples'")
same(total(rows, "latency_share"), 1, "processes")
pids = [row["pid"] for row in rows if row["process"] == "march"]
forked = next(row for row in rows if row["process"] == "march" and row["parent_pid"] in pids
              and row["parent_pid"] != row["pid"])["pid"]
stroll = next(row for row in rows if row["process"] == "stroll")["pid"]

# ---- selections ----
check("process = 'march'", "--process", "march")
check(f"executable GLOB '{DIRECTORY}/mar*'", "--process", f"{DIRECTORY}/mar*")
check("process IN ('march', 'stroll')", "--process", "march", "--process", "stroll")
check(f"pid = {forked} AND process = 'march'", "--process", "march", "--pid", str(forked))
thread = ask("SELECT tid FROM sample_view WHERE tid <> pid LIMIT 1")
check(f"tid = {thread}", "--thread", str(thread))
third = ask("SELECT max(time_ns) / 3000 FROM sample")  # microseconds
check(f"time_ns < {third} * 1000", "--time", f"-{third / 1000:.3f}")
check(f"time_ns >= {third} * 1000 AND time_ns < {third} * 2000",
      "--time", f"{third / 1000:.3f}-{third / 500:.3f}")
check(f"time_ns >= {third} * 2000 AND process = 'march'",
      "--time", f"{third / 500:.3f}-", "--process", "march")
# A script is known by the name of its process.
assert report("line", "--process", "both")["run"]["samples"] == ask(
    f"SELECT count(*) FROM {SAMPLE} WHERE first = 'both' OR process = 'both'") > 0

# ---- phases: sets of intervals, by their number in the whole recording ----
phases = report("phase")["rows"]
assert [row["phase"] for row in phases] == list(range(1, len(phases) + 1)) and len(phases) > 1
first, second = sorted(sorted(phases, key=lambda row: row["intervals"])[-2:], key=lambda row: row["phase"])
WITHIN = "time_ns >= {start_ns} AND time_ns < {end_ns}"
check(WITHIN.format(**first), "--phase", str(first["phase"]))
check(f"({WITHIN.format(**first)}) OR ({WITHIN.format(**second)})",
      "--phase", str(first["phase"]), "--phase", str(second["phase"]))
middle = (second["start_ns"] + second["end_ns"]) // 2 // 1000
check(f"{WITHIN.format(**second)} AND time_ns < {middle * 1000}",
      "--phase", str(second["phase"]), "--time", f"-{middle / 1000:.3f}")
shown = report("phase", "--phase", str(second["phase"]))["rows"]
assert [row["phase"] for row in shown] == [second["phase"]], shown
starts = [row["start_ns"] for row in report("interval", "--top", "3")["rows"]]
assert starts == sorted(starts) and len(starts) == 3, starts

# ---- a comparison of two equal parts finds no difference; of different parts, theirs ----
shown = json.loads(subprocess.run([MEMLAG, "diff", "--format", "json", "--by", "function", "--phase",
                                   str(first["phase"]), FILE, FILE], capture_output=True, text=True, check=True).stdout)
inside = ask(f"SELECT count(*) FROM {SAMPLE} WHERE {WITHIN.format(**first)} AND NOT is_fault")
assert sum(row["samples_before"] for row in shown["rows"]) == inside, shown
assert {row["verdict"] for row in shown["rows"]} <= {"no-difference", "too-few-samples"}, shown
# ---- stalled time is a part of the selected threads' cycles ----
OWN = f"(SELECT thread_id FROM thread JOIN process USING (process_id) WHERE pid = {stroll})"
cycles = ask(f"""SELECT sum(value) FROM reading JOIN counter USING (counter_id)
                 WHERE name = 'cpu_clk_unhalted.thread' AND thread_id IN {OWN}""")
shown = report("function", "--pid", str(stroll))
limit = [row["value"] for row in shown["thresholds"] if row["name"] == "stall_limit_cycles"]
held_up = ask(f"SELECT total(min(retire_latency_cycles, ?)) FROM sample"
              f" WHERE retire_latency_cycles > 0 AND thread_id IN {OWN}", *limit or [1e18])
in_kernel = ask(f"""SELECT total(kernel_cycles) FROM page_fault JOIN sample USING (sample_id)
                    WHERE thread_id IN {OWN}""")
period = ask("SELECT value FROM run WHERE key = 'period_loads'")
same(total(shown["rows"], "fault_ratio"), in_kernel / cycles, "page faults")
same(total(shown["rows"], "stalled_ratio"), (held_up * period + in_kernel) / cycles, "stalled")

# ---- facts about the whole run stay, and the selection is named ----
limits = [row for row in report("line")["thresholds"] if row["name"] != "stall_limit_cycles"]
shown = report("line", "--pid", str(forked))
assert [row for row in shown["thresholds"] if row["name"] != "stall_limit_cycles"] == limits
assert shown["run"]["selection"].startswith(f"process {forked} (")
assert shown["run"]["recorded_samples"] == ask("SELECT count(*) FROM sample")
