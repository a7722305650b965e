#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""H20's STREAM triad. For each repetition the memory controller's counters show three arrays read,
one of them only to be written, and one written, with and without prefetching. Off-core counters of
demand requests show less when prefetchers do the reading."""
import experiment

CPU = "skylake-sp"
ARRAYS = 3
MIB = 1 << 20
LINE_BYTES = 64
HEADER = ["prefetch", "threads", "array_bytes", "arrays_read", "arrays_written", "arrays_demanded"]


def measure(memlag, prefetch, threads, size_mib):
    gained = experiment.Recording(
        memlag, "triad", ["--threads", threads, "--size", f"{size_mib}M", "--passes", 3],
        cpu=CPU, prefetch=prefetch,
        record=["--no-heap", "--period", "100000", "--interval", "0.05"]).per_pass()
    array_bytes = size_mib * MIB // ARRAYS
    demanded = sum(gained.get("offcore_requests." + kind, 0)
                   for kind in ("demand_data_rd", "demand_rfo"))
    return {
        "prefetch": prefetch,
        "threads": threads,
        "array_bytes": array_bytes,
        "arrays_read": gained["dram.read_bytes"] / array_bytes,
        "arrays_written": gained["dram.write_bytes"] / array_bytes,
        "arrays_demanded": demanded * LINE_BYTES / array_bytes,
    }


def state(statements, point):
    where = f"prefetching {point['prefetch']}, {point['threads']} threads: arrays "
    statements.near(where + "read", point["arrays_read"], 3, 0.02)
    statements.near(where + "written", point["arrays_written"], 1, 0.02)
    if point["prefetch"] == "off":
        statements.near(where + "in off-core demand requests", point["arrays_demanded"], 3, 0.02)
    else:
        statements.at_most(where + "in off-core demand requests", point["arrays_demanded"], 2)


def short(memlag, statements):
    for prefetch in ("off", "on"):
        state(statements, measure(memlag, prefetch, 1, 120))


def full(memlag, statements, directory):
    points = [measure(memlag, prefetch, threads, 384)
              for prefetch in ("off", "on") for threads in (1, 4, 16, 28)]
    for point in points:
        state(statements, point)
    experiment.write_csv(directory / "triad.csv", HEADER,
                         [[f"{point[key]:.5g}" if isinstance(point[key], float) else point[key]
                           for key in HEADER] for point in points])


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
