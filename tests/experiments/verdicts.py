#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verdicts of kinds of wait: false sharing between nodes, a stride beyond the TLB's reach, and
memory that prefetches or stores keep at its limit; in full all of verdict_cases.py, by CPU,
prefetching and length of the intervals. (Remote memory, false sharing in a node and the same for
whole programs: tests/integration/examples.sh and cachelines.sh.)"""
import os
import statistics
import subprocess
import tempfile

import experiment
import verdict_cases

CPU = "haswell-ep"
HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = ["cpu", "prefetch", "case", "interval_ms", "verdicts", "accepted"]


def measure(memlag, kernel, options):
    return experiment.Recording(memlag, kernel, options, cpu=CPU, record=["--period", "199"])


def tlb(statements, memlag):
    """4033 lines, each on another page: in L2 and L3, and beyond the STLB's 1024 pages; then as
    many adjacent lines."""
    passes = ["--passes", 60]
    strided = measure(memlag, "tlb", ["--size", "16M", *passes])
    statements.equal("tlb, stride of a page and a line: verdict",
                     strided.verdicts("chase_plain%"), ["tlb"])
    side_by_side = measure(memlag, "chase", ["--size", "252K", "--pages", "small", *passes])
    statements.equal("chase of as many lines side by side: verdict is tlb",
                     "tlb" in side_by_side.verdicts("chase_plain%"), False)


def sharing_between_nodes(statements, memlag):
    """One core on each of two: the line goes from one socket to the other."""
    run = experiment.Recording(memlag, "false-sharing", ["--passes", 300], cpu=CPU, nodes=2,
                               record=["--period", "199", "--sim-set", "core.count=1"])
    served = dict(run.rows("SELECT level, count(*) FROM sample_view WHERE snoop = 'hitm'"
                           " AND function = 'add_locked' GROUP BY level"))
    statements.at_least("false sharing between nodes: part of it that the other node serves",
                        served.get("REMOTE_CACHE", 0) / max(1, sum(served.values())), 0.9)
    statements.equal("false sharing between nodes: verdict of the line",
                     run.verdicts("add_locked"), ["sharing"])


def transposed(memlag, program, directory, name, prefetch, *settings):
    """A recording of transpose.c, and how long it takes in the model."""
    path = os.path.join(directory, f"{name}.db")
    command = [memlag, "record", "-o", path, "--source", "sim", "--sim-cpu", "skylake-sp",
               "--sim-prefetch", prefetch, "--interval", str(verdict_cases.RECORDED_MS),
               "--no-heap", "--call-graph", "none", "--sim-set", "numa.nodes=1",
               *verdict_cases.LOADS_ALONE]
    for setting in settings:
        command += ["--sim-set", setting]
    subprocess.run([*command, "--", program], check=True, capture_output=True)
    with verdict_cases.opened(path) as connection:
        return path, connection.execute(
            "SELECT max(time_ns) - min(time_ns) FROM sample_view"
            " WHERE function = 'transpose'").fetchone()[0]


def translation(statements, memlag, directory):
    """The walks hold it up, since it is faster without them and not with more buffers; so
    its verdict is tlb, though many of its cycles have no buffer left."""
    program = os.path.join(directory, "transpose")
    subprocess.run(["cc", "-O2", "-g", os.path.join(HERE, "transpose.c"), "-o", program],
                   check=True)
    for prefetch in ("off", "on"):
        where = f"matrix turned around, prefetching {prefetch}: "
        path, ns = transposed(memlag, program, directory, f"as-it-is-{prefetch}", prefetch)
        for name, setting, least, most in (
                ("walks of one cycle", "page_walk.latency_cycles=1", 0, 0.85),
                ("twice as many fill buffers", "core.lfb_entries=24", 0.95, 1.05)):
            _, changed_ns = transposed(memlag, program, directory,
                                       f"{setting}-{prefetch}", prefetch, setting)
            statements.add(where + f"time with {name}", least <= changed_ns / ns <= most,
                           f"{changed_ns / ns:.2f} ({least} to {most})")
        for interval_ms in (0.5, 10):
            judged = verdict_cases.judged(memlag, path, os.path.join(directory, "judged.db"),
                                          interval_ms)
            statements.equal(where + f"verdict with intervals of {interval_ms} ms",
                             verdict_cases.verdicts(judged, "transpose"), {"tlb"})


def prefetched_to_the_limit(statements, memlag, directory):
    """DRAM moves all it can, and prefetches keep LMRL low."""
    case = next(case for case in verdict_cases.CASES if case.name == "triad, 4 threads")
    path = verdict_cases.record(memlag, directory, "zen4", "on", case)
    with verdict_cases.opened(path) as connection:
        moved = statistics.median(row[0] for row in connection.execute(
            "SELECT read_gbs + write_gbs FROM interval_view WHERE bound = 'bandwidth'"))
    # Threads begin and end at other times in each run: of the mean the first and the last
    # intervals decide. No interval moves more than the peak.
    statements.add("triad, 4 threads, prefetching on, zen4: GB/s of 20", 15 <= moved <= 20,
                   f"{moved:.2f} (15 to 20)")
    statements.equal("triad, 4 threads, prefetching on, zen4: verdict",
                     verdict_cases.verdicts(path, case.function), case.truth)


def caches_only(statements, memlag, directory):
    """Without waits a chase looks like a stream, and is not called one."""
    for name in ("chase in DRAM", "reads, 4 threads", "false sharing"):
        case = next(case for case in verdict_cases.CASES if case.name == name)
        path = verdict_cases.record(memlag, directory, "skylake-sp", "off", case, "cache")
        statements.equal(f"{name}, caches only: verdict",
                         verdict_cases.verdicts(path, case.function),
                         verdict_cases.of_caches_only(case.truth))


def which_cache(statements, memlag, directory):
    """Of a list that fits in L2, and of one that does not."""
    for name, cache in (("chase in L2", "L2"), ("chase in L3", "L3"),
                        ("two words of a line in L3", "L3")):
        case = next(case for case in verdict_cases.CASES if case.name == name)
        path = verdict_cases.record(memlag, directory, "skylake-sp", "off", case)
        with verdict_cases.opened(path) as connection:
            found = connection.execute(
                "SELECT verdict, cache_level FROM line_view WHERE function LIKE ?"
                " ORDER BY latency_share DESC LIMIT 1", (case.function,)).fetchone()
        statements.equal(f"{name}: verdict and cache", found, ("cache", cache))


def stored_to_the_limit(statements, memlag):
    """All cores of M17's processor store, and no load waits: 25.8 GB/s are written there, and as
    many read, which is 82 % of its read bandwidth."""
    run = experiment.Recording(
        memlag, "store", ["--threads", 12, "--size", "48M", "--passes", 3], cpu=CPU,
        record=["--interval", "0.1", "--no-heap", "--call-graph", "none"])
    rows = run.rows("SELECT write_gbs, bound = 'bandwidth' FROM interval_view"
                    " WHERE active_cores >= 6")
    written, at_limit = zip(*rows)
    statements.near("stores of 12 threads: GB/s written", statistics.median(written), 25.8, 0.05)
    statements.at_least("stores of 12 threads: part of the time bound by bandwidth",
                        statistics.mean(at_limit), 0.9)


def short(memlag, statements):
    tlb(statements, memlag)
    sharing_between_nodes(statements, memlag)
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as directory:
        translation(statements, memlag, directory)
        prefetched_to_the_limit(statements, memlag, directory)
        caches_only(statements, memlag, directory)
        which_cache(statements, memlag, directory)
    stored_to_the_limit(statements, memlag)


def sweep(memlag, statements, scratch):
    rows = []
    for cpu in verdict_cases.CPUS:
        for case in verdict_cases.CASES:
            for prefetch in case.prefetch:
                path = verdict_cases.record(memlag, scratch, cpu, prefetch, case)
                all_found = []
                for interval_ms in verdict_cases.INTERVALS_MS:
                    judged = verdict_cases.judged(memlag, path,
                                                  os.path.join(scratch, "judged.db"),
                                                  interval_ms)
                    found = verdict_cases.verdicts(judged, case.function)
                    all_found.append(found)
                    rows.append([cpu, prefetch, case.name, interval_ms,
                                 " ".join(sorted(found)), " ".join(sorted(case.truth))])
                os.remove(path)
                text = sorted({" ".join(sorted(found)) for found in all_found})
                statements.add(f"{cpu}, prefetching {prefetch}: {case.name}",
                               all(found <= case.truth for found in all_found),
                               ", ".join(text))
    return rows


def full(memlag, statements, directory):
    short(memlag, statements)
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as scratch:
        rows = sweep(memlag, statements, scratch)
    experiment.write_csv(directory / "verdicts.csv", HEADER, rows)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
