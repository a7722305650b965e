#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Precision and recall of each verdict, beside the rule "mean sampling latency above 1.5
times idle" for contention. No rule makes the truth: memlag whatif runs a program again on
the same CPU without one cost each, and the cost whose absence saves a line most of its stall
time is the line's cause. Of several costs none may be as much: such lines are not judged."""
import argparse
import collections
import contextlib
import csv
import itertools
import os
import pathlib
import subprocess
import tempfile

import verdict_cases

HERE = os.path.dirname(os.path.abspath(__file__))
IDLE_TIMES = 1.5

# Smaller caches need less data; with little bandwidth four threads ask for more.
CPUS = {
    "skylake-sp": ["l2.size_bytes=262144", "l3.size_bytes=1441792"],
    "zen4": ["l2.size_bytes=262144", "l3.size_bytes=1048576"],
    "sapphire-rapids": ["l2.size_bytes=262144", "l3.size_bytes=1474560"],
}
# Each program is recorded on all of them, in as many rounds.
SETTINGS = [("skylake-sp", "off"), ("zen4", "on"), ("sapphire-rapids", "off"),
            ("skylake-sp", "on"), ("zen4", "off"), ("sapphire-rapids", "on")]
NARROW = ["dram.bandwidth_gbs=12", "dram.channels=2"]
NO_KERNEL = ["kernel.fault_ns=0", "kernel.call_ns=0", "kernel.copy_gbs=10000"]
INTERVALS_MS = [1, 10]
PERIOD = 97
# One cause each, of little data: what ctest runs.
SHORT = ("chase in DRAM", "transposition", "counts of 4 threads in a table",
         "two stores for a load")

# The fixes of memlag whatif that take away what a verdict names.
CURES = {
    "dram-contention": "dram-bandwidth",
    "dram-latency": "dram-latency",
    "in-core": "buffers",
    "cache": "l2+l3-latency+l3-path",
    "tlb": "translation",
    "sharing": "sharing",
    "remote-memory": "remote-memory",
    "page-faults": "page-faults",
}
# Strides that crowd into few sets of a cache, which is no cost of a level's latency.
STRIDED = {"columns", "partition", "product", "transpose"}
CROWDED_CACHE = "cache-sets+l2+l3-latency+l3-path"
# Threads that write what other threads access.
SHARING = {"count-beside", "count-together", "look", "queue", "tally", "locks"}
# One without a fix.
UNFORWARDED = "core.unforwarded_cycles=0"

# A cost that saves a smaller part of a line's stall time than this is not its cause.
MOST = 0.5
SEVERAL = "several"
# Costs overlap: a verdict is right if its own cost saves nearly as much as the best.
NEARLY = 0.8
# If no fix saves this share of the cycles, the verdict is none (the judge's verdict_cost_ratio).
LEAST_GAIN = 0.005
LEAST_STALLED, LEAST_SAMPLES = 0.05, 20

Program = collections.namedtuple("Program", "name loop numbers function settings")


def program(name, loop, numbers, *settings, function=None):
    return Program(name, loop, numbers.split(), function or loop.split("-small")[0].replace(
        "-", "_"), list(settings))


def narrow(name, loop, numbers, *settings, function=None):
    return program(name, loop, numbers, *NARROW, *settings, function=function)


