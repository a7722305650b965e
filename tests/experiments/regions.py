#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""B20's data-cache chase in its six regions: random order in small blocks, in large
blocks and sequential, each with strides of 64 and 128 bytes, over buffers from below L1
to beyond L3. Each load is served by the level that holds the buffer, and the larger it is,
the farther away."""
import itertools

import experiment

CPU = "haswell-ep"
KERNEL = "chase_plain%"
KIB = 1024
L3_KIB = 5 * 1024  # in place of 30 MiB, so that there is less to go through
ORDERS = [("random, small blocks", ["--block", "16K"]),
          ("random, large blocks", ["--block", "1M"]),
          ("sequential", ["--order", "sequential"])]
REGIONS = [(f"{name}, stride {stride}", [*options, "--stride", stride], stride)
           for (name, options), stride in itertools.product(ORDERS, (64, 128))]
LEVELS = ["L1", "L2", "L3", "DRAM"]
SWEEP_KIB = [8, 16, 32, 40, 48, 128, 256, 320, 384, 512, 2048, 4096, 5120, 6144, 8192, 16384,
             32768]
HEADER = ["region", "buffer_kib", *LEVELS]


def measure(memlag, region, kib, l3_kib):
    """The parts of the loads that the levels serve. Small buffers are chased often, for enough
    samples."""
    _, options, _ = REGIONS[region]
    passes = max(1, 2048 // kib)
    run = experiment.Recording(
        memlag, "chase", ["--size", f"{kib}K", *options, "--passes", passes], cpu=CPU,
        record=["--sim-set", f"l3.size_bytes={l3_kib * KIB}", "--ldlat", "1", "--period",
                "19", "--no-heap", "--call-graph", "none"])
    levels = run.levels(KERNEL)
    return [levels.get(level, 0) for level in LEVELS]


def state(statements, region, level, kib, parts):
    name, _, _ = REGIONS[region]
    statements.at_least(f"{name}, {kib} KiB: part of the loads that {level} serves",
                        parts[LEVELS.index(level)], 0.95)


def state_shape(statements, region, measured):
    """MEASURED: the parts by the buffer's size. As the buffer grows, the sum of a level and all
    nearer levels falls from all to nothing, and never rises."""
    name, _, _ = REGIONS[region]
    for last in range(1, len(LEVELS)):
        served = [sum(measured[kib][:last]) for kib in sorted(measured)]
        rise = max(after - before for before, after in itertools.pairwise(served))
        statements.add(
            f"{name}: loads served by {LEVELS[last - 1]} or before it, as the buffer grows",
            served[0] >= 0.99 and served[-1] <= 0.01 and rise <= 0.01,
            f"{served[0]:.4f} to {served[-1]:.4f}, rising by at most {max(rise, 0):.4f}"
            " (1 to 0, 0.01)")


def inside(region, l3_kib):
    """The level and size of buffers that no level holds only in part. L3 spreads lines over all of
    its sets: with a stride of 128 bytes it holds twice the buffer."""
    _, _, stride = REGIONS[region]
    return [("L1", 8), ("L2", 64), ("L3", 1024), ("DRAM", l3_kib * stride // 20),
            ("L1", 24), ("L2", 192), ("L3", l3_kib // 2)]


def short(memlag, statements):
    """One region of each order, and of both strides."""
    for region in (0, 3, 4):
        measured = {}
        for level, kib in inside(region, L3_KIB)[:len(LEVELS)]:
            measured[kib] = measure(memlag, region, kib, L3_KIB)
            state(statements, region, level, kib, measured[kib])
        state_shape(statements, region, measured)


def full(memlag, statements, directory):
    rows = []
    for region in range(len(REGIONS)):
        well_inside = inside(region, L3_KIB)
        measured = {}
        for kib in sorted({*SWEEP_KIB, *(kib for _, kib in well_inside)}):
            parts = measured[kib] = measure(memlag, region, kib, L3_KIB)
            rows.append([region + 1, kib, *(f"{part:.4f}" for part in parts)])
            for level, size in well_inside:
                if kib == size:
                    state(statements, region, level, kib, parts)
        state_shape(statements, region, measured)
    experiment.write_csv(directory / "regions.csv", HEADER, rows)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
