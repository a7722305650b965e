#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulated host beside this machine: chase, triad and loads under 'memlag record
--sim-cpu host --sim-prefetch on' against the calibration that the host is made of.

The model's figures are of its own clock, the difference between runs with more and fewer
passes. Prints both and their ratio beside the limits (latency 10 %, bandwidth 15 %); nothing
here fails because a machine is slow."""
import argparse
import json
import os
import sqlite3
import subprocess
import tempfile

# Name, kernel, size (a way: what the calibration's figure is of, as a part of it is in the
# cache before or the last one), passes, limit, and the way to the calibration's figure.
ROWS = [
    ("chase in L1", ["chase"], "16K", 4000, 0.10, ["caches", "levels", 0, "latency_ns"]),
    ("chase in L2", ["chase"], "128K", 400, 0.10, ["caches", "levels", 1, "latency_ns"]),
    ("chase", ["chase"], ["memory", 0, "size_bytes"], 1, 0.10, ["memory", 0, "latency_ns"]),
    ("triad", ["triad"], "48M", 1, 0.15, ["bandwidth", "threads", 0, "triad_gbs"]),
    ("load", ["load", "--width", "256"], "48M", 1, 0.15, ["bandwidth", "threads", 0, "read_gbs"]),
    ("load from L2", ["load", "--width", "256"], ["bandwidth", "levels", 1, "size_bytes"], 800, 0.15,
     ["bandwidth", "levels", 1, "read_gbs"]),
]


def run(memlag, kernel, size, passes, database):
    """Cycles of the thread that runs the kernel, the clock, and what the kernel says."""
    done = subprocess.run(
        [memlag, "record", "--source", "sim", "--sim-cpu", "host", "--sim-prefetch", "on",
         "--no-heap", "--period", "1000000", "--force", "-o", database, "--",
         memlag, "bench", *kernel, "--size", size, "--passes", str(passes), "--format", "json"],
        capture_output=True, text=True, check=True)
    connection = sqlite3.connect(database)
    (total,) = connection.execute(
        "SELECT sum(value) FROM reading JOIN counter USING (counter_id) JOIN thread USING "
        "(thread_id) JOIN process USING (process_id) WHERE counter.name = "
        "'cpu_clk_unhalted.thread' AND tid != pid").fetchone()
    (mhz,) = connection.execute("SELECT value FROM machine WHERE key = 'clock_mhz'").fetchone()
    connection.close()
    return total, mhz, json.loads(done.stdout)


def modelled(memlag, kernel, size, passes, database):
    """ns of an access and GB/s."""
    few, mhz, _ = run(memlag, kernel, size, passes, database)
    many, _, result = run(memlag, kernel, size, 3 * passes, database)
    pass_ns = (many - few) / (2 * passes) / mhz * 1000
    pass_bytes = result["gbs"] * 1e9 * result["seconds"] / result["passes"]
    return pass_ns / result["per_pass"]["loads"], pass_bytes / pass_ns


def figure(calibration, way):
    for step in way:
        calibration = calibration[step]
    return calibration


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memlag")
    parser.add_argument("--calibrated", action="store_true", help="use the calibration there is")
    options = parser.parse_args()
    if not options.calibrated:
        subprocess.run([options.memlag, "calibrate"], stdout=subprocess.DEVNULL, check=True)
    calibration = json.loads(subprocess.run([options.memlag, "calibrate", "--export", "json"],
                                            capture_output=True, text=True, check=True).stdout)
    print(f"{'kernel':<12} {'calibrated':>13} {'simulated':>13} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as directory:
        for name, kernel, size, passes, limit, way in ROWS:
            database = os.path.join(directory, "host.db")
            if isinstance(size, list):
                size = str(int(figure(calibration, size)))
            ns, gbs = modelled(options.memlag, kernel, size, passes, database)
            unit, model = ("GB/s", gbs) if way[-1].endswith("gbs") else ("ns", ns)
            measured = figure(calibration, way)
            ratio = model / measured
            print(f"{name:<12} {measured:8.2f} {unit:<4} {model:8.2f} {unit:<4} {ratio:7.3f}"
                  f"  {'within' if abs(ratio - 1) <= limit else 'beyond'} {limit:.0%}")


main()