# Numbers: threads, KiB and passes of each, and what truth.c says at the loop.
PROGRAMS = [
    program("chase in DRAM", "chase", "1 4096 1"),
    program("chase in L3", "chase", "1 1024 4"),
    program("chase in L2", "chase", "1 128 30"),
    program("chase of 4 threads", "chase", "4 2048 1"),
    program("chase of 8 threads, little bandwidth", "chase", "8 1024 1", "dram.bandwidth_gbs=4"),
    program("chase with work", "chase", "1 4096 1 100"),
    program("chase over small pages", "chase-small-pages", "1 8192 1"),
    program("a line a page", "pages", "1 8192 20"),
    program("a line a page, 2 threads", "pages", "2 8192 10"),
    program("8 chains in DRAM", "chains", "1 4096 1"),
    program("8 chains in L3", "chains", "1 1024 4"),
    narrow("8 chains, 4 threads", "chains", "4 2048 1"),
    program("sum", "sum", "1 4096 1"),
    program("sum in L3", "sum", "1 1024 3"),
    narrow("sum, 4 threads", "sum", "4 2048 1"),
    program("records", "records", "1 4096 2"),
    program("records with work", "records", "1 4096 2 40"),
    narrow("records, 4 threads", "records", "4 2048 2"),
    narrow("records with work, 4 threads", "records", "4 2048 2 30"),
    program("gather", "gather", "1 4096 2"),
    program("gather over small pages", "gather-small-pages", "1 8192 1"),
    program("gather in L3", "gather", "1 1024 5"),
    narrow("gather, 4 threads", "gather", "4 2048 2"),
    program("fill", "fill", "1 4096 1"),
    narrow("fill, 4 threads", "fill", "4 2048 1"),
    program("scatter", "scatter", "1 4096 2"),
    narrow("scatter, 4 threads", "scatter", "4 2048 2"),
    program("histogram", "histogram", "1 4096 2"),
    narrow("histogram, 4 threads", "histogram", "4 2048 1"),
    program("fill past the caches", "fill-around", "1 4096 2", function="_mm_stream_si128"),
    narrow("fill past the caches, 4 threads", "fill-around", "4 2048 2",
           function="_mm_stream_si128"),
    program("copy", "copy", "1 4096 1"),
    narrow("copy, 4 threads", "copy", "4 2048 1"),
    program("triad", "triad", "1 4096 2"),
    narrow("triad, 4 threads", "triad", "4 2048 1"),
    narrow("stencil, 4 threads", "stencil", "4 2048 1"),
    program("hash table", "probe", "1 4096 2"),
    narrow("hash table, 4 threads", "probe", "4 2048 2"),
    program("tree", "descend", "1 4096 2"),
    program("sparse matrix", "sparse", "1 4096 1"),
    narrow("sparse matrix, 4 threads", "sparse", "4 2048 1"),
    program("columns of 512", "columns", "1 2048 1 512"),
    program("columns of 1000", "columns", "1 8192 1 1000"),
    program("hidden", "hidden", "1 4096 1"),
    narrow("hidden, 2 threads", "hidden", "2 2048 1"),
    narrow("bursts, 4 threads", "bursts", "4 2048 1 8000", function="sum"),
    narrow("a chase beside stores", "beside", "4 2048 1", function="chase"),
    program("counts beside each other", "count-beside", "2 4 200 1"),
    program("counts of 4 threads beside each other", "count-beside", "4 4 100 1"),
    program("counts apart", "count-beside", "2 4 200 16"),
    program("one count of 4 threads", "count-together", "4 4 10"),
    program("a table that one thread changes", "look", "4 4 30"),
    program("sum of another node's memory", "remote", "4 2048 1", "numa.nodes=2",
            "numa.spread=1", function="sum"),
    program("chase in another node's memory", "remote-chase", "2 4096 1", "numa.nodes=2",
            "numa.spread=1", function="chase"),
    program("two stores for a load", "halves", "1 4 100"),
    program("first touches", "touch", "1 2048 2", "kernel.fault_ns=500", "kernel.copy_gbs=10"),
    program("arithmetic", "compute", "1 4 300"),
    program("join", "join", "1 8192 2"),
    narrow("join, 4 threads", "join", "4 4096 1"),
    program("sorted table", "search", "1 4096 20"),
    program("list in order", "list", "1 8192 1"),
    program("graph", "graph", "1 4096 1"),
    narrow("graph, 4 threads", "graph", "4 2048 1"),
    program("partition", "partition", "1 6144 1 512"),
    program("merge", "merge", "1 4096 1"),
    narrow("merge, 4 threads", "merge", "4 2048 1"),
    program("product of matrices", "product", "1 2048 1 256"),
    program("transposition", "transpose", "1 4096 1 1024"),
    program("clear", "clear", "1 4096 2"),
    narrow("clear, 4 threads", "clear", "4 2048 2"),
    program("move", "move", "1 4096 2"),
    narrow("move, 4 threads", "move", "4 2048 2"),
    program("queue, puts", "queue", "2 4 20", function="put"),
    program("counts of 4 threads in a table", "tally", "4 4 20 512"),
    program("locks of 4 threads", "locks", "4 4 10", function="change_locked"),
]


def run(setting, arguments, the_program, path):
    """A recording of the program, or several."""
    memlag, directory, cpu, prefetch = setting
    command = [memlag, *arguments, "--force", "-o", path, "--sim-cpu", cpu, "--sim-prefetch",
               prefetch, "--interval", str(INTERVALS_MS[0]), "--period", str(PERIOD), "--no-heap",
               "--call-graph", "none"]
    for key in ["numa.nodes=1", *CPUS[cpu], *NO_KERNEL, *the_program.settings]:
        command += ["--sim-set", key]
    command += ["--", os.path.join(directory, "truth"), the_program.loop, *the_program.numbers]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, "XDG_DATA_HOME": directory})


