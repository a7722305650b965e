#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""M17 on their Xeon E5-2680 v3. Three pointer chases show which counter of stalls is right. Reads
by level have their bandwidth. A kernel that waits for latency and one that waits for bandwidth have
their stalls on the right sides."""
import experiment

CPU = "haswell-ep"
MULTIPLICATIONS = 24
CYCLES = "cpu_clk_unhalted.thread"
L1D = "cycle_activity.stalls_l1d_pending"
LDM = "cycle_activity.stalls_ldm_pending"
LINE_BYTES = 64
LOAD_BYTES = 32
# In L3 and, a block at a time, within the reach of the TLB.
CHASE = ["--size", "2M", "--block", "128K"]
CHASES = [("plain", []), ("independent", ["--independent", MULTIPLICATIONS]),
          ("dependent", ["--dependent", MULTIPLICATIONS])]
L3_LATENCY_CYCLES = 53  # M17
# Data, and M17's GB/s of one core that reads with 256 bits.
BANDWIDTHS = [("L1", "16K", 159.8), ("L2", "128K", 75.0), ("L3", "4M", 29.9),
              ("DRAM", "96M", 10.4)]
RECORD = ["--no-heap", "--period", "100000"]


def chase(memlag, name, options):
    gained = experiment.per_pass(memlag, "chase", [*CHASE, *options], 4, 12, cpu=CPU,
                                 record=RECORD)
    loads = (2 << 20) / LINE_BYTES
    return {"chase": name, "cycles": gained[CYCLES] / loads,
            "stalls_l1d_pending": gained[L1D] / loads,
            "stalls_ldm_pending": gained[LDM] / loads}


def counters_of_stalls(statements, points):
    plain, independent, dependent = points
    latency = plain["cycles"]
    statements.near("L3 chase: cycles a load", latency, L3_LATENCY_CYCLES, 0.05)
    statements.near("plain: STALLS_L1D_PENDING is the latency",
                    plain["stalls_l1d_pending"], latency, 0.1)
    statements.near("24 independent multiplications: the time is the same",
                    independent["cycles"], latency, 0.05)
    statements.near("24 independent: STALLS_L1D_PENDING is the latency less 24",
                    independent["stalls_l1d_pending"], latency - MULTIPLICATIONS, 0.1)
    statements.near("24 dependent: STALLS_L1D_PENDING is the latency of the plain chase",
                    dependent["stalls_l1d_pending"], latency, 0.1)
    statements.at_least("24 dependent: STALLS_LDM_PENDING over STALLS_L1D_PENDING",
                        dependent["stalls_ldm_pending"] / dependent["stalls_l1d_pending"],
                        1.3)


def bandwidth(memlag, level, size, published):
    """GB/s of one core that reads with 256 bits, in the model's time: of the middle half of the
    run's loads, which excludes most of start-up and preparation."""
    passes = {"L1": 20000, "L2": 2000, "L3": 48, "DRAM": 2}[level]
    run = experiment.Recording(
        memlag, "load", ["--size", size, "--width", 8 * LOAD_BYTES, "--passes", passes],
        cpu=CPU, prefetch="on", record=[*RECORD, "--interval", "0.02"])
    readings = run.rows("SELECT value, end_ns - start_ns FROM reading JOIN counter"
                        " USING (counter_id) WHERE name = ? ORDER BY start_ns", (experiment.LOADS,))
    total = sum(loads for loads, _ in readings)
    before = middle_loads = middle_ns = 0
    for loads, ns in readings:
        if before >= total / 4 and before + loads <= total * 3 / 4:
            middle_loads += loads
            middle_ns += ns
        before += loads
    return {"level": level, "published_gbs": published,
            "gbs": middle_loads * LOAD_BYTES / middle_ns}


def decomposition(memlag, kernel, options):
    """M17's classes, as parts of the active cycles."""
    gained = experiment.per_pass(memlag, kernel, options, 1, 2, cpu=CPU, record=RECORD)
    stores = gained.get("resource_stalls.sb", 0)
    memory = max(stores, gained[L1D])
    queues = gained.get("l1d_pend_miss.fb_full", 0) + \
        gained.get("offcore_requests_buffer.sq_full", 0)
    bound = min(memory, max(stores, queues))
    active = gained[CYCLES]
    stall = gained["cycle_activity.cycles_no_execute"]
    return {"kernel": kernel, "productive": (active - stall) / active,
            "bandwidth bound": bound / active, "latency bound": (memory - bound) / active,
            "other stall": (stall - memory) / active}


def sides(statements, latency, bandwidth_bound):
    statements.at_least("random chase in DRAM: part of the cycles that is latency bound",
                        latency["latency bound"], 0.8)
    statements.at_most("random chase in DRAM: part that is bandwidth bound",
                       latency["bandwidth bound"], 0.05)
    statements.at_least("memory read of one core: part that is bandwidth bound",
                        bandwidth_bound["bandwidth bound"], 0.6)
    statements.at_most("memory read of one core: part that is latency bound",
                       bandwidth_bound["latency bound"], 0.2)


def decompositions(memlag, mib):
    return [decomposition(memlag, kernel, ["--size", f"{mib}M"])
            for kernel in ("chase", "memread")]


def bandwidths(memlag, statements):
    levels = [bandwidth(memlag, *level) for level in BANDWIDTHS]
    for level in levels:
        statements.near(f"{level['level']}: GB/s of one core", level["gbs"],
                        level["published_gbs"], 0.05)
    return levels


def short(memlag, statements):
    counters_of_stalls(statements, [chase(memlag, *kind) for kind in CHASES])
    bandwidths(memlag, statements)
    sides(statements, *decompositions(memlag, 48))


def full(memlag, statements, directory):
    points = [chase(memlag, *kind) for kind in CHASES]
    counters_of_stalls(statements, points)
    classes = decompositions(memlag, 128)
    sides(statements, *classes)
    levels = bandwidths(memlag, statements)
    for name, rows in (("chases", points), ("decomposition", classes), ("bandwidths", levels)):
        experiment.write_csv(directory / f"{name}.csv", rows[0].keys(),
                             [[f"{value:.4g}" if isinstance(value, float) else value
                               for value in row.values()] for row in rows])


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
