#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""H20's memory read benchmark on their rigel (Xeon Platinum 8176): threads, delay and prefetching
set the bandwidth. LMRL, the L1 miss latency and the sampling latency follow.

1. Without prefetching LMRL rises with the use of DRAM, and not before.
2. The false positive: one thread that fills its buffers has a high sampling latency.
3. With prefetching, at one bandwidth, more delay gives a lower LMRL and a higher α/β."""
import itertools

import experiment

CPU = "skylake-sp"
KERNEL = "read_records%"
IDLE_DELAY = 1000
CORES = 28
SIZE = "96M"  # beyond L2 and L3 of all cores
RECORD_BYTES = 4 * 64
RECORD_INSTRUCTIONS = 7  # beside the NOPs
ISSUE_WIDTH = 4

THREADS = [1, 4, 8, 12, 16, 20, 28]
DELAYS = [0, 20, 50, 100, 200, 500, 1000]
# Would all rise or all fall by chance, so many would in one case of 32.
PAIRS_MIN = 5
HEADER = ["prefetch", "threads", "delay_nops", "bandwidth_gbs", "use", "lmrl_cycles",
          "l1_miss_latency_cycles", "sampling_latency_cycles", "fb_full_ratio",
          "active_cores", "contended_part", "bound"]


def most_common(values):
    return max(set(values), key=values.count) if values else ""


def measure(memlag, prefetch, threads, delay):
    run = experiment.Recording(
        memlag, "memread",
        ["--threads", threads, "--delay", delay, "--size", SIZE, "--passes", 1],
        cpu=CPU, prefetch=prefetch, record=["--interval", "0.05"])
    gbs = sum(run.middle(column) for column in ("read_gbs", "write_gbs"))
    contended = run.intervals("contended")
    record_ns = (RECORD_INSTRUCTIONS + delay) / ISSUE_WIDTH * 1000 / run.machine("clock_mhz")
    return {
        "prefetch": prefetch,
        "threads": threads,
        "delay_nops": delay,
        "bandwidth_gbs": gbs,
        "core_gbs": threads * RECORD_BYTES / record_ns,  # if no load waited
        "use": gbs / run.machine("dram_bandwidth_gbs"),
        "lmrl_cycles": run.middle("lmrl_cycles"),
        "l1_miss_latency_cycles": run.middle("l1_miss_latency_cycles"),
        "sampling_latency_cycles": run.sampling_latency(),
        "fb_full_ratio": run.middle("fb_full_ratio"),
        "active_cores": run.middle("active_cores"),
        "contended_part": sum(contended) / len(contended),
        "bound": most_common(run.intervals("bound")),
        "idle_cycles": run.machine("dram_latency_cycles"),
        "verdicts": run.verdicts(KERNEL),
        "latency_alone": {row["by_latency_alone"] for row in run.named("latency-alone")
                          if (row["function"] or "").startswith("read_records")},
    }


def rises_when_bandwidth_is_short(statements, points, idle):
    """1."""
    statements.near("idle LMRL is DRAM's idle latency", idle["lmrl_cycles"],
                    idle["idle_cycles"], 0.02)
    for point in points:
        ratio = point["lmrl_cycles"] / idle["lmrl_cycles"]
        where = f"{point['threads']} threads, delay {point['delay_nops']}, " \
                f"{point['use']:.0%} of the bandwidth: LMRL over idle"
        if point["use"] < 0.6:
            statements.near(where, ratio, 1, 0.15)
        if point["threads"] == CORES and point["delay_nops"] == 0:
            statements.at_least(where, ratio, 1.5)


def false_positive(statements, point, idle):
    """2."""
    ratio = {key: point[key] / idle[key] for key in ("lmrl_cycles", "sampling_latency_cycles")}
    alone = "one thread, delay 0: "
    statements.at_least(alone + "sampling latency over idle",
                        ratio["sampling_latency_cycles"], 1.5)
    statements.near(alone + "LMRL over idle", ratio["lmrl_cycles"], 1, 0.15)
    statements.at_least(alone + "part of cycles with the fill buffers full",
                        point["fb_full_ratio"], 0.5)
    statements.at_most(alone + "use of DRAM", point["use"], 0.6)
    statements.equal(alone + "bound of the intervals", point["bound"], "in-core")
    statements.equal(alone + "contended intervals", point["contended_part"], 0)
    statements.equal(alone + "verdict", point["verdicts"], ["in-core"])
    statements.equal(alone + "by the latency of samples alone",
                     point["latency_alone"], {"contended"})


def same_bandwidth(points):
    """Pairs of points of as many threads and as much bandwidth, the first without delay.
    Between two points with delay α/β need not rise: so few loads miss that it depends on
    which ones do."""
    for low, high in itertools.permutations(points, 2):
        if low["threads"] == high["threads"] and low["delay_nops"] == 0 and \
                high["delay_nops"] >= 100 and \
                abs(high["bandwidth_gbs"] / low["bandwidth_gbs"] - 1) < 0.05:
            yield low, high


def of_memory(point):
    """Where the NOPs leave no more than that bandwidth, it is theirs and not the memory's,
    and as much as without them by chance."""
    return point["bandwidth_gbs"] < 0.9 * point["core_gbs"]


def prefetchers_have_time(statements, points, least_pairs):
    """3. LEAST_PAIRS: of one bandwidth that memory sets."""
    pairs = list(same_bandwidth(points))
    kept = [pair for pair in pairs if of_memory(pair[1])]
    statements.add("prefetching on: pairs of one bandwidth that memory sets, of all of one",
                   len(kept) >= least_pairs and 2 * len(kept) > len(pairs),
                   f"{len(kept)} of {len(pairs)} (at least {least_pairs}, and most)")
    for low, high in kept:
        where = f"{low['threads']} threads, {low['bandwidth_gbs']:.1f} and " \
                f"{high['bandwidth_gbs']:.1f} GB/s, delay {low['delay_nops']} and " \
                f"{high['delay_nops']}: "
        for key, name, lower in (("lmrl_cycles", "LMRL", True),
                                 ("l1_miss_latency_cycles", "α/β", False)):
            text = where + name + (" falls" if lower else " rises")
            statements.add(text, (high[key] < low[key]) == lower,
                           f"{low[key]:.1f} to {high[key]:.1f}")


def short(memlag, statements):
    idle = measure(memlag, "off", 1, IDLE_DELAY)
    alone = measure(memlag, "off", 1, 0)
    others = [measure(memlag, "off", threads, delay)
              for threads, delay in ((6, 0), (CORES, 2000), (CORES, 0))]
    rises_when_bandwidth_is_short(statements, [alone, *others], idle)
    false_positive(statements, alone, idle)
    prefetchers_have_time(statements, [measure(memlag, "on", 16, delay)
                                       for delay in (0, 100, 200)], 2)


def full(memlag, statements, directory):
    points = {prefetch: [measure(memlag, prefetch, threads, delay)
                         for threads in THREADS for delay in DELAYS]
              for prefetch in ("off", "on")}
    experiment.write_csv(
        directory / "memread.csv", HEADER,
        [[f"{point[key]:.4g}" if isinstance(point[key], float) else point[key]
          for key in HEADER] for point in points["off"] + points["on"]])
    idle, alone = (next(point for point in points["off"]
                        if (point["threads"], point["delay_nops"]) == (1, delay))
                   for delay in (IDLE_DELAY, 0))
    rises_when_bandwidth_is_short(statements, points["off"], idle)
    false_positive(statements, alone, idle)
    prefetchers_have_time(statements, points["on"], PAIRS_MIN)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