def cures_of(the_program):
    """A cost that a program cannot have is not taken away."""
    cannot = set() if the_program.loop in SHARING else {"sharing"}
    cannot |= set() if "numa.nodes=2" in the_program.settings else {"remote-memory"}
    cannot |= set() if the_program.loop == "touch" else {"page-faults"}
    cures = {name: fix for name, fix in CURES.items() if name not in cannot}
    if the_program.loop in STRIDED:
        cures["cache"] = CROWDED_CACHE
    return cures


def lines_of(connection, function):
    """The lines that stall the program, else the one with the most latency."""
    rows = connection.execute(
        "SELECT line, coalesce(stalled_ratio, 0), samples FROM line_view WHERE function = ?"
        " ORDER BY 2 DESC, latency_share DESC", (function,)).fetchall()
    hot = [row for row in rows if row[1] >= LEAST_STALLED and row[2] >= LEAST_SAMPLES]
    return [(line, stalled) for line, stalled, _ in hot or rows[:1]]


def gains_of(connection, the_program, line):
    """What the fix of each verdict saved at the line, in parts of the run's cycles. Waits
    that the fix only moved to the function's other lines are not saved."""
    saved = dict(connection.execute(
        "SELECT fix, sum(iif(line = ?2, gain_ratio, min(gain_ratio, 0))) FROM line_gain_view"
        " WHERE kind = 'recorded' AND function = ?1 GROUP BY fix",
        (the_program.function, line)))
    cures = cures_of(the_program)
    return {name: saved.get(cures.get(name), 0.0) for name in CURES}


def forwarding_gain(setting, the_program, line, path):
    """What costless failures to forward a store save at the line."""
    cycles = ("SELECT sum(value) FROM reading JOIN counter USING (counter_id)"
              " WHERE name = 'cpu_clk_unhalted.thread'")
    stalled = "SELECT sum(stalled_ratio) FROM line_view WHERE function = ? AND line = ?"
    where = (the_program.function, line)
    faster = the_program._replace(settings=[*the_program.settings, UNFORWARDED])
    if not os.path.exists(path + ".faster"):
        run(setting, ["record", "--source", "sim"], faster, path + ".faster")
    with verdict_cases.opened(path) as before, verdict_cases.opened(path + ".faster") as after:
        was, now = (c.execute(cycles).fetchone()[0] for c in (before, after))
        return ((before.execute(stalled, where).fetchone()[0] or 0)
                - (after.execute(stalled, where).fetchone()[0] or 0) * now / was)


def causes(own, stalled):
    """The verdicts that are right, the best first, by what the fix of each saved."""
    best = max(own, key=own.get)
    if stalled >= LEAST_STALLED and own[best] < MOST * stalled:
        return [SEVERAL]
    if own[best] < LEAST_GAIN:
        return ["none"]
    part = {name: NEARLY for name in own}
    # With more buffers, as with nearer memory, more lines come in a time: half is enough.
    # And a remote line is of memory, too.
    if best in ("dram-latency", "in-core"):
        part["in-core"] = 0.5
    if best == "dram-latency":
        part["remote-memory"] = 0.7
    return sorted((name for name in own if own[name] > 0 and own[name] >= part[name] * own[best]),
                  key=own.get, reverse=True)


def judged(connection, function, line):
    """The line's verdict, and whether its loads from DRAM take longer than the rule on
    latency alone allows."""
    verdict = connection.execute("SELECT verdict FROM line_view WHERE function = ? AND line = ?"
                                 " ORDER BY stalled_ratio DESC LIMIT 1",
                                 (function, line)).fetchone()[0]
    slow = connection.execute(
        "SELECT avg(latency_cycles) > ? * (SELECT value FROM machine"
        "                                  WHERE key = 'dram_latency_cycles')"
        " FROM sample_view WHERE function = ? AND line = ? AND level = 'DRAM'"
        " AND tlb <> 'miss' AND NOT locked AND op = 'load'",
        (IDLE_TIMES, function, line)).fetchone()[0]
    return verdict, bool(slow)


def recorded(setting, the_program):
    """The database of a program, made if it is not there yet."""
    name = the_program.name.replace(" ", "-").replace(",", "")
    path = os.path.join(setting[1], f"{setting[2]}.{setting[3]}.{name}.db")
    arguments = ["whatif"]
    for fix in cures_of(the_program).values():
        arguments += ["--fix", fix]
    if not os.path.exists(path):
        run(setting, arguments, the_program, path + ".new")
        os.rename(path + ".new", path)
    return path


def measure(setting, the_program):
    """The rows of a program: of each line and interval."""
    memlag, directory, cpu, prefetch = setting
    path, function = recorded(setting, the_program), the_program.function
    with verdict_cases.opened(path) as connection:
        lines = [(line, stalled, gains_of(connection, the_program, line))
                 for line, stalled in lines_of(connection, function)]
    rows = []
    for rank, (line, stalled, gains) in enumerate(lines, 1):
        if the_program.loop == "halves":
            gains["store-forwarding"] = forwarding_gain(setting, the_program, line, path)
        for interval_ms in INTERVALS_MS:
            copy = verdict_cases.judged(memlag, path, os.path.join(directory, "judged.db"),
                                        interval_ms)
            with verdict_cases.opened(copy) as connection:
                verdict, slow = judged(connection, function, line)
            rows.append({"cpu": cpu, "prefetch": prefetch, "program": the_program.name,
                         "line": f"{function} {rank}", "interval_ms": interval_ms,
                         "verdict": verdict, "causes": " ".join(causes(gains, stalled)),
                         "slow_latency": int(slow), "stalled": f"{stalled:.3f}",
                         **{CURES[name]: f"{gain:.3f}" for name, gain in gains.items()
                            if name in CURES}})
    return rows


def rates(rows, given, truth):
    """Rows that GIVEN names and for which TRUTH is right, all rows that it names; and rows of
    TRUTH alone that it names, all rows of TRUTH alone."""
    named = [row for row in rows if given(row)]
    right = [row for row in named if truth in row["causes"].split()]
    caused = [row for row in rows if row["causes"] == truth]
    found = [row for row in caused if given(row)]
    return len(right), len(named), len(found), len(caused)


def summary(rows):
    rows = [row for row in rows if row["causes"] != SEVERAL]
    table = [["latency above 1.5 times idle",
              *rates(rows, lambda row: int(row["slow_latency"]), "dram-contention")]]
    for name in [*CURES, "store-forwarding", "none"]:
        table.append([name, *rates(rows, lambda row, name=name: row["verdict"] == name, name)])
    return table


def is_right(row):
    return row["causes"] == SEVERAL or row["verdict"] in row["causes"].split()


def print_summary(rows):
    several = sum(row["causes"] == SEVERAL for row in rows)
    print(f"{len(rows)} verdicts, {several} of several costs, which are not judged")
    for name, right, named, found, caused in summary(rows):
        print(f"{name}: precision {right}/{named}, recall {found}/{caused}")
    for row in rows:
        if not is_right(row):
            print("miss:", *row.values())


def write_rows(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def rows_of(memlag, directory, options):
    sources = [os.path.join(HERE, name) for name in ("truth.c", "truth_shapes.c")]
    subprocess.run(["cc", "-O2", "-g", "-pthread", "-D_GNU_SOURCE", *sources,
                    "-o", os.path.join(directory, "truth")], check=True)
    names = options.program or (None if options.all else SHORT)
    for number, (i, the_program) in itertools.product(range(options.rounds), enumerate(PROGRAMS)):
        if not names or the_program.name in names:
            cpu, prefetch = SETTINGS[(i + number) % len(SETTINGS)]
            yield from measure((memlag, directory, cpu, prefetch), the_program)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memlag")
    parser.add_argument("--all", action="store_true", help="all programs, not four of them")
    parser.add_argument("--program", action="append", help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, choices=range(1, len(SETTINGS) + 1), default=1,
                        help="with other CPUs each (1)")
    parser.add_argument("--csv", type=pathlib.Path, help="write the rows to this file")
    parser.add_argument("--recordings", type=pathlib.Path,
                        help="keep recordings in this directory, and judge those it has again")
    options = parser.parse_args()
    rows = []
    with contextlib.ExitStack() as stack:
        directory = options.recordings or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="memlag-truth-"))
        os.makedirs(directory, exist_ok=True)
        for row in rows_of(os.path.abspath(options.memlag), str(directory), options):
            rows.append(row)
            print(*row.values(), flush=True)
    if options.csv:
        write_rows(options.csv, rows)
    print_summary(rows)
    return 0 if all(map(is_right, rows)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
